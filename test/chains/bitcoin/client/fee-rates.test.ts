import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { readFeeRates } from '#chains/bitcoin/client/fee-rates.ts';
import { rateTiers } from '#chains/bitcoin/rules/fee-rate.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import { noAnswer } from '#chains/rpc/json-rpc.ts';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { accepted } from '#domain/result.ts';
import type { BitcoinNode } from '#local/bitcoin/node.ts';
import { startBitcoinNode } from '#local/bitcoin/node.ts';
import { present } from '../../evm/cast.ts';
import { clientAt, BTC, payment, Wallet } from '../cast.ts';

/** Covers the fee rates of the network, from servers that report all, some or none of them. */

let node: BitcoinNode;
beforeAll(async () => {
  node = await startBitcoinNode();
});
beforeEach(() => {
  for (const blocks of Object.keys(node.rates)) delete node.rates[blocks];
});
afterAll(() => node.stop());

const mainnet = (differences: Partial<Chain> = {}): Chain => ({
  ...present(findChain(chainsFrom({}), 'bitcoin')),
  ...differences,
});

/**
 * Returns a pool of servers that give these answers, in order; a server with `away` does not
 * respond.
 */
const poolOf = (...answers: readonly unknown[]) => ({
  nodeProblem: async () => null,
  nodes: answers.map((answer): RpcNode => {
    return {
      host: 'node.test',
      request: async (call) => {
        const value = answer === 'away' ? undefined : call.read(answer);
        return value === undefined ? noAnswer('away') : accepted(value);
      },
    };
  }),
});

async function tiersOf(chain: Chain, ...answers: readonly unknown[]) {
  const rates = await readFeeRates(poolOf(...answers), chain);
  return rates.ok ? rateTiers(rates.value) : 'waits';
}

test('an invalid entry does not affect the others', async () => {
  const odd = { 1: -1, 2: null, 3: 20.5, 6: 'dear', 12: 10n, 144: Number.NaN, '1e1': 4, 1008: 1e9 };
  expect(await tiersOf(mainnet(), odd)).toEqual({ slow: 10_000n, normal: 20_500n, fast: 30_750n });
});

test('a sooner block costs no less than a later one if only the later rate is known', async () => {
  expect(await tiersOf(mainnet(), { 144: 7, 1008: 2 })).toEqual({ slow: 7_000n, normal: 7_000n, fast: 10_500n });
});

test.each([
  ['{}', {}],
  ['nothing but odd entries', { 1: -1, 3: null, 12: 0 }],
  ['404', null],
])(
  'the rate %s is refused on mainnet, the next server is called, and without one the payment waits',
  async (_name, answer) => {
    expect(await tiersOf(mainnet(), answer, { 12: 9 })).toMatchObject({ slow: 9_000n });
    expect(await tiersOf(mainnet(), answer, 'away')).toBe('waits');
    expect(await tiersOf(mainnet(), answer)).toBe('waits');
  },
);

test('the lower median of all servers counts, so that one wrong server stops no payment', async () => {
  const honest = { 1: 30, 3: 20, 12: 10 };
  const absurd = { 1: 900_000, 2: 900_000, 3: 900_000, 12: 900_000 };
  const fair = { slow: 10_000n, normal: 20_000n, fast: 30_000n };
  for (const servers of [
    [absurd, honest],
    [honest, absurd],
    [absurd, honest, honest],
    [{ 12: 0.001 }, honest, honest],
    [honest, absurd, { 1: 31, 3: 21, 12: 11 }],
  ]) {
    const rates = await tiersOf(mainnet(), ...servers);
    expect([fair, { slow: 11_000n, normal: 21_000n, fast: 31_500n }]).toContainEqual(rates);
  }
  // Only this server reports a rate for this number of blocks.
  expect(await tiersOf(mainnet(), { 1: 30, 2: 20, 12: 10 }, absurd)).toEqual({ ...fair });
});

test('a configured rate counts only if no server reports one', async () => {
  const chain = mainnet({ fallbackFeeRate: '25' });
  expect(await tiersOf(chain, {}, 'away')).toEqual({ slow: 25_000n, normal: 25_000n, fast: 37_500n });
  expect(await tiersOf(chain, {}, { 1: 4 })).toMatchObject({ slow: 4_000n });
});

test('one satoshi per byte is enough on a test network, whose blocks are empty', async () => {
  const signet = present(findChain(chainsFrom({}), 'bitcoin-signet'));
  expect(await tiersOf(signet, {})).toEqual({ slow: 1_000n, normal: 1_000n, fast: 1_500n });
  expect(await tiersOf(signet, 'away')).toBe('waits');
});

test('changing rates and unreliable servers never stop a payment', async () => {
  const wallet = new Wallet();
  node.chain.fund(wallet.address, BTC * 3n);
  for (const rates of [{ 3: 12 }, { 1: -1, 3: 30 }, {}, { 144: null, 6: 5.001 }]) {
    for (const blocks of Object.keys(node.rates)) delete node.rates[blocks];
    Object.assign(node.rates, rates);
    expect((await clientAt(node.url).quote(payment(wallet.address), null)).ok).toBe(true);
  }
});

test('the configured rate is read from the row of the chain', () => {
  const row = (fallbackFeeRate: unknown) =>
    chainsFrom({ CHAINS: JSON.stringify([{ name: 'bitcoin', fallbackFeeRate }]) });
  expect(findChain(row('25'), 'bitcoin')?.fallbackFeeRate).toBe('25');
  for (const wrong of [25, '0', '-1', '2.5', '']) expect(() => row(wrong)).toThrow("an invalid 'fallbackFeeRate'");
});
