import { afterEach, expect, test, vi } from 'vitest';
import { clientFor } from '#chains/client-for.ts';
import type { ChainClient, Observation, WatchedAttempts } from '#chains/chain-client.ts';
import { accepted, refused } from '#domain/result.ts';
import { nameGonePayments } from '#jobs/gone-payments.ts';
import { anvilChain } from '../chains/evm/local-chain.ts';
import { inclusion, sentAttempt, transactionIn } from '../domain/cast.ts';
import { vaultStandIn } from '../objects/vault/vault-stand-in.ts';

/** Covers payments whose final block a deeper fork removed. */

afterEach(() => {
  vi.restoreAllMocks();
});

const GONE: Observation = { type: 'absent', inMempool: false, nonceTaken: false };
const STANDS: Observation = { type: 'included', inclusion: inclusion({ finalized: true }) };

/** Runs the search over payments with these answers. Returns the events and the alerts. */
async function namedWith(...answers: readonly (Observation | null)[]) {
  const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
  logged.mockClear();
  const final = transactionIn('SUCCEEDED', {
    attempts: [sentAttempt()],
    inclusion: { ...inclusion({ finalized: true }), usdValue: null, tokens: [] },
  });
  const observed: WatchedAttempts[] = [];
  const client: ChainClient = {
    ...clientFor(anvilChain(), []),
    observe: async (watched) => {
      const answer = answers[observed.push(watched) - 1] ?? null;
      return answer === null ? refused({ detail: 'no node' }) : accepted(answer);
    },
  };
  const reported: string[] = [];
  const vault = vaultStandIn({
    finalTransactions: () => answers.map(() => final),
    recordEvent: ({ event }: { readonly event: { readonly type: string } }) => void reported.push(event.type),
  });
  const env = { METRICS: { writeDataPoint: () => {} } } as never;
  await nameGonePayments({ env, vault, client }, '0x1');
  return { reported, alerts: logged.mock.calls.length, observed: observed.length };
}

test('payments whose final block is gone are named, newest first, until one that still stands', async () => {
  expect(await namedWith(GONE, { type: 'lapsed' }, STANDS, GONE)).toEqual({
    reported: ['gone', 'gone'],
    alerts: 1,
    observed: 3,
  });
  expect(await namedWith(STANDS, GONE)).toEqual({ reported: [], alerts: 0, observed: 1 });
});

test('RPC nodes that do not answer name nothing', async () => {
  expect(await namedWith(null, GONE)).toEqual({ reported: [], alerts: 0, observed: 1 });
});
