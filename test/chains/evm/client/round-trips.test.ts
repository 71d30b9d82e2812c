import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { NATIVE, amount } from '../cast.ts';
import type { LocalChain } from '../local-chain.ts';
import { startLocalChain } from '../local-chain.ts';

/** Counts how many answers of an RPC node a quote waits for, one after the other. */

let chain: LocalChain;

beforeAll(async () => {
  chain = await startLocalChain();
});
afterAll(() => chain.stop());

/** The turns of the event loop in which an answer leads to the next request. */
const QUIET_TURNS = 20;

/** Sends the requests of a function only when nothing else happens. Returns how often that was. */
async function roundTrips(run: () => Promise<unknown>): Promise<number> {
  const send = globalThis.fetch;
  const state = { underWay: 0, quietTurns: 0, trips: 0, isOver: false };
  let waiting: (() => void)[] = [];
  const network = vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
    state.quietTurns = 0;
    await new Promise<void>((resolve) => waiting.push(resolve));
    const answer = await send(input, init);
    const text = await answer.text();
    state.underWay -= 1;
    return new Response(text, answer);
  });
  const running = run().finally(() => (state.isOver = true));
  while (!state.isOver) {
    await nextTurn();
    state.quietTurns = state.underWay > 0 ? 0 : state.quietTurns + 1;
    if (state.quietTurns < QUIET_TURNS || waiting.length === 0) continue;
    const released = waiting;
    waiting = [];
    state.trips += 1;
    state.underWay = released.length;
    for (const release of released) release();
  }
  network.mockRestore();
  await running;
  return state.trips;
}

test('a quote and an estimate wait for the chain of the node, and then for two answers in a row', async () => {
  const client = chain.chainClient();
  const payment = { ...NATIVE, from: chain.account(0) };
  const dollar = await chain.deployDollar(payment.from);
  const ofToken = { ...payment, tokenAddress: dollar, amount: amount('25000000') };
  for (const run of [
    () => client.quote(payment, null),
    () => client.quote(ofToken, null),
    () => client.quote(payment, null, { speed: 'fast' }),
    () => client.estimate(payment),
  ]) {
    expect((await run()).ok).toBe(true);
    expect(await roundTrips(run)).toBe(3);
  }
});
