import { afterEach, beforeAll, afterAll, beforeEach, expect, test } from 'vitest';
import { replacementMinimum } from '#chains/bitcoin/client/replacement.ts';
import type { TransferIntent } from '#domain/transaction/intent.ts';
import { actionOfAttempt } from '#domain/transaction/intent.ts';
import type { Attempt } from '#domain/transaction/transaction.ts';
import type { BitcoinNode } from '#local/bitcoin/node.ts';
import { startBitcoinNode } from '#local/bitcoin/node.ts';
import { findBitcoind, startBitcoind } from '#local/bitcoin/bitcoind.ts';
import { present } from '../../evm/cast.ts';
import { clientAt, attemptOf, BTC, payment, units, Wallet } from '../cast.ts';

/**
 * Covers replacements under the rules of a mempool: fee rate, absolute fee, and all descendants of
 * the old transaction.
 */

let node: BitcoinNode;
let wallet: Wallet;
let mallory: Wallet;
beforeAll(async () => {
  node = await startBitcoinNode();
});
beforeEach(() => {
  [wallet, mallory] = [new Wallet(), new Wallet()];
});
afterEach(() => {
  node.chain.mempoolMinimum = 1_000n;
  node.chain.mine();
});
afterAll(() => node.stop());

/** Offers an attempt by a new wallet. Returns the attempt with its outcome. */
async function offered(by: Wallet, intent: TransferIntent, replaced: Attempt | null = null): Promise<Attempt> {
  return offeredTo(node, by, intent, replaced);
}

type Server = Pick<BitcoinNode, 'url' | 'rates'>;

async function offeredTo(
  { url }: Server,
  by: Wallet,
  ...[intent, replaced = null]: readonly [TransferIntent, (Attempt | null)?]
): Promise<Attempt> {
  const client = clientAt(url);
  const quote = await client.quote(intent, replaced);
  if (!quote.ok) throw new Error(JSON.stringify(quote.refusal));
  const attempt = attemptOf(client.rules.compose(intent, quote.value, 0n), (replaced?.number ?? 0) + 1);
  const assembled = client.rules.assemble(intent, attempt, by.sign(intent, attempt.payload));
  if (!assembled.ok) throw new Error(assembled.refusal.detail);
  const { raw, hash } = assembled.value;
  const verdict = await client.broadcast(raw, hash);
  if (verdict.outcome === 'conflicted') throw new Error(verdict.outcome);
  const answer = verdict.outcome === 'accepted' ? null : verdict.answer;
  return {
    ...attempt,
    signed: { raw, hash, atMs: 0 },
    sent: { outcome: verdict.outcome, answer, atMs: 0, times: 1 },
  };
}

const outcomes = (...attempts: readonly Attempt[]) => attempts.map(({ sent }) => sent?.outcome);

/** Has mallory spend the payment to her, with a fee of her own, before the payment is mined. */
async function pin(hash: string, fee: bigint, server: Server = node): Promise<void> {
  const child = {
    ...payment(mallory.address, { to: mallory.address, amount: units(0n), maxFee: units(100_000n) }),
    paysFor: hash,
  };
  server.rates['1'] = Number(fee) / 265;
  const made = await offeredTo(server, mallory, child);
  expect(made.sent?.outcome).toBe('accepted');
  delete server.rates['1'];
}

test('a replacement pays for the descendants of the old transaction in one step', async () => {
  node.chain.fund(wallet.address, 3n * BTC);
  const intent = payment(wallet.address, { to: mallory.address });
  const first = await offered(wallet, intent);
  await pin(present(first.signed).hash, 40_000n);
  const second = await offered(wallet, intent, first);
  expect(second.sent?.answer).toMatch(/less fees than conflicting txs; 0\.00000308 < 0\.0006[0-9]{4}/);
  const third = await offered(wallet, intent, second);
  expect(outcomes(first, second, third)).toEqual(['accepted', 'underpriced', 'accepted']);
  expect(node.chain.waiting().map(({ hash }) => hash)).toEqual([present(third.signed).hash]);
  // The replacement pays no more than required.
  const conflicts = BigInt(present(/< 0\.([0-9]{8})/.exec(second.sent?.answer ?? ''))[1] ?? '');
  expect(BigInt(third.maxFee) - conflicts).toBe(154n);
});

test('a replacement that has to be larger has the higher fee rate at once', async () => {
  node.chain.fund(wallet.address, BTC + 12_000n);
  for (let i = 0; i < 3; i++) node.chain.fund(wallet.address, 4_100n);
  const intent = payment(wallet.address);
  node.rates['3'] = 70;
  const first = await offered(wallet, intent);
  delete node.rates['3'];
  const second = await offered(wallet, intent, first);
  expect(outcomes(first, second)).toEqual(['accepted', 'accepted']);
  expect(node.chain.waiting().map(({ hash, inputs }) => [hash, inputs.length])).toEqual([
    [present(second.signed).hash, 3],
  ]);
});

test('a first attempt below the minimum of a full mempool is raised to the minimum at once', async () => {
  node.chain.fund(wallet.address, 3n * BTC);
  node.chain.mempoolMinimum = 37_000n;
  const intent = payment(wallet.address);
  const first = await offered(wallet, intent);
  const second = await offered(wallet, intent, first);
  expect(outcomes(first, second)).toEqual(['underpriced', 'accepted']);
  expect(second.maxFee).toBe(String(37n * 154n));
});

test("a cancellation pays for the recipient's descendants as well, and has the higher rate although it is smaller", async () => {
  node.chain.fund(wallet.address, 3n * BTC);
  const intent = payment(wallet.address, { to: mallory.address });
  const first = await offered(wallet, intent);
  await pin(present(first.signed).hash, 10_000n);
  const undone = actionOfAttempt(intent, 'cancellation') as TransferIntent;
  const second = await offered(wallet, undone, first);
  const third = await offered(wallet, undone, second);
  expect(outcomes(first, second, third)).toEqual(['accepted', 'underpriced', 'accepted']);
});

const binary = findBitcoind();

test.skipIf(binary === null)(
  'Bitcoin Core refuses a cheap replacement as underpriced, and accepts one that pays for the descendants',
  async () => {
    const bitcoind = await startBitcoind(present(binary));
    try {
      await bitcoind.pay(wallet.address, 3n * BTC);
      const intent = payment(wallet.address, { to: mallory.address });
      const first = await offeredTo(bitcoind, wallet, intent);
      await pin(present(first.signed).hash, 40_000n, bitcoind);
      const second = await offeredTo(bitcoind, wallet, intent, first);
      const third = await offeredTo(bitcoind, wallet, intent, second);
      expect(outcomes(first, second, third)).toEqual(['accepted', 'underpriced', 'accepted']);
    } finally {
      await bitcoind.stop();
    }
  },
);

test.each([
  [
    'less fees',
    'insufficient fee, rejecting replacement ab, less fees than conflicting txs; 0.00000231 < 0.00040154',
    { conflictingFees: 40_154n, relayFee: 0n, conflictingRate: 0n, minimumFee: 0n },
  ],
  [
    'the relay',
    'insufficient fee, rejecting replacement ab, not enough additional fees to relay; 0.00000031 < 0.00000154',
    { conflictingFees: 200n, relayFee: 154n, conflictingRate: 0n, minimumFee: 0n },
  ],
  [
    'the rate',
    'insufficient fee, rejecting replacement ab; new feerate 0.00002415 BTC/kvB <= old feerate 0.00002702 BTC/kvB',
    { conflictingFees: 0n, relayFee: 0n, conflictingRate: 2_702n, minimumFee: 0n },
  ],
  [
    'the mempool',
    'sendrawtransaction RPC error: {"code":-26,"message":"mempool min fee not met, 154 < 5698"}',
    { conflictingFees: 0n, relayFee: 0n, conflictingRate: 0n, minimumFee: 5_698n },
  ],
  [
    'nothing that is known',
    'insufficient fee: does not improve feerate diagram, 1 < many',
    { conflictingFees: 0n, relayFee: 0n, conflictingRate: 0n, minimumFee: 0n },
  ],
])('the price that a server requires for %s is read from its error message', (_name, answer, demand) => {
  expect(replacementMinimum(answer, 231n)).toEqual(demand);
});
