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

/**
 * Simulates a wallet whose RPC nodes report wrong nonce counts or inclusions that never were, whose
 * mempool drops payments, whose payments are refused, and whose nonce allocations are set back. The
 * invariants: no nonce has two owners; the lowest unused nonce has an owner or is given next; and
 * once the RPC nodes report the truth, every waiting payment is mined.
 */

type State = 'new' | 'prepared' | 'leaving' | 'sent' | 'mined' | 'over';

interface Payment {
  state: State;
  nonce: bigint;
}

/**
 * The error that an RPC node adds to its nonce counts, and whether a second RPC node reports the
 * true counts.
 */
interface Lie {
  readonly latest: bigint;
  readonly pending: bigint;
  readonly hasSecond: boolean;
}

const HONEST: Lie = { latest: 0n, pending: 0n, hasSecond: true };
const FOREIGN = 'foreign';
const notNegative = (number: bigint) => (number < 0n ? 0n : number);

class Wallet {
  book: NonceAllocations = NO_ALLOCATIONS;
  #saved: NonceAllocations = NO_ALLOCATIONS;
  mined = 0n;
  readonly pool = new Map<bigint, string>();
  readonly payments = new Map<string, Payment>();

  payment(id: string): Payment {
    const known = this.payments.get(id) ?? { state: 'new', nonce: 0n };
    this.payments.set(id, known);
    return known;
  }

  /**
   * The payments that have bytes at a nonce and are not settled, as the vault reports them to the
   * allocator.
   */
  get held() {
    return [...this.payments].flatMap(([transactionId, { state, nonce }]) =>
      state === 'new' || state === 'over' ? [] : [{ transactionId, nonce }],
    );
  }

  get truth() {
    let pending = this.mined;
    while (this.pool.has(pending)) pending += 1n;
    return { latest: this.mined, pending };
  }

  /**
   * Requests a nonce as the signing job does: from one RPC node, or from two if the count is in
   * doubt. Returns null if there is no nonce yet.
   */
  request(id: string, lie: Lie): bigint | null {
    this.book = restoreHeld(this.book, this.held);
    const { latest, pending } = this.truth;
    const said: ChainCounts = { latest: notNegative(latest + lie.latest), pending: notNegative(pending + lie.pending) };
    let given = allocate(this.book, id, said);
    if (given.nonce === null && given.waitsFor === null && lie.hasSecond) {
      const isAgreed = lie.latest === 0n && lie.pending === 0n;
      const nothing = { ...said, proven: { latest: null, pending: null, block: 0n } };
      given = allocate(this.book, id, isAgreed ? { ...this.truth, proven: { ...this.truth, block: 0n } } : nothing);
    }
    this.book = given.book;
    return given.nonce;
  }

  pay(id: string, lie: Lie): void {
    const payment = this.payment(id);
    if (payment.state !== 'new') return;
    const nonce = this.request(id, lie);
    if (nonce !== null) Object.assign(payment, { state: 'prepared', nonce });
  }

  send(id: string): void {
    const payment = this.payment(id);
    const isOut = payment.state === 'sent' || payment.state === 'prepared';
    if (!isOut) return;
    if (payment.nonce < this.mined) {
      // Another transaction used the nonce, so the payment has failed.
      this.#end(id, false);
      return;
    }
    this.book = cancelRelease(this.book, id);
    payment.state = 'sent';
    this.pool.set(payment.nonce, id);
  }

  drop(id: string): void {
    for (const [nonce, owner] of this.pool) if (owner === id) this.pool.delete(nonce);
  }

  /**
   * Refuses a payment at every RPC node. The payment ends, or becomes a cancellation if others wait
   * above it.
   */
  refuse(id: string): void {
    const payment = this.payment(id);
    if (payment.state !== 'prepared') return;
    this.book = restoreHeld(this.book, this.held);
    const { book, mayGo } = reserveRelease(this.book, id);
    this.book = book;
    if (mayGo) payment.state = 'leaving';
  }

  go(id: string): void {
    if (this.payment(id).state === 'leaving') this.#end(id, false);
  }

  mine(): void {
    const id = this.pool.get(this.mined);
    if (id === undefined) return;
    this.pool.delete(this.mined);
    this.mined += 1n;
    if (id !== FOREIGN) this.payment(id).state = 'mined';
  }

  settle(id: string): void {
    if (this.payment(id).state === 'mined') this.#end(id, true);
  }

  #end(id: string, isSpent: boolean): void {
    this.book = isSpent ? retire(this.book, id) : release(this.book, id);
    this.payment(id).state = 'over';
  }

  /**
   * Does the work of the confirmation job for a waiting payment: a nonce whose owner the vault does
   * not know is released.
   */
  heal(): void {
    // Both RPC nodes report counts below the settled nonces.
    const latest = notNegative(this.mined - 1n);
    const behind = { latest, pending: latest, proven: { latest, pending: latest, block: 6n } };
    this.book = lowerFloor(this.book, behind, 7n) ?? this.book;
    this.book = lowerFloor(this.book, { ...this.truth, proven: { ...this.truth, block: 0n } }, 0n) ?? this.book;
    for (const { transactionId } of this.held) {
      const owner = blockerOf(restoreHeld(this.book, this.held), transactionId, this.mined)?.transactionId ?? null;
      if (owner !== null && !this.held.some((one) => one.transactionId === owner)) {
        this.book = release(this.book, owner);
      }
    }
  }

  /** Raises the floor as a false inclusion does. */
  raise(by: number): void {
    this.book = { ...this.book, floor: this.book.floor + BigInt(by) };
  }

  save(): void {
    this.#saved = this.book;
  }

  setBack(): void {
    this.book = this.#saved;
  }
}

const KINDS = [
  'pay',
  'crash',
  'send',
  'drop',
  'refuse',
  'go',
  'mine',
  'mine',
  'settle',
  'heal',
  'foreign',
  'dropForeign',
  'save',
  'setBack',
  'raise',
] as const;

const lies = fc.oneof(
  fc.constant(HONEST),
  fc.record({
    latest: fc.bigInt({ min: -6n, max: 1_000n }),
    pending: fc.bigInt({ min: -6n, max: 1_000n }),
    hasSecond: fc.boolean(),
  }),
);
const steps = fc.array(fc.tuple(fc.constantFrom(...KINDS), fc.integer({ min: 0, max: 11 }), lies), { maxLength: 80 });

function play(wallet: Wallet, [kind, who, lie]: readonly [(typeof KINDS)[number], number, Lie]): void {
  const id = `payment-${who}`;
  switch (kind) {
    case 'pay':
      return wallet.pay(id, lie);
    case 'crash':
      // This step simulates a crash between the allocation and the record.
      return void (wallet.payment(id).state === 'new' && wallet.request(id, lie));
    case 'raise':
      return wallet.raise(who + 1);
    case 'foreign':
      return void wallet.pool.set(wallet.truth.pending, FOREIGN);
    case 'dropForeign':
      return wallet.drop(FOREIGN);
    case 'send':
    case 'drop':
    case 'refuse':
    case 'go':
    case 'settle':
      return wallet[kind](id);
    case 'mine':
    case 'heal':
    case 'save':
    case 'setBack':
      return wallet[kind]();
  }
}

function check(wallet: Wallet): void {
  const nonces = wallet.held.map(({ nonce }) => nonce);
  expect(new Set(nonces).size).toBe(nonces.length);
  const { latest, pending } = wallet.truth;
  let lowest = pending > latest ? pending : latest;
  while (nonces.includes(lowest)) lowest += 1n;
  const next = allocate(restoreHeld(wallet.book, wallet.held), 'next', {
    ...wallet.truth,
    proven: { ...wallet.truth, block: 0n },
  });
  const isOwned = [...wallet.book.owned.values()].includes(lowest);
  const waitsForAnother = next.nonce === null && next.waitsFor !== null;
  expect(isOwned || waitsForAnother || next.nonce === lowest).toBe(true);
}

test('no nonce has two owners, and the lowest unused one is owned or given next, whatever RPC nodes report', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const wallet = new Wallet();
      for (const step of all) {
        play(wallet, step);
        check(wallet);
      }
    }),
    { numRuns: 1_000 },
  );
});

test('the wallet pays again once its RPC nodes report the truth, and every waiting payment is mined', () => {
  fc.assert(
    fc.property(steps, (all) => {
      const wallet = new Wallet();
      for (const step of all) play(wallet, step);
      wallet.drop(FOREIGN);
      for (let round = 0; round < 40; round++) {
        wallet.pay(`later-${round}`, HONEST);
        for (const id of wallet.payments.keys()) wallet.go(id);
        for (const id of wallet.payments.keys()) wallet.send(id);
        for (let i = 0; i < 12; i++) wallet.mine();
        for (const id of wallet.payments.keys()) wallet.settle(id);
        wallet.heal();
        check(wallet);
      }
      expect(wallet.held).toEqual([]);
      expect(wallet.payments.get('later-39')?.state).toBe('over');
    }),
    { numRuns: 1_000 },
  );
});
