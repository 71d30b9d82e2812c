import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientFor } from '#chains/clients/client-for.ts';
import type { TransferIntent } from '#domain/transaction/intent.ts';
import { amount, NATIVE } from '../cast.ts';
import type { FalseNode } from '../../false-node.ts';
import { startFalseNode } from '../../false-node.ts';
import type { LocalChain } from '../local-chain.ts';
import { anvilChain, startLocalChain } from '../local-chain.ts';

/** Covers the gas of a payment when RPC nodes estimate it differently. */

let chain: LocalChain;
let liar: FalseNode;
let native: TransferIntent;
let token: TransferIntent;

beforeAll(async () => {
  chain = await startLocalChain();
  liar = await startFalseNode(chain.url);
  native = { ...NATIVE, from: chain.account(0) };
  const tokenAddress = await chain.deployDollar(chain.account(0));
  token = { ...native, tokenAddress, amount: amount('25000000') };
});

afterAll(async () => {
  await liar.stop();
  await chain.stop();
});

test('a gas estimate that one RPC node states too low does not reach the bytes, in whatever order nodes answer', async () => {
  const gasOf = async (intent: TransferIntent, ...urls: string[]) => {
    const quote = await clientFor(anvilChain(), urls).quote(intent, null);
    return quote.ok && 'gasLimit' in quote.value ? quote.value.gasLimit : quote;
  };
  const honest = await gasOf(token, chain.url);
  // 10,000 gas for every call.
  liar.follow((method) => (method === 'eth_estimateGas' ? { result: '0x2710' } : 'forward'));
  for (const urls of [
    [liar.url, chain.url],
    [chain.url, liar.url],
    [liar.url, chain.url, chain.url],
  ]) {
    expect(await gasOf(token, ...urls)).toBe(honest);
    expect(await gasOf(native, ...urls)).toBe('21000');
  }
  expect(await gasOf(native, liar.url)).toBe('21000');
});
