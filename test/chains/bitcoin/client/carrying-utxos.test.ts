import fc from 'fast-check';
import { hexToBytes } from '@noble/hashes/utils.js';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { mayCarryMore, selectUtxos } from '#chains/bitcoin/client/coin-selection.ts';
import type { Utxo } from '#chains/bitcoin/rules/utxo.ts';
import { outpointText } from '#chains/bitcoin/rules/utxo.ts';
import type { BitcoinNode } from '#local/bitcoin/node.ts';
import { startBitcoinNode } from '#local/bitcoin/node.ts';
import { attemptOf, BTC, clientAt, payment, stranger, units, Wallet } from '../cast.ts';

/**
 * Covers UTXOs that may carry an inscription, a rune or an ordinal: up to 10,000 satoshi on P2TR.
 */

/** UTXOs of a wallet that received an inscription and two runes (ordinals/ord 1652, 2808, 3648). */
const FIELD: readonly Utxo[] = [
  { txid: 'dc62362cfe6925ba5edffcee8eaa63aabf8f01a5fe3e238e9f5fe1f366605726', vout: 0, amount: 50_000_000n },
  { txid: 'a12d08637156138c8c71565526b2336192e656165669669d565e2a680c6fc28b', vout: 0, amount: 10_000n },
  { txid: 'fa3c788f1dee68b912dc4a2a4e0a14bd9ef8a5d06ab26702368aec325f25be0d', vout: 0, amount: 546n },
  { txid: '3b0e630e318da9359567d513f57c31ad5e24fb4929e479032573630f9101a936', vout: 0, amount: 546n },
];
const AMOUNTS = FIELD.map(({ amount }) => amount);

const P2TR = hexToBytes(`5120${'11'.repeat(32)}`);
const P2WPKH = hexToBytes(`0014${'22'.repeat(20)}`);
const BID = { rate: 2_000n, replaced: null, parent: null };

let node: BitcoinNode;
let wallet: Wallet;
beforeAll(async () => {
  node = await startBitcoinNode();
});
beforeEach(() => {
  wallet = new Wallet();
});
afterAll(() => node.stop());

const paying = (amount: bigint, own = P2TR) => ({ own, to: { script: P2WPKH, amount } });
const funded = (...amounts: readonly bigint[]) =>
  amounts.map((amount) => `${node.chain.fund(wallet.address, amount)}:0`);
const sent = (amount: bigint, options = {}) =>
  clientAt(node.url).quote(payment(wallet.address, { amount: units(amount) }), null, options);
const joined = (options = {}) =>
  clientAt(node.url).quote(payment(wallet.address, { to: wallet.address, amount: units(0n) }), null, {
    joins: 50,
    speed: 'slow',
    ...options,
  });
const spentBy = (quote: Awaited<ReturnType<typeof sent>>) => (quote.ok ? new Set(quote.value.utxos) : quote.refusal);

test('small payments spend the large UTXO, and not the ones with an inscription or a rune', async () => {
  const [large, ...rest] = FIELD.map(outpointText);
  for (const amount of [400n, 5_000n, 9_000n]) {
    for (const free of [FIELD, FIELD.toReversed()]) {
      const plan = selectUtxos(paying(amount), { kept: [], free, bid: BID });
      expect(plan?.utxos.map(outpointText)).toEqual([large]);
    }
  }
  expect(rest).toHaveLength(3);
  const [own] = funded(...AMOUNTS);
  for (const amount of [400n, 5_000n, 9_000n]) expect(spentBy(await sent(amount))).toEqual(new Set([own]));
});

test('the boundary is 10,000 satoshi, and wallets of P2WPKH have no such UTXOs', () => {
  expect([10_000n, 10_001n].map((amount) => mayCarryMore(P2TR, { amount }))).toEqual([true, false]);
  expect(mayCarryMore(P2WPKH, { amount: 546n })).toBe(false);
  const plan = selectUtxos(paying(5_000n, P2WPKH), { kept: [], free: FIELD, bid: BID });
  expect(plan?.utxos.map(({ amount }) => amount)).toEqual([10_000n]);
});

test('they are spent when nothing else suffices, and as few as possible', async () => {
  const [large, postage] = funded(20_000n, 10_000n, 546n, 546n, 3_000n);
  expect(spentBy(await sent(25_000n))).toEqual(new Set([large, postage]));
});

test('a payment waits for a larger UTXO in flight or in the mempool, and spends no carrier instead', async () => {
  const [large] = funded(...AMOUNTS);
  expect(await sent(5_000n, { taken: new Set([large]) })).toEqual({ ok: false, refusal: { kind: 'busy' } });
  // After the broadcast, the change of the first payment is in the mempool.
  const intent = payment(wallet.address, { amount: units(400n) });
  const quote = await clientAt(node.url).quote(intent, null);
  if (!quote.ok) throw new Error('the first payment is possible');
  const attempt = attemptOf(clientAt(node.url).rules.compose(intent, quote.value, 0n));
  const assembled = clientAt(node.url).rules.assemble(intent, attempt, wallet.sign(intent, attempt.payload));
  if (!assembled.ok) throw new Error(assembled.refusal.detail);
  await clientAt(node.url).broadcast(assembled.value.raw, assembled.value.hash);
  expect(await sent(5_000n, { taken: new Set([large]) })).toEqual({ ok: false, refusal: { kind: 'busy' } });
  node.chain.mine();
  expect((await sent(5_000n)).ok).toBe(true);
});

test('a replacement adds a larger UTXO, and does not wait for the change of the attempt that it replaces', async () => {
  const [own, postage] = funded(BTC + 12_000n, 10_000n);
  const intent = payment(wallet.address, { amount: units(BTC), to: stranger() });
  node.rates['3'] = 70;
  const quote = await clientAt(node.url).quote(intent, null);
  expect(spentBy(quote)).toEqual(new Set([own]));
  if (!quote.ok) throw new Error('the first attempt is possible');
  const attempt = attemptOf(clientAt(node.url).rules.compose(intent, quote.value, 0n));
  const second = await clientAt(node.url).quote(intent, attempt);
  expect(spentBy(second)).toEqual(new Set([own, postage]));
  const [larger] = funded(30_000n);
  const third = await clientAt(node.url).quote(intent, attempt);
  expect(spentBy(third)).toEqual(new Set([own, larger]));
  delete node.rates['3'];
});

test('a consolidation leaves them out unless it is requested with them', async () => {
  const [large, ...carriers] = funded(...AMOUNTS);
  const none = { ok: false, refusal: { kind: 'permanent', reason: 'NOTHING_TO_CONSOLIDATE' } };
  expect(await joined()).toMatchObject(none);
  node.rates['12'] = 2;
  const all = await joined({ includeMayCarryMore: true });
  expect(spentBy(all)).toEqual(new Set([large, ...carriers]));
  const [second] = funded(30_000n);
  expect(spentBy(await joined())).toEqual(new Set([large, second]));
  delete node.rates['12'];
});

test('an estimate has the size of a payment with the larger UTXO', async () => {
  funded(...AMOUNTS);
  const intent = payment(wallet.address, { amount: units(9_000n), to: stranger() });
  const estimate = await clientAt(node.url).estimate(intent);
  const quote = await clientAt(node.url).quote(intent, null);
  expect(estimate.ok && 'virtualSize' in estimate.value && estimate.value.virtualSize).toBe(
    quote.ok && quote.value.virtualSize,
  );
});

test('no selection spends a carrier while the larger UTXOs suffice, whatever the amounts', () => {
  const some = fc.array(fc.bigInt({ min: 330n, max: 40_000n }), { maxLength: 40 });
  fc.assert(
    fc.property(some, fc.bigInt({ min: 600n, max: 400_000n }), (amounts, amount) => {
      const free = amounts.map((one, i) => ({ txid: i.toString(16).padStart(64, '0'), vout: 0, amount: one }));
      const larger = free.filter((utxo) => !mayCarryMore(P2TR, utxo));
      const plan = selectUtxos(paying(amount), { kept: [], free, bid: BID });
      const ofLarger = selectUtxos(paying(amount), { kept: [], free: larger, bid: BID });
      if (ofLarger !== null) expect(plan).toEqual(ofLarger);
      else if (plan !== null) {
        const carriers = plan.utxos.filter((utxo) => mayCarryMore(P2TR, utxo)).length;
        expect(plan.utxos.length - carriers).toBe(larger.length);
      }
    }),
  );
});
