import type { ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { actionOfAttempt } from '#domain/transaction/intent.ts';
import type { Attempt } from '#domain/transaction/transaction.ts';
import type { BitcoinNode } from '#local/bitcoin/node.ts';
import { startBitcoinNode } from '#local/bitcoin/node.ts';
import { clientAt, attemptOf, BTC, payment, units, Wallet } from '../cast.ts';

/** Covers UTXOs that a reorganisation removed, and the transactions that replaced theirs. */

let node: BitcoinNode;
let wallet: Wallet;
/** A server that does not show some transactions. */
let forgetful: { readonly url: string; readonly lost: Set<string>; readonly stop: () => void };

beforeAll(async () => {
  node = await startBitcoinNode();
  const lost = new Set<string>();
  const passOn = async (path: string, response: ServerResponse) => {
    const answer = await fetch(`${node.url}${path}`);
    response.writeHead(answer.status).end(await answer.text());
  };
  const server = createServer(({ url: path = '/' }, response) => {
    const isLost = [...lost].some((hash) => path === `/tx/${hash}` || path === `/tx/${hash}/hex`);
    if (isLost) response.writeHead(404).end('Not found');
    else void passOn(path, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  if (typeof bound !== 'object' || bound === null) throw new Error('no port');
  const stop = () => void (server.closeAllConnections(), server.close());
  forgetful = { url: `http://127.0.0.1:${bound.port}`, lost, stop };
});
beforeEach(() => {
  wallet = new Wallet();
  forgetful.lost.clear();
});
afterAll(async () => {
  forgetful.stop();
  await node.stop();
});

const client = () => clientAt(node.url);

interface Sent {
  readonly attempt: Attempt;
  readonly raw: string;
  readonly hash: string;
}

async function sent(amount: bigint, replaced: Attempt | null = null, isUndone = false): Promise<Sent> {
  const intent = actionOfAttempt(
    payment(wallet.address, { amount: units(amount) }),
    isUndone ? 'cancellation' : 'intent',
  );
  const quote = await client().quote(intent, replaced);
  if (!quote.ok) throw new Error(JSON.stringify(quote.refusal));
  const attempt = attemptOf(client().rules.compose(intent, quote.value, 0n), (replaced?.number ?? 0) + 1);
  const assembled = client().rules.assemble(intent, attempt, wallet.sign(intent, attempt.payload));
  if (!assembled.ok) throw new Error(assembled.refusal.detail);
  await client().broadcast(assembled.value.raw, assembled.value.hash);
  return { attempt, ...assembled.value };
}

const NOWHERE = { type: 'absent', inMempool: false, nonceTaken: false };

async function observation(attempts: readonly Sent[], urls: readonly string[] = [node.url]) {
  const newest = attempts.at(-1);
  if (newest === undefined) throw new Error('nothing was sent');
  const observed = await clientAt(...urls).observe({
    from: wallet.address,
    nonce: 0n,
    hashes: attempts.map(({ hash }) => hash),
    newest: newest.attempt,
    payloads: attempts.map(({ attempt }) => attempt.payload),
    coinParents: attempts.flatMap(({ attempt }) => attempt.coinParents ?? []),
    inclusion: null,
  });
  return observed.ok ? observed.value : observed.refusal;
}

test('a reversed deposit ends the payment when the reversing transaction is known and final, and not before', async () => {
  const deposit = node.chain.fund(wallet.address, 2n * BTC);
  node.chain.mine(2);
  const paid = await sent(BTC);
  node.chain.doubleSpend(3, deposit);
  expect(await observation([paid])).toEqual({ ...NOWHERE, isCoinUnknown: true });
  expect((await client().broadcast(paid.raw, paid.hash)).outcome).toBe('conflicted');
  node.chain.mine(1);
  expect(await observation([paid])).toEqual({ ...NOWHERE, isCoinUnknown: true });
  node.chain.mine(1);
  expect(await observation([paid])).toEqual({ ...NOWHERE, nonceTaken: true, takenBy: expect.any(Array) });
});

test('a payment that spends the change of an ended payment ends too', async () => {
  const deposit = node.chain.fund(wallet.address, 2n * BTC);
  const first = await sent(BTC / 2n);
  node.chain.mine();
  const second = await sent(BTC);
  node.chain.doubleSpend(2, deposit);
  expect(await observation([second])).toEqual({ ...NOWHERE, isCoinUnknown: true });
  node.chain.mine(5);
  for (const paid of [first, second])
    expect(await observation([paid])).toEqual({ ...NOWHERE, nonceTaken: true, takenBy: expect.any(Array) });
});

test("a missing UTXO without a known replacement leaves the payment's outcome unknown", async () => {
  node.chain.fund(wallet.address, 2n * BTC);
  const paid = await sent(BTC);
  node.chain.reorganise(1);
  node.chain.mine(200);
  expect(await observation([paid])).toEqual({ ...NOWHERE, isCoinUnknown: true });
});

test('a UTXO is known when one server shows it, and its replacement when all servers show it', async () => {
  const deposit = node.chain.fund(wallet.address, 2n * BTC);
  const paid = await sent(BTC);
  node.chain.forget(paid.hash);
  forgetful.lost.add(deposit);
  expect(await observation([paid], [forgetful.url])).toEqual({ ...NOWHERE, isUnexplained: true });
  // The other server shows the coin as unspent.
  expect(await observation([paid], [forgetful.url, node.url])).toMatchObject({ ...NOWHERE, isUseDisputed: true });

  const back = node.chain.doubleSpend(1, deposit);
  node.chain.mine(9);
  forgetful.lost.add(back);
  expect(await observation([paid], [node.url, forgetful.url])).toEqual({ ...NOWHERE, isUnexplained: true });
  expect(await observation([paid], [node.url, 'http://127.0.0.1:9'])).toEqual({
    ...NOWHERE,
    isUnexplained: true,
    unansweredBy: ['127.0.0.1:9'],
  });
  forgetful.lost.clear();
  expect(await observation([paid], [node.url, forgetful.url])).toEqual({
    ...NOWHERE,
    nonceTaken: true,
    takenBy: expect.any(Array),
  });
});

test('a payment with a lost UTXO stays open while its cancellation spends existing UTXOs', async () => {
  node.chain.fund(wallet.address, BTC);
  node.chain.mine(9);
  const deposit = node.chain.fund(wallet.address, 3n * BTC);
  const paid = await sent((7n * BTC) / 2n);
  node.chain.doubleSpend(1, deposit);
  expect(await observation([paid])).toEqual({ ...NOWHERE, isCoinUnknown: true });
  const undone = await sent((7n * BTC) / 2n, paid.attempt, true);
  expect(await observation([paid, undone])).toEqual({ ...NOWHERE, inMempool: true });
  node.chain.forget(undone.hash);
  node.chain.mine(9);
  expect(await observation([paid])).toEqual({ ...NOWHERE, nonceTaken: true, takenBy: expect.any(Array) });
  expect(await observation([paid, undone])).toEqual(NOWHERE);
  expect((await client().broadcast(undone.raw, undone.hash)).outcome).toBe('accepted');
  node.chain.mine();
  expect(await observation([paid, undone])).toMatchObject({ type: 'included', inclusion: { hash: undone.hash } });
});
