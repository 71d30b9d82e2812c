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

test('nonces are consecutive from the nonce count of the chain on', () => {
  expect(allocated(NO_ALLOCATIONS, ['a', 'b', 'c']).nonces).toEqual([0n, 1n, 2n]);
  const counts = { latest: 7n, pending: 7n };
  expect(allocated(NO_ALLOCATIONS, ['a', 'b'], { ...counts, proven: provenAt(counts) }).nonces).toEqual([7n, 8n]);
});

test('a transaction that requests a nonce again gets its earlier nonce', () => {
  const { book } = allocated(NO_ALLOCATIONS, ['a', 'b']);
  expect(allocate(book, 'a', { latest: 9n, pending: 9n }).nonce).toBe(0n);
});

test('a nonce that a foreign transaction in the mempool uses is not given again', () => {
  const counts = { latest: 3n, pending: 5n };
  expect(allocate(NO_ALLOCATIONS, 'a', { ...counts, proven: provenAt(counts) }).nonce).toBe(5n);
});

test('the lowest released nonce is the next one to be used', () => {
  const { book } = allocated(NO_ALLOCATIONS, ['a', 'b', 'c', 'd']);
  const returned = release(release(book, 'c'), 'b');
  expect(allocated(returned, ['e', 'f', 'g']).nonces).toEqual([1n, 2n, 4n]);
  const otherWay = release(release(book, 'b'), 'c');
  expect(allocated(otherWay, ['e', 'f', 'g']).nonces).toEqual([1n, 2n, 4n]);
});

test('a released nonce that the chain has used since is not given again', () => {
  const { book } = allocated(NO_ALLOCATIONS, ['a', 'b', 'c']);
  const used = { latest: 1n, pending: 1n };
  expect(allocate(release(book, 'a'), 'd', { ...used, proven: provenAt(used) }).nonce).toBe(3n);
});

test('after a restore of old storage the nonce count of the chain applies once it is proven', () => {
  const { book } = allocated(NO_ALLOCATIONS, ['a']);
  const counts = { latest: 40n, pending: 42n };
  expect(allocate(book, 'b', counts)).toEqual({ book, nonce: null, waitsFor: null });
  expect(allocate(book, 'b', { ...counts, proven: provenAt(counts) }).nonce).toBe(42n);
});

test('the floor is lowered only to a count that is proven at or after the settled block', () => {
  const floor = { ...NO_ALLOCATIONS, floor: 1_000n };
  const counts = { latest: 3n, pending: 3n };
  expect(lowerFloor(floor, counts, 7n)).toBeNull();
  expect(allocate(floor, 'a', counts)).toEqual({ book: floor, nonce: null, waitsFor: null });
  // The RPC nodes report, in turn: no proven transaction count, proven counts at or above the
  // floor, and a proven count of a block before the settled one. None of them lowers the floor.
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

test('a wrong nonce count of one RPC node changes nothing, in either direction', () => {
  const { book } = allocated(NO_ALLOCATIONS, ['a', 'b']);
  const settled = retire(book, 'a');
  for (const lie of [
    { latest: 1n, pending: 1_000n },
    { latest: 1_000n, pending: 1_000n },
    { latest: 1_000n, pending: 1n },
  ]) {
    expect(allocate(settled, 'c', lie)).toEqual({ book: settled, nonce: null, waitsFor: null });
  }
  // A nonce count that is too low is below the floor, or at an owned nonce, so it has no effect.
  expect(allocate(settled, 'c', { ...FRESH, proven: NOTHING_PROVEN }).nonce).toBe(2n);
  expect(allocate(settled, 'c', { latest: 2n, pending: 2n }).nonce).toBe(2n);
});

test('a nonce count is used only as far as it is proven', () => {
  const { book } = allocated(NO_ALLOCATIONS, ['a']);
  const proven = (latest: bigint, pending: bigint) => ({
    latest: 3n,
    pending: 5n,
    proven: { latest, pending, block: 0n },
  });
  expect(allocate(book, 'b', proven(3n, 5n)).nonce).toBe(5n);
  expect(allocate(book, 'b', proven(3n, 4n)).nonce).toBeNull();
  expect(allocate(book, 'b', proven(2n, 5n)).nonce).toBeNull();
  // A single RPC node proves its count of mined nonces by a final block, and proves no count of its
  // mempool.
  expect(allocate(book, 'b', { latest: 3n, pending: 3n, proven: { latest: 3n, pending: 0n, block: 0n } }).nonce).toBe(
    3n,
  );
});

test('no nonce is given above an unproven foreign transaction, and a proven one leaves no gap when it is dropped', () => {
  const foreign = { latest: 0n, pending: 1n };
  expect(allocate(NO_ALLOCATIONS, 'a', foreign).nonce).toBeNull();
  expect(allocate(NO_ALLOCATIONS, 'a', FRESH).nonce).toBe(0n);
  const { book } = allocated(NO_ALLOCATIONS, ['a'], { ...foreign, proven: provenAt(foreign) });
  expect(book.owned.get('a')).toBe(1n);
  expect(allocate(book, 'b', FRESH).nonce).toBe(0n);
});

test('allocations that were set back are restored from the nonces in use that the vault reports', () => {
  const held = [
    { transactionId: 'a', nonce: 0n },
    { transactionId: 'b', nonce: 1n },
  ];
  const whole = restoreHeld(NO_ALLOCATIONS, held);
  expect(allocate(whole, 'c', FRESH).nonce).toBe(2n);
  expect(restoreHeld(whole, held)).toBe(whole);
  // The nonce that a transaction was signed with replaces the nonce that the allocations contain.
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

test('a repeated release or settlement, or one for a transaction without a nonce, changes nothing', () => {
  const { book } = allocated(NO_ALLOCATIONS, ['a', 'b', 'c']);
  expect(release(release(book, 'b'), 'b')).toEqual(release(book, 'b'));
  expect(retire(retire(book, 'b'), 'b')).toEqual(retire(book, 'b'));
  expect(release(book, 'x')).toEqual(book);
  expect(retire(book, 'x')).toEqual(book);
});

test('a settled nonce and those below it are never given again, whatever an RPC node reports', () => {
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
 * Simulates a wallet that no other program uses. Nonces are mined in order, by the transaction that
 * owns the next one.
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

test('no nonce has two owners and no mined nonce is owned, in any order of events', () => {
  fc.assert(
    fc.property(steps, (all) => void play(all)),
    { numRuns: 500 },
  );
});

test('once new transfers fill every gap, all transactions can be mined, in any order of events', () => {
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

test('a release is refused below an owned nonce, and blocks the nonces above it until it is done or cancelled', () => {
  const { book } = allocated(NO_ALLOCATIONS, ['a', 'b']);
  expect(reserveRelease(book, 'a')).toEqual({ book, mayGo: false });
  expect(reserveRelease(book, 'x')).toEqual({ book, mayGo: true });
  const { book: leaving, mayGo } = reserveRelease(book, 'b');
  expect(mayGo).toBe(true);
  expect(reserveRelease(leaving, 'b').mayGo).toBe(true);
  expect(allocate(leaving, 'c', FRESH)).toEqual({ book: leaving, nonce: null, waitsFor: 'b' });
  expect(cancelRelease(book, 'b')).toBe(book);
  // A nonce that is released below the pending release can still be given.
  expect(allocate(release(leaving, 'a'), 'c', FRESH).nonce).toBe(0n);
  expect(allocate(release(leaving, 'b'), 'c', FRESH).nonce).toBe(1n);
  expect(allocate(cancelRelease(leaving, 'b'), 'c', FRESH).nonce).toBe(2n);
  expect(allocate(retire(leaving, 'b'), 'c', { latest: 2n, pending: 2n }).nonce).toBe(2n);
  // Cancelling one release, or mining its transaction, does not cancel another release.
  const both: NonceAllocations = { ...leaving, leaving: new Set(['a', 'b']) };
  expect(cancelRelease(both, 'a').leaving).toEqual(new Set(['b']));
  expect(retire(both, 'a').leaving).toEqual(new Set(['b']));
  expect(retire(both, 'x')).toBe(both);
  // A transaction cancels its own release when it requests its nonce again.
  expect(allocate(allocate(leaving, 'b', FRESH).book, 'c', FRESH).nonce).toBe(2n);
});

test('a nonce sequence without refused releases never has a gap', () => {
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
