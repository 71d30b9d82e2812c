import { expect, test } from 'vitest';
import { attemptPrice, priceTiers } from '#chains/solana/client/price.ts';
import { actionOfAttempt } from '#domain/transaction/intent.ts';
import type { OnChainIntent } from '#domain/transaction/intent.ts';
import type { Attempt, SendOutcome } from '#domain/transaction/transaction.ts';
import { attemptOf, payment, stranger, units, Wallet } from '../cast.ts';
import { startLyingNode } from '../lying-node.ts';

/** Covers the priority fee of a transaction, which an expired blockhash must not raise. */

const SOL = 1_000_000_000n;
const { node, liar, lying } = await startLyingNode();

function funded(): Wallet {
  const wallet = new Wallet();
  node.chain.airdrop(wallet.address, 100n * SOL);
  return wallet;
}

/** Makes the RPC node report these paid prices: for some accounts, and for all. */
function market(ofAccounts: readonly number[], ofAll: readonly number[]): void {
  const rows = (prices: readonly number[]) => ({
    result: prices.map((prioritizationFee) => ({ slot: 1, prioritizationFee })),
  });
  liar.follow((method, params) => {
    if (method !== 'getRecentPrioritizationFees') return 'forward';
    const [accounts] = params as readonly [readonly string[]];
    return rows(accounts.length === 0 ? ofAll : ofAccounts);
  });
}

async function attemptNow(wallet: Wallet, intent: OnChainIntent, replaced: Attempt | null) {
  const quote = await lying().quote(intent, replaced);
  if (!quote.ok) throw new Error(JSON.stringify(quote.refusal));
  const anchor = await lying().anchor({ from: wallet.address, nonce: 0n, replaced });
  if (!anchor.ok) throw new Error(anchor.refusal.detail);
  const number = (replaced?.number ?? 0) + 1;
  return {
    price: quote.value.unitPrice,
    attempt: attemptOf(lying().rules.compose(intent, quote.value, anchor.value), number),
  };
}

const ended = (attempt: Attempt, outcome: SendOutcome): Attempt => ({
  ...attempt,
  sent: { outcome, answer: '', atMs: 0, times: 1 },
});

test('expired blockhashes do not raise the price of a first payment, and do not end the payment', async () => {
  const wallet = funded();
  const intent = payment(wallet.address);
  market([], [300_000]);
  let { price, attempt } = await attemptNow(wallet, intent, null);
  for (let expired = 0; expired < 12; expired++) {
    node.chain.advance(151n);
    ({ price, attempt } = await attemptNow(wallet, intent, ended(attempt, 'lapsed')));
    expect(price).toBe(300_000n);
  }
  // The market price has risen, so the attempt pays it. A later attempt never pays less, because
  // co-signers would not sign it.
  market([], [700_000]);
  ({ price, attempt } = await attemptNow(wallet, intent, ended(attempt, 'lapsed')));
  expect(price).toBe(700_000n);
  market([], [0]);
  ({ price } = await attemptNow(wallet, intent, ended(attempt, 'lapsed')));
  expect(price).toBe(700_000n);
});

test('a speed-up pays twice as much, or the market price if that is higher', async () => {
  const wallet = funded();
  const intent = payment(wallet.address);
  market([], [300_000]);
  const first = await attemptNow(wallet, intent, null);
  const faster = await attemptNow(wallet, intent, ended(first.attempt, 'underpriced'));
  expect(faster.price).toBe(600_000n);
  market([], [5_000_000]);
  expect((await attemptNow(wallet, intent, ended(first.attempt, 'underpriced'))).price).toBe(5_000_000n);
});

test('the larger of the price for the written accounts and the price for all accounts is used', async () => {
  const wallet = funded();
  const intent = payment(wallet.address);
  const price = async () => (await attemptNow(wallet, intent, null)).price;
  market([0], [400_000]);
  expect(await price()).toBe(400_000n);
  market([900_000], [400_000]);
  expect(await price()).toBe(900_000n);
  market([0], [0]);
  expect(await price()).toBe(100_000n);
});

test("the prices of a SOL recipient's account are requested, because a payment writes to it", async () => {
  const wallet = funded();
  const to = stranger();
  const requests: unknown[] = [];
  liar.follow((method, params) => {
    if (method === 'getRecentPrioritizationFees') requests.push(params[0]);
    return 'forward';
  });
  await attemptNow(wallet, payment(wallet.address, { to }), null);
  expect(requests).toEqual(expect.arrayContaining([[wallet.address, to], []]));
});

test('each speed has a minimum price, and fast exceeds what nearly all payers pay', () => {
  expect(priceTiers([[], []])).toEqual({ slow: 10_000n, normal: 100_000n, fast: 1_000_000n });
  const crowd = [...Array.from({ length: 90 }, () => 2_000_000n), ...Array.from({ length: 10 }, () => 50_000_000n)];
  expect(priceTiers([[0n], crowd])).toEqual({ slow: 2_000_000n, normal: 2_000_000n, fast: 50_000_000n });
  expect(priceTiers([[4_000_000n]])).toEqual({ slow: 4_000_000n, normal: 4_000_000n, fast: 6_000_000n });
});

test('the fee cap bounds the price in congestion, and the payment is still made', async () => {
  const wallet = funded();
  market([], [2 ** 50]);
  const intent = payment(wallet.address, { maxFee: units(3_000_000n) });
  const { attempt } = await attemptNow(wallet, intent, null);
  expect(BigInt(attempt.maxFee) <= 3_000_000n && BigInt(attempt.maxFee) > 2_900_000n).toBe(true);
  // No further attempt can pay more, but the cancellation may pay as much as the attempt.
  const sent = ended(attempt, 'underpriced');
  const faster = await lying().quote(intent, sent);
  expect(faster).toMatchObject({ ok: false, refusal: { kind: 'permanent', reason: 'FEE_CAP_EXCEEDED' } });
  expect((await lying().quote(actionOfAttempt(intent, 'cancellation'), sent)).ok).toBe(true);
  const tooLow = payment(wallet.address, { maxFee: units(1_452_000n) });
  const none = await lying().quote(tooLow, null);
  expect(none).toMatchObject({ ok: false, refusal: { kind: 'permanent', reason: 'FEE_CAP_EXCEEDED' } });
});

test('a price never falls from one attempt to the next', () => {
  for (const hasLapsed of [true, false]) {
    for (const isCancelled of [true, false]) {
      for (const most of [0n, 99n, 100n, 101n, 150n, 1_000n]) {
        const price = attemptPrice(10n, most, { paid: 100n, hasLapsed, isCancelled });
        expect(price === null || (price >= 100n && price <= most)).toBe(true);
        expect(price === null).toBe(most < (hasLapsed || isCancelled ? 100n : 101n));
      }
    }
  }
});
