import fc from 'fast-check';
import { expect, test } from 'vitest';
import { amountOf, unitsOf } from '#domain/asset/amount.ts';
import type { AssetAmount } from '#domain/asset/exposure.ts';
import type { Funds, InFlight, ReservationDecision } from '#domain/wallet/reservation.ts';
import { maxPerAsset, mayBeReorged, sumOf, decideReservation } from '#domain/wallet/reservation.ts';
import type { NonceAllocations } from '#domain/wallet/wallet-nonce.ts';
import { restoreHeld, allocate, NO_ALLOCATIONS, release, retire } from '#domain/wallet/wallet-nonce.ts';

/**
 * Simulates a wallet with a balance of the native asset and one of a token. Its payments are
 * quoted, reserved, signed, mined, dropped and settled in any order, RPC nodes may be behind, and
 * the stored reservations can be set back. The invariant: the balance covers all payments together
 * that are signed and not mined.
 */

const TOKEN = 'token';

const movement = (tokenAddress: string | null, units: bigint): AssetAmount => ({
  tokenAddress,
  amount: amountOf(units),
});
const native = (units: bigint) => movement(null, units);

interface Payment {
  readonly amounts: readonly AssetAmount[];
  state: 'new' | 'signed' | 'mined' | 'over';
  nonce: bigint;
  /** The balances at the time of the quote. They may be outdated when they are used. */
  quoted: Funds | null;
  /** The maximum amount over all attempts. */
  signed: readonly AssetAmount[];
  block: number;
}

interface Block {
  readonly holds: readonly AssetAmount[];
  readonly count: bigint;
}

/** EVM has nonces that are counted. Solana has nonce slots that are used again, and block slots. */
type Family = 'evm' | 'solana';

class Wallet {
  readonly family: Family;
  readonly blocks: Block[] = [{ holds: [native(100n), movement(TOKEN, 50n)], count: 0n }];
  book: NonceAllocations = NO_ALLOCATIONS;
  reserved = new Map<string, readonly AssetAmount[]>();
  settledBlock = 0n;
  #saved = { book: this.book, reserved: this.reserved };
  readonly payments = new Map<string, Payment>();

  constructor(family: Family) {
    this.family = family;
  }

  get head(): Block {
    const head = this.blocks.at(-1);
    if (head === undefined) throw new Error('a chain has a first block');
    return head;
  }

  payment(id: string, amounts: readonly AssetAmount[]): Payment {
    const known = this.payments.get(id);
    if (known !== undefined) return known;
    const payment: Payment = { amounts, state: 'new', nonce: 0n, quoted: null, signed: [], block: 0 };
    this.payments.set(id, payment);
    return payment;
  }

  /** Quotes a payment from an RPC node that is `behind` blocks behind. */
  quote(payment: Payment, behind: number): void {
    const number = Math.max(0, this.blocks.length - 1 - behind);
    const block = this.blocks[number] ?? this.head;
    payment.quoted = {
      blockNumber: String(number),
      nonceCount: this.family === 'evm' ? String(block.count) : null,
      holds: block.holds,
      least: amountOf(0n),
    };
  }

  /** The payments that have bytes, as the vault reports them to the allocator. */
  get held() {
    return [...this.payments].flatMap(([transactionId, { state, nonce, signed, block }]) => {
      const includedIn = state === 'mined' ? String(block) : null;
      return state === 'new' || state === 'over' ? [] : [{ transactionId, nonce, amounts: signed, includedIn }];
    });
  }

  inFlight(book: NonceAllocations): InFlight {
    const { reserved, settledBlock } = this;
    return { owned: book.owned, reserved, recorded: this.held, settledBlock };
  }

  /** Reserves amounts with the steps of one call of the allocator. */
  reserve(
    id: string,
    amounts: readonly AssetAmount[],
    funds: Funds,
  ): { readonly nonce: bigint | null; weighed?: ReservationDecision } {
    const whole = restoreHeld(this.book, this.held);
    const latest = this.family === 'evm' ? this.head.count : 0n;
    const given = allocate(whole, id, { latest, pending: latest, proven: { latest, pending: latest, block: 0n } });
    this.book = whole;
    if (given.nonce === null) return { nonce: null };
    const weighed = decideReservation(this.inFlight(given.book), id, { amounts, funds });
    if (weighed.outcome !== 'reserved') return { nonce: null, weighed };
    this.book = given.book;
    this.reserved = new Map(this.reserved).set(id, weighed.amounts);
    return { nonce: given.nonce, weighed };
  }

  /** @param extra the amount by which a further attempt spends more */
  sign(id: string, extra: bigint): void {
    const payment = this.payments.get(id);
    if (payment?.quoted == null || payment.state === 'mined' || payment.state === 'over') return;
    const amounts = payment.state === 'new' ? payment.amounts : [...payment.amounts, native(extra)];
    const all = [movement(TOKEN, sumOf(amounts, TOKEN)), native(sumOf(amounts, null))];
    const { nonce } = this.reserve(id, all, payment.quoted);
    if (nonce === null) return;
    payment.nonce = nonce;
    payment.state = 'signed';
    payment.signed = maxPerAsset(payment.signed, all);
  }

  /** Simulates a crash between the reservation and the record. */
  crash(id: string): void {
    const payment = this.payments.get(id);
    if (payment?.state === 'new' && payment.quoted !== null) this.reserve(id, payment.amounts, payment.quoted);
  }

  mine(id: string): void {
    const payment = this.payments.get(id);
    const isNext = this.family === 'solana' || payment?.nonce === this.head.count;
    if (payment?.state !== 'signed' || !isNext) return;
    const { holds, count } = this.head;
    const left = holds.map(({ tokenAddress, amount }) =>
      movement(tokenAddress, unitsOf(amount) - sumOf(payment.signed, tokenAddress)),
    );
    this.blocks.push({ holds: left, count: count + 1n });
    payment.state = 'mined';
    payment.block = this.blocks.length - 1;
  }

  deposit(units: bigint): void {
    const { holds, count } = this.head;
    const more = holds.map(({ tokenAddress, amount }) => movement(tokenAddress, unitsOf(amount) + units));
    this.blocks.push({ holds: more, count });
  }

  settle(id: string): void {
    const payment = this.payments.get(id);
    if (payment?.state !== 'mined') return;
    payment.state = 'over';
    if (BigInt(payment.block) > this.settledBlock) this.settledBlock = BigInt(payment.block);
    this.book = this.family === 'evm' ? retire(this.book, id) : release(this.book, id);
    this.reserved = new Map([...this.reserved].filter(([one]) => one !== id));
  }

  save(): void {
    this.#saved = { book: this.book, reserved: this.reserved };
  }

  /** The end of a payment is not set back, because ended payments are in another table. */
  setBack(): void {
    const isOver = (id: string) => this.payments.get(id)?.state === 'over';
    const { book, reserved } = this.#saved;
    this.book = { ...book, owned: new Map([...book.owned].filter(([id]) => !isOver(id))), floor: this.book.floor };
    this.reserved = new Map([...reserved].filter(([id]) => !isOver(id)));
  }
}

const KINDS = ['quote', 'quote', 'sign', 'sign', 'crash', 'mine', 'deposit', 'settle', 'save', 'setBack'] as const;

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom(...KINDS),
    who: fc.integer({ min: 0, max: 7 }),
    units: fc.bigInt({ min: 1n, max: 60n }),
    isToken: fc.boolean(),
    behind: fc.constantFrom(0, 0, 0, 1, 5),
  }),
  { maxLength: 60 },
);
const families = fc.constantFrom<Family>('evm', 'solana');

type Step = typeof steps extends fc.Arbitrary<readonly (infer S)[]> ? S : never;

function play(wallet: Wallet, { kind, who, units, isToken, behind }: Step): void {
  const id = `payment-${who}`;
  switch (kind) {
    case 'quote':
      return wallet.quote(
        wallet.payment(id, isToken ? [movement(TOKEN, units), native(3n)] : [native(units + 3n)]),
        behind,
      );
    case 'sign':
      return wallet.sign(id, units);
    case 'deposit':
      return wallet.deposit(units);
    case 'crash':
    case 'mine':
    case 'settle':
      return wallet[kind](id);
    case 'save':
    case 'setBack':
      return wallet[kind]();
  }
}

/** Asserts that the newest balances cover all payments that are signed and in no block. */
function check({ payments, head }: Wallet): void {
  const undecided = [...payments.values()].filter(({ state }) => state === 'signed').flatMap(({ signed }) => signed);
  for (const { tokenAddress, amount } of head.holds) {
    expect(sumOf(undecided, tokenAddress)).toBeLessThanOrEqual(unitsOf(amount));
  }
}

test('payments that are signed and not mined never exceed the balance, in any order of events', () => {
  fc.assert(
    fc.property(families, steps, (family, all) => {
      const wallet = new Wallet(family);
      for (const step of all) {
        play(wallet, step);
        check(wallet);
      }
    }),
    { numRuns: 3_000 },
  );
});

test('each payment is made in the end, unless it alone exceeds the balance', () => {
  fc.assert(
    fc.property(families, steps, (family, all) => {
      const wallet = new Wallet(family);
      for (const step of all) play(wallet, step);
      for (let round = 0; round < 20; round++) {
        for (const [id, payment] of wallet.payments) {
          wallet.quote(payment, 0);
          if (payment.state === 'new') wallet.sign(id, 0n);
        }
        check(wallet);
        for (let i = 0; i < 8; i++) for (const id of wallet.payments.keys()) wallet.mine(id);
        for (const id of wallet.payments.keys()) wallet.settle(id);
      }
      for (const { state, amounts } of wallet.payments.values()) {
        const isPoor = wallet.head.holds.some(
          ({ tokenAddress, amount }) => sumOf(amounts, tokenAddress) > unitsOf(amount),
        );
        expect(state === 'over' || isPoor).toBe(true);
      }
    }),
    { numRuns: 2_000 },
  );
});

const FUNDS: Funds = { blockNumber: '9', nonceCount: '4', holds: [native(100n)], least: amountOf(0n) };

function flightOf(differences: Partial<InFlight> = {}): InFlight {
  return {
    owned: new Map([
      ['a', 4n],
      ['b', 5n],
    ]),
    reserved: new Map([['a', [native(60n)]]]),
    recorded: [],
    settledBlock: 0n,
    ...differences,
  };
}

test('a payment that fits beside others to the last unit is reserved, and one unit more waits for them', () => {
  expect(decideReservation(flightOf(), 'b', { amounts: [native(40n)], funds: FUNDS })).toEqual({
    outcome: 'reserved',
    amounts: [native(40n)],
  });
  expect(decideReservation(flightOf(), 'b', { amounts: [native(41n)], funds: FUNDS })).toEqual({
    outcome: 'in-flight',
    others: ['a'],
  });
  const alone = flightOf({ reserved: new Map() });
  expect(decideReservation(alone, 'b', { amounts: [native(101n)], funds: FUNDS })).toEqual({
    outcome: 'in-flight',
    others: [],
  });
});

test('on a chain with nonces the nonce count decides what the balance excludes, and the records do not', () => {
  const spending = { amounts: [native(41n)], funds: { ...FUNDS, nonceCount: '5' } };
  expect(decideReservation(flightOf(), 'b', spending).outcome).toBe('reserved');
  const recorded = [{ transactionId: 'a', includedIn: '8' }];
  expect(decideReservation(flightOf({ recorded }), 'b', { ...spending, funds: FUNDS }).outcome).toBe('in-flight');
});

test('on a chain without nonces a payment in a later block than the balance is still subtracted', () => {
  const outcome = (includedIn: string | null) =>
    decideReservation(flightOf({ recorded: [{ transactionId: 'a', includedIn }] }), 'b', {
      amounts: [native(41n)],
      funds: { ...FUNDS, nonceCount: null },
    }).outcome;
  expect([outcome('9'), outcome('10'), outcome(null)]).toEqual(['reserved', 'in-flight', 'in-flight']);
});

test('balances older than a settled payment are not accepted, because they may still include its amount', () => {
  const spending = { amounts: [native(1n)], funds: FUNDS };
  expect(decideReservation(flightOf({ settledBlock: 9n }), 'b', spending).outcome).toBe('reserved');
  expect(decideReservation(flightOf({ settledBlock: 10n }), 'b', spending).outcome).toBe('stale');
});

test('a further attempt reserves the larger amount of both, and one that spends no more is not checked', () => {
  const spending = (units: bigint) => ({ amounts: [native(units)], funds: FUNDS });
  const reserved = new Map([
    ['a', [native(60n)]],
    ['b', [native(40n)]],
  ]);
  expect(decideReservation(flightOf({ reserved }), 'a', spending(61n)).outcome).toBe('in-flight');
  const poor = { ...spending(5n), funds: { ...FUNDS, holds: [native(0n)] } };
  expect(decideReservation(flightOf({ reserved, settledBlock: 99n }), 'a', poor)).toEqual({
    outcome: 'reserved',
    amounts: [native(60n)],
  });
});

test('the amount in the record of the vault applies if the reservation is missing or smaller', () => {
  const recorded = [{ transactionId: 'a', amounts: [native(61n), movement(TOKEN, 5n)] }];
  const spending = { amounts: [native(40n)], funds: FUNDS };
  expect(decideReservation(flightOf({ recorded }), 'b', spending).outcome).toBe('in-flight');
  expect(decideReservation(flightOf({ recorded, reserved: new Map() }), 'b', spending).outcome).toBe('in-flight');
});

test('an account keeps its minimum, or may be emptied if no other payment is in flight', () => {
  const funds = { ...FUNDS, least: amountOf(10n) };
  const outcome = (units: bigint, flight: InFlight) =>
    decideReservation(flight, 'b', { amounts: [native(units)], funds }).outcome;
  expect([30n, 31n, 40n].map((units) => outcome(units, flightOf()))).toEqual(['reserved', 'in-flight', 'in-flight']);
  const alone = flightOf({ reserved: new Map() });
  expect([90n, 91n, 100n].map((units) => outcome(units, alone))).toEqual(['reserved', 'in-flight', 'reserved']);
});

test('a missing amount can come back only from payments that spent as much of that asset', () => {
  const undecided = [native(5n), native(2n), movement(TOKEN, 9n)];
  expect(mayBeReorged(native(7n), undecided)).toBe(true);
  expect(mayBeReorged(native(8n), undecided)).toBe(false);
  expect(mayBeReorged(movement('other', 1n), undecided)).toBe(false);
  expect([mayBeReorged(undefined, undecided), mayBeReorged(undefined, [])]).toEqual([true, false]);
});
