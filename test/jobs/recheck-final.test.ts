import { afterEach, expect, test, vi } from 'vitest';
import { clientFor } from '#chains/clients/client-for.ts';
import type { ChainClient, WatchedAttempts } from '#chains/chain-client.ts';
import type { Observation } from '#chains/observation.ts';
import type { ChainMovement } from '#domain/asset/movement.ts';
import { movementsOf, NATIVE } from '#domain/asset/movement.ts';
import { amountOf } from '#domain/asset/amount.ts';
import { accepted, refused } from '#domain/result.ts';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import type { Inclusion } from '#domain/transaction/transaction.ts';
import { recheckFinalPayments } from '#jobs/recheck-final.ts';
import { anvilChain } from '../chains/evm/local-chain.ts';
import { inclusion, sentAttempt, transactionIn, transferIntent } from '../domain/cast.ts';
import { BOB } from '../objects/vault/vault-scene.ts';
import { vaultStandIn } from '../objects/vault/vault-stand-in.ts';

/** Covers final payments that a deeper fork removed, or whose contents were stated falsely. */

afterEach(() => {
  vi.restoreAllMocks();
});

const GONE: Observation = { type: 'absent', inMempool: false, nonceTaken: false };
const FINAL = { finalized: true, secondNode: 'agrees' } as const;
const standsAt = (blockNumber: string): Observation => ({
  type: 'included',
  inclusion: inclusion({ ...FINAL, blockNumber }),
});
const [STANDS, STANDS_EARLIER] = [standsAt('100'), standsAt('60')];

/** Polls payments with these answers, where balances agreed at block 80. */
async function polled(recorded: readonly Inclusion[], answers: readonly (Observation | null)[]) {
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
  logged.mockClear();
  const finals = recorded.map((one) =>
    transactionIn('SUCCEEDED', { attempts: [sentAttempt()], inclusion: { ...one, usdValue: null, tokens: [] } }),
  );
  const observed: WatchedAttempts[] = [];
  const client: ChainClient = {
    ...clientFor(anvilChain(), []),
    observe: async (watched) => {
      const answer = answers[observed.push(watched) - 1] ?? null;
      return answer === null ? refused({ detail: 'no node' }) : accepted(answer);
    },
  };
  const events: TransactionEvent[] = [];
  const vault = vaultStandIn({
    finalTransactions: () => finals,
    recordEvent: ({ event }: { readonly event: TransactionEvent }) => void events.push(event),
  });
  const env = { METRICS: { writeDataPoint: () => {} } } as never;
  await recheckFinalPayments({ env, vault, client, since: '80' }, '0x1');
  return {
    reported: events.map(({ type }) => type),
    contents: events.flatMap((event) => (event.type === 'correct' ? [event.inclusion] : [])),
    alerts: logged.mock.calls.filter(([line]) => String(line).startsWith('{"event":"alert",')).length,
    observed: observed.length,
  };
}

/** Polls payments that were recorded as they are stated, or in block 100. */
async function polledWith(...answers: readonly (Observation | null)[]) {
  const recorded = answers.map((answer) => (answer?.type === 'included' ? answer.inclusion : inclusion(FINAL)));
  const { contents: _, ...result } = await polled(recorded, answers);
  return result;
}

test('payments whose final block is gone are named, newest first, until an older one that still stands', async () => {
  expect(await polledWith(GONE, { type: 'lapsed' }, STANDS_EARLIER, GONE)).toEqual({
    reported: ['gone', 'gone', 'correct'],
    alerts: 1,
    observed: 3,
  });
  expect(await polledWith(STANDS_EARLIER, GONE)).toEqual({ reported: ['correct'], alerts: 0, observed: 1 });
});

test('a payment is gone only when each RPC node states it', async () => {
  const partly = { ...GONE, unansweredBy: ['node.test'] } as Observation;
  expect(await polledWith(partly, GONE)).toEqual({ reported: [], alerts: 0, observed: 1 });
});

test('each payment since the last agreement is compared with what RPC nodes state of it', async () => {
  expect(await polledWith(STANDS, STANDS, STANDS_EARLIER, STANDS_EARLIER)).toEqual({
    reported: ['correct', 'correct', 'correct'],
    alerts: 0,
    observed: 3,
  });
});

test('RPC nodes that do not answer name nothing', async () => {
  expect(await polledWith(null, GONE)).toEqual({ reported: [], alerts: 0, observed: 1 });
});

test('a known payment by a contract stays when RPC nodes show none, and not beside one that they show', async () => {
  const wallet = transferIntent().from;
  const paid = (amount: bigint): ChainMovement => ({
    ...NATIVE,
    uid: 'trace:0',
    kind: 'internal',
    from: BOB,
    to: wallet,
    amount: amountOf(amount),
  });
  const recorded = inclusion({ ...FINAL, ...movementsOf(wallet, [paid(7n)], anvilChain()) });
  const unitsAfter = async (stated: readonly ChainMovement[]) => {
    const seen = inclusion({ ...FINAL, ...movementsOf(wallet, stated, anvilChain()) });
    const { contents } = await polled([recorded], [{ type: 'included', inclusion: seen }]);
    return contents.map(({ changes }) => changes.map(({ units }) => units));
  };
  expect(await unitsAfter([])).toEqual([['7']]);
  expect(await unitsAfter([paid(8n)])).toEqual([['8']]);
});
