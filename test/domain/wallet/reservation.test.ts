import fc from 'fast-check';
import { expect, test } from 'vitest';
import { amountOf, unitsOf } from '#domain/asset/amount.ts';
import type { Funds, InFlight, Spending } from '#domain/wallet/reservation.ts';
import { mayBeReorged, sumOf, decideReservation, plusRent } from '#domain/wallet/reservation.ts';

const TOKEN = '0x00000000000000000000000000000000000000AA';
const native = (units: bigint) => ({ tokenAddress: null, amount: amountOf(units) });
const tokens = (units: bigint) => ({ tokenAddress: TOKEN, amount: amountOf(units) });

const FUNDS: Funds = { blockNumber: '9', nonceCount: '0', holds: [native(100n)], least: amountOf(0n) };
const NOTHING: InFlight = { owned: new Map(), reserved: new Map(), recorded: [], settledBlock: 0n };

const paying = (units: bigint, funds: Partial<Funds> = {}): Spending => ({
  amounts: [native(units)],
  funds: { ...FUNDS, ...funds },
});

/** Returns the reservations with one other transaction, at this nonce and with this amount. */
const beside = (nonce: bigint, units: bigint): InFlight => ({
  ...NOTHING,
  owned: new Map([['other', nonce]]),
  reserved: new Map([['other', [native(units)]]]),
});

const reserved = (units: bigint) => ({ outcome: 'reserved', amounts: [native(units)] });
const waits = (...others: readonly string[]) => ({ outcome: 'in-flight', others });

test('a payment is reserved if it fits beside the others, and waits for them if it does not', () => {
  expect(decideReservation(NOTHING, 'a', paying(100n))).toEqual(reserved(100n));
  expect(decideReservation(NOTHING, 'a', paying(101n))).toEqual(waits());
  expect(decideReservation(beside(0n, 60n), 'a', paying(40n))).toEqual(reserved(40n));
  expect(decideReservation(beside(0n, 60n), 'a', paying(41n))).toEqual(waits('other'));
});

test('an amount that the balance already excludes is not subtracted again', () => {
  const after = { nonceCount: '1', holds: [native(40n)] };
  expect(decideReservation(beside(0n, 60n), 'a', paying(40n, after))).toEqual(reserved(40n));
  expect(decideReservation(beside(1n, 60n), 'a', paying(40n, after))).toEqual(waits('other'));
});

test('on a chain without nonces the block of the inclusion is compared with the block of the balance', () => {
  const included = (includedIn: string | null): InFlight => ({
    ...beside(0n, 60n),
    recorded: [{ transactionId: 'other', amounts: [native(60n)], includedIn }],
  });
  const after = { nonceCount: null, holds: [native(40n)] };
  expect(decideReservation(included('9'), 'a', paying(40n, after))).toEqual(reserved(40n));
  expect(decideReservation(included('10'), 'a', paying(40n, after))).toEqual(waits('other'));
  expect(decideReservation(included(null), 'a', paying(40n, after))).toEqual(waits('other'));
});

test('on a chain with nonces the inclusion in the record is ignored', () => {
  // After a reorganisation the record is outdated until the vault learns of it, and the balance
  // includes the amount again.
  const recorded = [{ transactionId: 'other', amounts: [native(60n)], includedIn: '8' }];
  expect(decideReservation({ ...beside(0n, 60n), recorded }, 'a', paying(41n))).toEqual(waits('other'));
});

test('the larger amount of the reservation and the record counts as in flight', () => {
  const recorded = [{ transactionId: 'other', amounts: [native(70n)], includedIn: null }];
  expect(decideReservation({ ...beside(0n, 60n), recorded }, 'a', paying(31n))).toEqual(waits('other'));
  expect(decideReservation({ ...beside(0n, 80n), recorded }, 'a', paying(21n))).toEqual(waits('other'));
  expect(decideReservation({ ...beside(0n, 80n), recorded }, 'a', paying(20n))).toEqual(reserved(20n));
});

test('a transaction without a nonce reserves nothing', () => {
  expect(decideReservation({ ...beside(0n, 60n), owned: new Map() }, 'a', paying(100n))).toEqual(reserved(100n));
});

test('a further attempt is checked only if it spends more, and reserves the larger amount', () => {
  const inFlight: InFlight = {
    ...beside(1n, 30n),
    owned: new Map([
      ['other', 1n],
      ['a', 0n],
    ]),
    reserved: new Map([
      ['other', [native(30n)]],
      ['a', [native(60n)]],
    ]),
  };
  expect(decideReservation(inFlight, 'a', paying(70n))).toEqual(reserved(70n));
  expect(decideReservation(inFlight, 'a', paying(71n))).toEqual(waits('other'));
  expect(decideReservation(inFlight, 'a', paying(5n))).toEqual(reserved(60n));
  // A cancellation is reserved even if the balance was spent elsewhere.
  expect(decideReservation(inFlight, 'a', paying(5n, { holds: [native(0n)] }))).toEqual(reserved(60n));
});

test('balances older than the newest settled transaction are reported as stale', () => {
  const settled = { ...NOTHING, settledBlock: 10n };
  expect(decideReservation(settled, 'a', paying(1n))).toEqual({ outcome: 'stale' });
  expect(decideReservation(settled, 'a', paying(1n, { blockNumber: '10' }))).toEqual(reserved(1n));
});

test('an account keeps its minimum, or may be emptied if no other transaction is in flight', () => {
  const keeps = { least: amountOf(10n) };
  expect(decideReservation(NOTHING, 'a', paying(90n, keeps))).toEqual(reserved(90n));
  expect(decideReservation(NOTHING, 'a', paying(91n, keeps))).toEqual(waits());
  expect(decideReservation(NOTHING, 'a', paying(100n, keeps))).toEqual(reserved(100n));
  expect(decideReservation(beside(0n, 40n), 'a', paying(60n, keeps))).toEqual(waits('other'));
  expect(decideReservation(beside(0n, 40n), 'a', paying(50n, keeps))).toEqual(reserved(50n));
});

test('the rent of a nonce slot is added to the native amount only', () => {
  const spending: Spending = { amounts: [native(3n), tokens(7n)], funds: FUNDS };
  expect(plusRent(spending, amountOf(20n)).amounts).toEqual([native(23n), tokens(7n)]);
});

test('a missing amount can come back if other payments spent at least as much of that asset', () => {
  expect(mayBeReorged(native(60n), [native(30n), native(30n)])).toBe(true);
  expect(mayBeReorged(native(61n), [native(30n), native(30n)])).toBe(false);
  expect(mayBeReorged(tokens(1n), [native(60n)])).toBe(false);
  expect(mayBeReorged(undefined, [native(1n)])).toBe(true);
  expect(mayBeReorged(undefined, [])).toBe(false);
});

test('the reserved amounts never exceed the balance, in any order of requests', () => {
  const payment = fc.record({ isToken: fc.boolean(), units: fc.bigInt({ min: 1n, max: 120n }) });
  const requested = fc.array(fc.tuple(fc.integer({ min: 0, max: 7 }), payment), { maxLength: 40 });
  fc.assert(
    fc.property(requested, (request) => {
      const owned = new Map<string, bigint>();
      const held = new Map<string, Spending['amounts']>();
      const funds = { ...FUNDS, holds: [native(200n), tokens(100n)] };
      for (const [who, { isToken, units }] of request) {
        const [id, amounts] = [String(who), isToken ? [native(2n), tokens(units)] : [native(units)]];
        const weighed = decideReservation({ ...NOTHING, owned, reserved: held }, id, { amounts, funds });
        if (weighed.outcome !== 'reserved') continue;
        owned.set(id, owned.get(id) ?? BigInt(owned.size));
        held.set(id, weighed.amounts);
      }
      const all = [...held.values()].flat();
      expect(sumOf(all, null) <= 200n && sumOf(all, TOKEN) <= 100n).toBe(true);
      expect(all.every(({ amount }) => unitsOf(amount) > 0n)).toBe(true);
    }),
  );
});
