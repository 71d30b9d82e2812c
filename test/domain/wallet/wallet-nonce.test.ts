import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ChainCounts, NonceAllocations } from '#domain/wallet/wallet-nonce.ts';
import {
  restoreHeld,
  allocate,
  blockerOf,
  lowerFloor,
  NO_ALLOCATIONS,
  reserveRelease,
  release,
  retire,
  cancelRelease,
} from '#domain/wallet/wallet-nonce.ts';

const FRESH = { latest: 0n, pending: 0n };
const NOTHING_PROVEN = { latest: null, pending: null, block: 0n };
const provenAt = (counts: { readonly latest: bigint; readonly pending: bigint }, block = 0n) => ({ ...counts, block });

function allocated(book: NonceAllocations, ids: readonly string[], counts: ChainCounts = FRESH) {
  const nonces: bigint[] = [];
  for (const id of ids) {
    const { book: after, nonce } = allocate(book, id, counts);
    book = after;
    if (nonce === null) throw new Error('no transaction is about to leave here');
    nonces.push(nonce);
  }
  return { book, nonces };
}

test('nonces follow each other from the count of the chain on', () => {
  expect(allocated(NO_ALLOCATIONS, ['a', 'b', 'c']).nonces).toEqual([0n, 1n, 2n]);
  const counts = { latest: 7n, pending: 7n };
  expect(allocated(NO_ALLOCATIONS, ['a', 'b'], { ...counts, proven: provenAt(counts) }).nonces).toEqual([7n, 8n]);
});

test('a transaction that asks again has the nonce that it had', () => {
  const { book } = allocated(NO_ALLOCATIONS, ['a', 'b']);
  expect(allocate(book, 'a', { latest: 9n, pending: 9n }).nonce).toBe(0n);
});

test('a nonce that a foreign transaction in the mempool uses is not given again', () => {
  const counts = { latest: 3n, pending: 5n };
  expect(allocate(NO_ALLOCATIONS, 'a', { ...counts, proven: provenAt(counts) }).nonce).toBe(5n);
});

test('a released nonce is the next to be used, the lowest first', () => {
  const { book } = allocated(NO_ALLOCATIONS, ['a', 'b', 'c', 'd']);
  const returned = release(release(book, 'c'), 'b');
  expect(allocated(returned, ['e', 'f', 'g']).nonces).toEqual([1n, 2n, 4n]);
  const otherWay = release(release(book, 'b'), 'c');
  expect(allocated(otherWay, ['e', 'f', 'g']).nonces).toEqual([1n, 2n, 4n]);
});

test('a released nonce that the chain has used since is gone', () => {
  const { book } = allocated(NO_ALLOCATIONS, ['a', 'b', 'c']);
  const used = { latest: 1n, pending: 1n };
  expect(allocate(release(book, 'a'), 'd', { ...used, proven: provenAt(used) }).nonce).toBe(3n);
});

test('the count of the chain wins after a restore of old storage, once it is proven', () => {
  const { book } = allocated(NO_ALLOCATIONS, ['a']);
  const counts = { latest: 40n, pending: 42n };
  expect(allocate(book, 'b', counts)).toEqual({ book, nonce: null, waitsFor: null });
  expect(allocate(book, 'b', { ...counts, proven: provenAt(counts) }).nonce).toBe(42n);
});

test('a floor comes down to a lower count that is proven at or after the settled block, and to no other one', () => {
  const floor = { ...NO_ALLOCATIONS, floor: 1_000n };
  const counts = { latest: 3n, pending: 3n };
  expect(lowerFloor(floor, counts, 7n)).toBeNull();
  expect(allocate(floor, 'a', counts)).toEqual({ book: floor, nonce: null, waitsFor: null });
  // No two nodes count alike, they agree that the first one is behind, or both are behind the
  // settled nonces.
  for (const [latest, block] of [
    [null, 9n],
    [1_000n, 9n],
    [1_001n, 9n],
    [3n, 6n],
  ] as const) {
    const proven = { latest, pending: null, block };
    expect(lowerFloor(floor, { ...counts, proven }, 7n)).toBe(floor);
    const next = latest === null || latest < 1_000n ? 1_000n : latest;
    expect(allocate(floor, 'a', { ...counts, proven }, 7n).nonce).toBe(next);
  }
  expect(allocate(floor, 'a', { ...counts, proven: provenAt(counts, 7n) }, 7n).nonce).toBe(3n);
  const high = { latest: 1_000n, pending: 1_000n };
  expect(lowerFloor(floor, { ...high, proven: provenAt(counts, 7n) }, 7n)).toBe(floor);
});

test('a count that one node gives wrongly moves nothing, in either direction', () => {
  const { book } = allocated(NO_ALLOCATIONS, ['a', 'b']);
  const settled = retire(book, 'a');
  for (const lie of [
    { latest: 1n, pending: 1_000n },
    { latest: 1_000n, pending: 1_000n },
    { latest: 1_000n, pending: 1n },
  ]) {
    expect(allocate(settled, 'c', lie)).toEqual({ book: settled, nonce: null, waitsFor: null });
  }
  // A nonce that is too low is below the floor, and two nodes do not report it; or it is owned.
  expect(allocate(settled, 'c', { ...FRESH, proven: NOTHING_PROVEN }).nonce).toBe(2n);
  expect(allocate(settled, 'c', { latest: 2n, pending: 2n }).nonce).toBe(2n);
});

test('a count is believed as far as it is proven, and no further', () => {
  const { book } = allocated(NO_ALLOCATIONS, ['a']);
  const proven = (latest: bigint, pending: bigint) => ({
    latest: 3n,
    pending: 5n,
    proven: { latest, pending, block: 0n },
  });
  expect(allocate(book, 'b', proven(3n, 5n)).nonce).toBe(5n);
  expect(allocate(book, 'b', proven(3n, 4n)).nonce).toBeNull();
  expect(allocate(book, 'b', proven(2n, 5n)).nonce).toBeNull();
  // One node alone proves its count by a final block, and proves nothing of its mempool.
  expect(allocate(book, 'b', { latest: 3n, pending: 3n, proven: { latest: 3n, pending: 0n, block: 0n } }).nonce).toBe(
    3n,
  );
});

test('a pending transaction that the book does not know is not queued behind, and leaves no hole when it is dropped', () => {
  const foreign = { latest: 0n, pending: 1n };
  expect(allocate(NO_ALLOCATIONS, 'a', foreign).nonce).toBeNull();
  expect(allocate(NO_ALLOCATIONS, 'a', FRESH).nonce).toBe(0n);
  const { book } = allocated(NO_ALLOCATIONS, ['a'], { ...foreign, proven: provenAt(foreign) });
  expect(book.owned.get('a')).toBe(1n);
  expect(allocate(book, 'b', FRESH).nonce).toBe(0n);
});

test('a book that was set back learns from the vault which nonces are in use', () => {
  const held = [
    { transactionId: 'a', nonce: 0n },
    { transactionId: 'b', nonce: 1n },
  ];
  const whole = restoreHeld(NO_ALLOCATIONS, held);
  expect(allocate(whole, 'c', FRESH).nonce).toBe(2n);
  expect(restoreHeld(whole, held)).toBe(whole);
  // The nonce that a transaction was signed with is its nonce, whatever the book contains.
  expect([...restoreHeld(whole, [{ transactionId: 'x', nonce: 1n }]).owned]).toEqual([
    ['a', 0n],
    ['x', 1n],
  ]);
  expect(restoreHeld(whole, [{ transactionId: 'b', nonce: 7n }]).owned.get('b')).toBe(7n);
  const twice = restoreHeld(whole, [
    { transactionId: 'x', nonce: 1n },
    { transactionId: 'y', nonce: 1n },
  ]);
  expect([...twice.owned.keys()]).toEqual(['a', 'x']);
});

test('the blocker of a transaction is the owner of the lowest unused nonce below it', () => {
  const { book } = allocated(NO_ALLOCATIONS, ['a', 'b', 'c']);
  expect(blockerOf(book, 'c', 0n)).toEqual({ nonce: 0n, transactionId: 'a' });
  expect(blockerOf(book, 'c', 1n)).toEqual({ nonce: 1n, transactionId: 'b' });
  expect(blockerOf(retire(book, 'a'), 'c', 0n)).toEqual({ nonce: 1n, transactionId: 'b' });
  expect(blockerOf(release(book, 'a'), 'c', 0n)).toEqual({ nonce: 0n, transactionId: null });
  expect(blockerOf(book, 'a', 0n)).toBeNull();
  expect(blockerOf(book, 'c', 3n)).toBeNull();
  expect(blockerOf(book, 'x', 0n)).toBeNull();
});

test('a repeated release or settlement, or one of a nonce that was never owned, changes nothing', () => {
  const { book } = allocated(NO_ALLOCATIONS, ['a', 'b', 'c']);
  expect(release(release(book, 'b'), 'b')).toEqual(release(book, 'b'));
  expect(retire(retire(book, 'b'), 'b')).toEqual(retire(book, 'b'));
  expect(release(book, 'x')).toEqual(book);
  expect(retire(book, 'x')).toEqual(book);
});

test('a settled nonce and those below are never given out again, whatever a node counts', () => {
  const { book } = allocated(NO_ALLOCATIONS, ['a', 'b', 'c']);
  expect(allocate(retire(book, 'a'), 'd', { latest: 1n, pending: 2n }).nonce).toBe(3n);
  const settled = retire(release(book, 'a'), 'b');
  expect(settled.floor).toBe(2n);
  expect(retire(retire(book, 'c'), 'a').floor).toBe(3n);
  expect(allocate(release(settled, 'c'), 'd', { ...FRESH, proven: NOTHING_PROVEN }).nonce).toBe(2n);
});

type Step = readonly ['allocate' | 'release' | 'mine', number];

const steps = fc.array(
  fc.tuple(
    fc.constantFrom<'allocate' | 'release' | 'mine'>('allocate', 'release', 'mine'),
    fc.integer({ min: 0, max: 7 }),
  ),
  { maxLength: 60 },
);

/**
 * A wallet that no other program uses: nonces are mined in order, by the transaction that owns the
 * next one.
 */
function play(all: readonly Step[]) {
  let book = NO_ALLOCATIONS;
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
      book = retire(book, next[0]);
      owners.delete(next[0]);
    }
    expect(new Set(owners.values()).size).toBe(owners.size);
    for (const nonce of owners.values()) expect(nonce >= latest).toBe(true);
    expect(new Map(book.owned)).toEqual(owners);
  }
  return { book, latest, owners, mined };
}

test('no nonce has two owners and no mined nonce is owned, whatever happens', () => {
  fc.assert(
    fc.property(steps, (all) => void play(all)),
    { numRuns: 500 },
  );
});

test('no transaction is stuck, whatever happens: with new transfers for every gap, all of it can be mined', () => {
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

test('a transaction with others above it may not leave, and no nonce above a leaving one is given until it is gone or stays', () => {
  const { book } = allocated(NO_ALLOCATIONS, ['a', 'b']);
  expect(reserveRelease(book, 'a')).toEqual({ book, mayGo: false });
  expect(reserveRelease(book, 'x')).toEqual({ book, mayGo: true });
  const { book: leaving, mayGo } = reserveRelease(book, 'b');
  expect(mayGo).toBe(true);
  expect(reserveRelease(leaving, 'b').mayGo).toBe(true);
  expect(allocate(leaving, 'c', FRESH)).toEqual({ book: leaving, nonce: null, waitsFor: 'b' });
  expect(cancelRelease(book, 'b')).toBe(book);
  // A nonce released below it blocks no other transaction.
  expect(allocate(release(leaving, 'a'), 'c', FRESH).nonce).toBe(0n);
  expect(allocate(release(leaving, 'b'), 'c', FRESH).nonce).toBe(1n);
  expect(allocate(cancelRelease(leaving, 'b'), 'c', FRESH).nonce).toBe(2n);
  expect(allocate(retire(leaving, 'b'), 'c', { latest: 2n, pending: 2n }).nonce).toBe(2n);
  // A transaction that stays, or is mined, does not let another one stay.
  const both: NonceAllocations = { ...leaving, leaving: new Set(['a', 'b']) };
  expect(cancelRelease(both, 'a').leaving).toEqual(new Set(['b']));
  expect(retire(both, 'a').leaving).toEqual(new Set(['b']));
  expect(retire(both, 'x')).toBe(both);
  // It continues by itself when it requests its nonce.
  expect(allocate(allocate(leaving, 'b', FRESH).book, 'c', FRESH).nonce).toBe(2n);
});

test('a nonce sequence without forbidden releases never has a gap', () => {
  fc.assert(
    fc.property(steps, (all) => {
      let book = NO_ALLOCATIONS;
      const [gone, unreachable] = [new Set<string>(), new Set<string>()];
      for (const [what, who] of all) {
        const id = `transaction-${who}`;
        if (gone.has(id)) continue;
        if (what === 'allocate') {
          book = allocate(book, id, FRESH).book;
          unreachable.delete(id);
        } else if (what === 'release' && !unreachable.has(id)) {
          const left = reserveRelease(book, id);
          book = left.book;
          if (left.mayGo) unreachable.add(id);
        } else if (unreachable.has(id)) {
          book = release(book, id);
          gone.add(id);
        }
        const owned = [...book.owned.values()];
        expect(owned.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(owned.map((_, i) => BigInt(i)));
      }
    }),
    { numRuns: 500 },
  );
});
