/**
 * Attack: the thief of the secret of a monitor signs one delivery of 1 MiB with 13,400 hashes that
 *   do not exist, so that the RPC nodes answer calls without end and a real deposit waits.
 * Attacker: thief of secrets
 * Co-signers: 0
 * Finding: S6
 * Defence: each endpoint has a budget. The hashes of a long delivery are read at ten a second, and
 *   those that no RPC node has are read again after all others. A short delivery has a budget of
 *   its own, so a real deposit is read before the rest.
 */
import { createHmac } from 'node:crypto';
import { afterEach, expect, test, vi } from 'vitest';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import type { Treasury } from '../../http/scene.worker.ts';
import { call, coordinator, foundTreasury, RECIPIENT, WALLET } from '../../http/scene.worker.ts';
import { consumed } from '../../worker/queue-batch.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

const SECRET = 'the-signing-key-of-the-tests';
const MIB = 1024 * 1024;
const UNKNOWN = 13_400;
const MINUTE_MS = 60_000;
/** A part of 25 hashes every 2.5 seconds from the start on, and the one that is due at once. */
const MAX_READ_IN_A_MINUTE = 25 * (MINUTE_MS / 2_500 + 2);
/** One call each for the chain, the head, the receipt and the transaction. */
const CALLS_PER_HASH = 4;

const hashOf = (number: number) => `0x${number.toString(16).padStart(64, '0')}`;
const DEPOSIT = hashOf(0xde9051);
const BLOCK = { number: '0x10', hash: hashOf(1), baseFeePerGas: '0x1', transactions: [DEPOSIT] };
const IN_BLOCK = { blockNumber: BLOCK.number, blockHash: BLOCK.hash };
const PAYMENT = { from: RECIPIENT, to: WALLET, value: '0x3e8', gas: '0x5208', input: '0x' };
const RECEIPT = { transactionHash: DEPOSIT, status: '0x1', gasUsed: '0x5208', effectiveGasPrice: '0x1', logs: [] };

/** An RPC node that has the deposit alone. Counts its calls, and names each unknown hash. */
function nodeWithDeposit() {
  const counted = { calls: 0, unknown: [] as string[] };
  const answerOf = (method: string, [hash]: readonly unknown[]): unknown => {
    if (method === 'eth_chainId') return '0x1';
    if (method === 'eth_getBlockByNumber') return BLOCK;
    if (hash !== DEPOSIT) {
      if (method === 'eth_getTransactionByHash') counted.unknown.push(String(hash));
      return null;
    }
    if (method === 'eth_getTransactionReceipt') return { ...RECEIPT, ...IN_BLOCK };
    if (method === 'eth_getTransactionByHash') return { ...PAYMENT, ...IN_BLOCK, hash };
    return { ...PAYMENT, type: 'CALL', calls: [] };
  };
  vi.stubGlobal('fetch', async (_url: unknown, { body }: { readonly body: string }) => {
    const { id, method, params } = JSON.parse(body) as { id: number; method: string; params: readonly unknown[] };
    counted.calls += 1;
    return Response.json({ jsonrpc: '2.0', id, result: answerOf(method, params) });
  });
  return counted;
}

interface Message {
  readonly body: { readonly deliveryId: string; readonly dueAtMs: number };
  readonly arrivesAtMs: number;
}

/** A queue that delivers each message at its time, one at a time, by a clock of its own. */
function queueWithClock() {
  const messages: Message[] = [];
  const send = async (body: Message['body'], { delaySeconds = 0 } = {}) =>
    void messages.push({ body, arrivesAtMs: Date.now() + delaySeconds * 1000 });
  const sendBatch = async (batch: readonly { readonly body: Message['body']; readonly delaySeconds?: number }[]) => {
    for (const { body, delaySeconds = 0 } of batch) await send(body, { delaySeconds });
  };
  const RPC_URLS = JSON.stringify({ ethereum: ['https://node.test'] });
  const env = { ...coordinator, RPC_URLS, ACTIVITY_QUEUE: { send, sendBatch } } as unknown as CoordinatorEnv;
  /** Delivers what arrives until a time, at most until `isOver`. */
  const runUntil = async (untilMs: number, isOver: () => boolean) => {
    while (!isOver()) {
      const next = messages.toSorted((a, b) => a.arrivesAtMs - b.arrivesAtMs)[0];
      if (next === undefined || next.arrivesAtMs > untilMs) return;
      messages.splice(messages.indexOf(next), 1);
      vi.setSystemTime(Math.max(Date.now(), next.arrivesAtMs));
      expect(await consumed('conclave-activity', [next.body], { env })).toEqual({ acked: 1, retried: 0 });
    }
  };
  return { env, runUntil };
}

async function report(env: CoordinatorEnv, hashes: readonly string[]): Promise<number> {
  const activity = hashes.map((hash) => ({ hash }));
  const raw = JSON.stringify({ event: { network: 'ETH_MAINNET', activity } });
  const headers = { 'x-alchemy-signature': createHmac('sha256', SECRET).update(raw).digest('hex') };
  const { status } = await call('POST /webhook/alchemy/of-the-tests', { raw, headers, env });
  expect(status).toBe(200);
  return raw.length;
}

async function deposits({ id, victor }: Treasury): Promise<readonly string[]> {
  const { body } = await call(`GET /vault/${id}/transactions?visible=all`, { token: victor.token });
  return body['transactions'].map(({ txHash }: { readonly txHash: string }) => txHash);
}

test('unknown hashes cost calls at the rate of their endpoint, and a real deposit is recorded before them', async () => {
  const treasury = await foundTreasury({ chains: ['ethereum'] });
  // The list completes the read model, which has the wallets by which deposits are found.
  expect(await deposits(treasury)).toEqual([]);
  const node = nodeWithDeposit();
  const { env, runUntil } = queueWithClock();
  const startMs = Date.now();
  vi.useFakeTimers({ toFake: ['Date'], now: startMs });
  const unknown = Array.from({ length: UNKNOWN }, (_, i) => hashOf(0xbad00000 + i));
  const bytes = await report(env, unknown);
  expect([bytes > 0.99 * MIB, bytes <= MIB]).toEqual([true, true]);

  // Above the budget the attack has succeeded, and the test need not play it to its end.
  const isAboveBudget = () => node.unknown.length > MAX_READ_IN_A_MINUTE;
  await runUntil(startMs + 2_000, isAboveBudget);
  vi.setSystemTime(startMs + 2_000);
  await report(env, [DEPOSIT]);
  const before = node.unknown.length;
  await runUntil(startMs + 3_000, isAboveBudget);
  expect(await deposits(treasury)).toEqual([DEPOSIT]);
  expect(node.unknown.length - before).toBeLessThanOrEqual(25);

  await runUntil(startMs + MINUTE_MS, isAboveBudget);
  expect(node.unknown.length).toBeLessThanOrEqual(MAX_READ_IN_A_MINUTE);
  // None is read twice while others wait.
  expect(new Set(node.unknown).size).toBe(node.unknown.length);
  expect(node.calls).toBeLessThanOrEqual(CALLS_PER_HASH * (MAX_READ_IN_A_MINUTE + 2));
});
