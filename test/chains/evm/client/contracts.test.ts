import { getAddress } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientFor } from '#chains/clients/client-for.ts';
import { BOB } from '../cast.ts';
import type { FalseNode } from '../../false-node.ts';
import { startFalseNode } from '../../false-node.ts';
import type { LocalChain } from '../local-chain.ts';
import { anvilChain, startLocalChain } from '../local-chain.ts';

let chain: LocalChain;
let liar: FalseNode;

beforeAll(async () => {
  chain = await startLocalChain();
  liar = await startFalseNode(chain.url);
});

afterAll(async () => {
  await liar.stop();
  await chain.stop();
});

test('an address with code is a contract, and an account that delegates to one (EIP-7702) is none', async () => {
  const dollar = await chain.deployDollar(chain.account(0));
  const delegated = getAddress(`0x${'77'.repeat(20)}`);
  const longer = getAddress(`0x${'78'.repeat(20)}`);
  const bytecode = `0xef0100${dollar.slice(2).toLowerCase()}` as const;
  await chain.client.setCode({ address: delegated, bytecode });
  await chain.client.setCode({ address: longer, bytecode: `0x00${bytecode.slice(2)}` });
  expect(await chain.chainClient().contracts([BOB, dollar, delegated, longer])).toEqual({
    ok: true,
    value: [dollar, longer],
  });
  expect(await chain.chainClient().contracts([])).toEqual({ ok: true, value: [] });
});

test('a node that does not report code leaves the question open', async () => {
  liar.follow((method) => (method === 'eth_getCode' ? { error: { code: -32601, message: 'no' } } : 'forward'));
  expect((await clientFor(anvilChain(), [liar.url]).contracts([BOB])).ok).toBe(false);
  expect((await clientFor(anvilChain(), []).contracts([BOB])).ok).toBe(false);
});
