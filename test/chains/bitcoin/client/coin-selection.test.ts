import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hexToBytes } from '@noble/hashes/utils.js';
import type { FeeBid } from '#chains/bitcoin/client/fee-bid.ts';
import { feeFor } from '#chains/bitcoin/client/fee-bid.ts';
import { isEconomical, mayCarryMore, selectUtxos } from '#chains/bitcoin/client/coin-selection.ts';
import { maxInputsOf } from '#chains/bitcoin/rules/script-type.ts';
import { feeAt } from '#chains/bitcoin/rules/fee-rate.ts';
import type { Utxo } from '#chains/bitcoin/rules/utxo.ts';
import { dustOf, outpointText, totalOf } from '#chains/bitcoin/rules/utxo.ts';
import type { Payment } from '#chains/bitcoin/rules/transaction.ts';
import { feeOf, sizeOfShape } from '#chains/bitcoin/rules/transaction.ts';
import { present } from '../../evm/cast.ts';

/** Covers coin selection: which UTXOs a payment spends. No chain and no key takes part. */

const P2TR = hexToBytes(`5120${'11'.repeat(32)}`);
const P2WPKH = hexToBytes(`0014${'22'.repeat(20)}`);
const BTC = 100_000_000n;

const utxo = (amount: bigint, number: number): Utxo => ({
  txid: number.toString(16).padStart(64, '0'),
  vout: 0,
  amount,
});
const utxosOf = (...amounts: readonly bigint[]) => amounts.map(utxo);
const paying = (amount: bigint, own = P2TR): Payment => ({ own, to: { script: P2WPKH, amount } });
const at = (satoshiPerByte: bigint): FeeBid => ({ rate: satoshiPerByte * 1000n, replaced: null, parent: null });
const amountsOf = (terms: ReturnType<typeof selectUtxos>) => terms?.utxos.map(({ amount }) => amount) ?? null;

test('the smallest sufficient UTXO is spent, and the large one stays free', () => {
  const free = utxosOf(100n * BTC, ...Array.from({ length: 20 }, (_, i) => BTC / 10n + BigInt(i)), 500n);
  expect(amountsOf(selectUtxos(paying(1_000n), { kept: [], free, bid: at(1n) }))).toEqual([BTC / 10n]);
  expect(amountsOf(selectUtxos(paying(5n * BTC), { kept: [], free, bid: at(1n) }))).toEqual([100n * BTC]);
});

test('a combination without change is used if no UTXO suffices alone', () => {
  const free = utxosOf(40_000n, 31_000n, 22_000n, 13_000n, 11_000n);
  // 31,000, 13,000 and 11,000 satoshi pay an amount and leave exactly the fee.
  const shape = { utxos: 3, hasChange: false };
  const amount = 55_000n - feeFor(paying(1n), at(2n), shape);
  const terms = selectUtxos(paying(amount), { kept: [], free, bid: at(2n) });
  expect(amountsOf(terms)).toEqual([31_000n, 13_000n, 11_000n]);
  expect(terms?.change).toBe(0n);
});

test('the cheapest of the sets without change is used', () => {
  const amount = 50_000n - feeFor(paying(1n), at(1n), { utxos: 2, hasChange: false });
  const terms = selectUtxos(paying(amount), { kept: [], free: utxosOf(30_100n, 30_000n, 20_000n), bid: at(1n) });
  expect(amountsOf(terms)).toEqual([30_000n, 20_000n]);
});

test('the largest UTXOs, and as few as possible, are spent if every set leaves change', () => {
  const free = utxosOf(BTC, 2n * BTC, 3n * BTC, 4n * BTC);
  expect(amountsOf(selectUtxos(paying(5n * BTC), { kept: [], free, bid: at(1n) }))).toEqual([4n * BTC, 3n * BTC]);
});

test('a UTXO that costs more than its value is not spent, and does not prevent a payment', () => {
  // A P2TR input has 57.5 virtual bytes and costs 5,800 satoshi at this rate.
  const free = utxosOf(...Array.from({ length: 30 }, () => 5_800n), 5_801n, BTC / 2n, BTC / 2n);
  const terms = selectUtxos(paying((BTC * 9n) / 10n), { kept: [], free, bid: at(100n) });
  expect(amountsOf(terms)).toEqual([BTC / 2n, BTC / 2n]);
  expect(selectUtxos(paying(1_000n), { kept: [], free: utxosOf(5_800n, 5_800n), bid: at(100n) })).toBeNull();
  expect([5_800n, 5_801n].map((amount) => isEconomical(P2TR, utxo(amount, 0), 100_000n))).toEqual([false, true]);
});

test('required UTXOs are spent first, alone if they suffice, and at most as many as one transaction can spend', () => {
  const kept = utxosOf(10_000n);
  const free = [utxo(50_000n, 7), utxo(20_000n, 8)];
  const demand = { conflictingFees: 0n, relayFee: 0n, conflictingRate: 0n, minimumFee: 0n };
  const bid = { ...at(1n), replaced: { fee: 200n, virtualSize: 154n, demand } };
  expect(amountsOf(selectUtxos(paying(5_000n), { kept, free, bid }))).toEqual([10_000n]);
  expect(amountsOf(selectUtxos(paying(15_000n), { kept, free, bid }))).toEqual([10_000n, 20_000n]);
  const full = Array.from({ length: 12 }, (_, i) => utxo(1_000n, i));
  expect(selectUtxos(paying(20_000n, P2WPKH), { kept: full, free: [utxo(BTC, 99)], bid })).toBeNull();
});

test('a payment to the wallet itself always has an output', () => {
  const alone: Payment = { own: P2TR, to: null };
  expect(selectUtxos(alone, { kept: [], free: utxosOf(400n), bid: at(1n) })).toBeNull();
  const terms = selectUtxos(alone, { kept: [], free: utxosOf(400n, 500n), bid: at(1n) });
  expect([amountsOf(terms), terms?.change]).toEqual([[500n], 500n - 111n]);
});

const someUtxos = fc
  .array(fc.oneof(fc.bigInt({ min: 1n, max: 3_000_000n }), fc.bigInt({ min: 500n, max: 20_000n })), { maxLength: 60 })
  .map((amounts) => utxosOf(...amounts));
const someOwn = fc.constantFrom(P2TR, P2WPKH);
const someBid = fc
  .bigInt({ min: 1_000n, max: 200_000n })
  .map((rate): FeeBid => ({ rate, replaced: null, parent: null }));

test('the spent sum covers the payment exactly, at no less than the rate, and each UTXO is worth its input', () => {
  fc.assert(
    fc.property(someUtxos, fc.bigInt({ min: 600n, max: 20_000_000n }), someOwn, someBid, (free, amount, own, bid) => {
      const payment = paying(amount, own);
      const terms = selectUtxos(payment, { kept: [], free, bid });
      if (terms === null) return;
      const { utxos, change } = terms;
      const shape = { utxos: utxos.length, hasChange: change > 0n };
      expect(feeOf(payment, terms)).toBeGreaterThanOrEqual(feeAt(bid.rate, sizeOfShape(payment, shape)));
      expect(totalOf(utxos)).toBe(amount + change + feeOf(payment, terms));
      expect(change === 0n || change >= dustOf(own)).toBe(true);
      expect(utxos.length).toBeLessThanOrEqual(maxInputsOf(own));
      expect(new Set(utxos.map(outpointText)).size).toBe(utxos.length);
      expect(utxos.every((one) => isEconomical(own, one, bid.rate))).toBe(true);
      // The excess over the rate is less than change would cost and RPC nodes would relay.
      const withChange = feeFor(payment, bid, { utxos: utxos.length, hasChange: true });
      expect(feeOf(payment, terms)).toBeLessThan(withChange + dustOf(own));
    }),
  );
});

test('a selection exists whenever the largest UTXOs suffice, and has one UTXO whenever one suffices', () => {
  fc.assert(
    fc.property(someUtxos, fc.bigInt({ min: 600n, max: 20_000_000n }), someOwn, someBid, (free, amount, own, bid) => {
      const payment = paying(amount, own);
      const terms = selectUtxos(payment, { kept: [], free, bid });
      const suffices = (utxos: readonly Utxo[]) =>
        utxos.length > 0 && totalOf(utxos) >= amount + feeFor(payment, bid, { utxos: utxos.length, hasChange: false });
      const economical = free.filter((one) => isEconomical(own, one, bid.rate));
      const largest = economical.toSorted((a, b) => (a.amount > b.amount ? -1 : 1));
      const isPossible = Array.from({ length: maxInputsOf(own) }, (_, i) => largest.slice(0, i + 1)).some(suffices);
      expect(terms !== null).toBe(isPossible);
      // A UTXO that may carry more is the choice only when no other suffices.
      const alone = largest.filter((one) => suffices([one]));
      const single = alone.findLast((one) => !mayCarryMore(own, one)) ?? alone.at(-1);
      if (single !== undefined) expect(amountsOf(terms)).toEqual([single.amount]);
    }),
  );
});

test('the same UTXOs in another order give the same bytes', () => {
  const twins = [utxo(BTC, 1), utxo(BTC, 2)];
  const chosen = [twins, twins.toReversed()].map((free) =>
    selectUtxos(paying(1_000n), { kept: [], free, bid: at(1n) })?.utxos.map(outpointText),
  );
  expect(chosen[0]).toEqual(chosen[1]);
  const shuffled = someUtxos.chain((free) =>
    fc.tuple(fc.constant(free), fc.shuffledSubarray([...free], { minLength: free.length, maxLength: free.length })),
  );
  fc.assert(
    fc.property(shuffled, fc.bigInt({ min: 600n, max: 20_000_000n }), someBid, ([free, other], amount, bid) => {
      const terms = selectUtxos(paying(amount), { kept: [], free, bid });
      expect(selectUtxos(paying(amount), { kept: [], free: other, bid })).toEqual(terms);
    }),
  );
});

test('a search for a set without change that finds none ends, and the payment is made with change', () => {
  // No sum of even amounts is odd, and there are 2^60 of them.
  const free = Array.from({ length: 60 }, (_, i) => utxo(1_000_000n + 2n ** BigInt(i % 40), i));
  const terms = present(selectUtxos(paying(25_000_001n), { kept: [], free, bid: at(1n) }));
  expect(totalOf(terms.utxos)).toBeGreaterThan(25_000_001n);
});
