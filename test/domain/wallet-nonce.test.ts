import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { NonceBook } from '#domain/wallet-nonce.ts';
import { allocate, EMPTY_BOOK, leave, release, settle, stay } from '#domain/wallet-nonce.ts';

const FRESH = { latest: 0n, pending: 0n };

function allocated(book: NonceBook, ids: readonly string[], counts = FRESH) {
  const nonces: bigint[] = [];
  for (const id of ids) {
    const { book: after, nonce } = allocate(book, id, counts);
    book = after;
    if (nonce === null) throw new Error('nobody is about to leave here');
    nonces.push(nonce);
  }
  return { book, nonces };
}

test('nonces follow each other from the chain’s own count on', () => {
  expect(allocated(EMPTY_BOOK, ['a', 'b', 'c']).nonces).toEqual([0n, 1n, 2n]);
  expect(allocated(EMPTY_BOOK, ['a', 'b'], { latest: 7n, pending: 7n }).nonces).toEqual([7n, 8n]);
});

test('a transaction that asks again has the nonce that it had', () => {
  const { book } = allocated(EMPTY_BOOK, ['a', 'b']);
  expect(allocate(book, 'a', { latest: 9n, pending: 9n }).nonce).toBe(0n);
});

test('what the mempool holds from elsewhere is not used again', () => {
  expect(allocate(EMPTY_BOOK, 'a', { latest: 3n, pending: 5n }).nonce).toBe(5n);
});

test('a nonce that was given back is the next to be used, the lowest first', () => {
  const { book } = allocated(EMPTY_BOOK, ['a', 'b', 'c', 'd']);
  const returned = release(release(book, 'c'), 'b');
  expect(allocated(returned, ['e', 'f', 'g']).nonces).toEqual([1n, 2n, 4n]);
  const otherWay = release(release(book, 'b'), 'c');
  expect(allocated(otherWay, ['e', 'f', 'g']).nonces).toEqual([1n, 2n, 4n]);
});

test('a nonce that was given back and that the chain has used since is gone', () => {
  const { book } = allocated(EMPTY_BOOK, ['a', 'b', 'c']);
  expect(allocate(release(book, 'a'), 'd', { latest: 1n, pending: 1n }).nonce).toBe(3n);
});

test('after a restore of old storage the chain’s count wins', () => {
  const { book } = allocated(EMPTY_BOOK, ['a']);
  expect(allocate(book, 'b', { latest: 40n, pending: 42n }).nonce).toBe(42n);
});

test('giving back or settling twice, or what was never owned, changes nothing', () => {
  const { book } = allocated(EMPTY_BOOK, ['a', 'b', 'c']);
  expect(release(release(book, 'b'), 'b')).toEqual(release(book, 'b'));
  expect(settle(settle(book, 'b'), 'b')).toEqual(settle(book, 'b'));
  expect(release(book, 'x')).toEqual(book);
  expect(settle(book, 'x')).toEqual(book);
});

test('a settled nonce is never given out again', () => {
  const { book } = allocated(EMPTY_BOOK, ['a', 'b']);
  expect(allocate(settle(book, 'a'), 'c', { latest: 1n, pending: 2n }).nonce).toBe(2n);
});

type Step = readonly ['allocate' | 'release' | 'mine', number];

const steps = fc.array(
  fc.tuple(
    fc.constantFrom<'allocate' | 'release' | 'mine'>('allocate', 'release', 'mine'),
    fc.integer({ min: 0, max: 7 }),
  ),
  { maxLength: 60 },
);

/** A wallet that nobody else uses: nonces are mined in order, by the transaction that owns the next one. */
function play(all: readonly Step[]) {
  let book = EMPTY_BOOK;
  let latest = 0n;
  const owners = new Map<string, bigint>();
  const mined: bigint[] = [];
  for (const [what, who] of all) {
    const id = `transaction-${who}`;
    if (what === 'allocate') {
      const given = allocate(book, id, { latest, pending: latest });
      book = given.book;
      if (given.nonce !== null) owners.set(id, given.nonce);
    } else if (what === 'release') {
      book = release(book, id);
      owners.delete(id);
    } else {
      const next = [...owners].find(([, nonce]) => nonce === latest);
      if (next === undefined) continue;
      mined.push(latest);
      latest += 1n;
      book = settle(book, next[0]);
      owners.delete(next[0]);
    }
    expect(new Set(owners.values()).size).toBe(owners.size);
    for (const nonce of owners.values()) expect(nonce >= latest).toBe(true);
    expect(new Map(book.owned)).toEqual(owners);
  }
  return { book, latest, owners, mined };
}

test('whatever happens, no nonce has two owners and none that is mined is owned', () => {
  fc.assert(
    fc.property(steps, (all) => void play(all)),
    { numRuns: 500 },
  );
});

test('whatever happens, nothing is stuck: with new transfers for every gap, all of it can be mined', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const { book: before, latest, owners } = play(all);
      const highest = [...owners.values()].reduce((most, nonce) => (nonce > most ? nonce : most), latest - 1n);
      const needed = Number(highest - latest) + 1 - owners.size;
      const fillers = Array.from({ length: needed }, (_, i) => `filler-${i}`);
      const { nonces } = allocated(before, fillers, { latest, pending: latest });
      const covered = [...owners.values(), ...nonces].toSorted((a, b) => (a < b ? -1 : 1));
      expect(covered).toEqual(Array.from({ length: covered.length }, (_, i) => latest + BigInt(i)));
    }),
    { numRuns: 500 },
  );
});

test('whoever has others above may not leave; nobody gets a nonce above whoever may, until it is gone or stays', () => {
  const { book } = allocated(EMPTY_BOOK, ['a', 'b']);
  expect(leave(book, 'a')).toEqual({ book, mayGo: false });
  expect(leave(book, 'x')).toEqual({ book, mayGo: true });
  const { book: leaving, mayGo } = leave(book, 'b');
  expect(mayGo).toBe(true);
  expect(leave(leaving, 'b').mayGo).toBe(true);
  expect(allocate(leaving, 'c', FRESH)).toEqual({ book: leaving, nonce: null });
  // What was given back below it is in nobody's way.
  expect(allocate(release(leaving, 'a'), 'c', FRESH).nonce).toBe(0n);
  expect(allocate(release(leaving, 'b'), 'c', FRESH).nonce).toBe(1n);
  expect(allocate(stay(leaving, 'b'), 'c', FRESH).nonce).toBe(2n);
  expect(allocate(settle(leaving, 'b'), 'c', FRESH).nonce).toBe(2n);
  // One that stays, or is mined, lets nobody else stay.
  const both: NonceBook = { ...leaving, leaving: new Set(['a', 'b']) };
  expect(stay(both, 'a').leaving).toEqual(new Set(['b']));
  expect(settle(both, 'a').leaving).toEqual(new Set(['b']));
  expect(settle(both, 'x')).toBe(both);
  // It goes on by itself when it asks for its nonce.
  expect(allocate(allocate(leaving, 'b', FRESH).book, 'c', FRESH).nonce).toBe(2n);
});

test('where nobody gives back what it may not, there is never a gap', () => {
  fc.assert(
    fc.property(steps, (all) => {
      let book = EMPTY_BOOK;
      const [gone, away] = [new Set<string>(), new Set<string>()];
      for (const [what, who] of all) {
        const id = `transaction-${who}`;
        if (gone.has(id)) continue;
        if (what === 'allocate') {
          book = allocate(book, id, FRESH).book;
          away.delete(id);
        } else if (what === 'release' && !away.has(id)) {
          const left = leave(book, id);
          book = left.book;
          if (left.mayGo) away.add(id);
        } else if (away.has(id)) {
          book = release(book, id);
          gone.add(id);
        }
        expect([...book.free]).toEqual([]);
      }
    }),
    { numRuns: 500 },
  );
});
