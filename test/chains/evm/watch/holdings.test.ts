import type { Address } from 'viem';
import { encodeFunctionData, erc20Abi, getAddress } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientFor } from '#chains/clients/client-for.ts';
import { evmClient } from '#chains/evm/chain-client.ts';
import { evmRules } from '#chains/evm/rules/chain-rules.ts';
import type { Asset } from '#domain/asset/movement.ts';
import { NATIVE } from '#domain/asset/movement.ts';
import type { FalseNode } from '../../false-node.ts';
import { startFalseNode } from '../../false-node.ts';
import type { LocalChain } from '../local-chain.ts';
import { anvilChain, startLocalChain } from '../local-chain.ts';
import { holdingsAt, unitsIn } from '../../readings.ts';

/**
 * Covers the holdings of a wallet as reported by its chain: all of them at one block, and none from
 * an RPC node or a token that does not answer.
 */

let chain: LocalChain;
let liar: FalseNode;
let dollar: Address;
let wallet: Address;

beforeAll(async () => {
  chain = await startLocalChain();
  liar = await startFalseNode(chain.url);
  dollar = await chain.deployDollar(chain.account(0));
  wallet = getAddress('0x00000000000000000000000000000000000c0ffe');
});
afterAll(async () => {
  await liar.stop();
  await chain.stop();
});

const erc20 = (tokenAddress: string): Asset => ({ kind: 'erc20', tokenAddress, tokenId: null });
const held = async (assets: readonly Asset[], client = chain.chainClient()) => client.holdings(wallet, assets, false);

async function pay(units: bigint): Promise<void> {
  const account = chain.account(0);
  await chain.mined(await chain.client.sendTransaction({ account, to: wallet, value: units }));
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [wallet, units * 10n] });
  await chain.mined(await chain.client.sendTransaction({ account, to: dollar, data }));
}

test('native and token balances are read at the same block', async () => {
  await pay(7n);
  const at = Number.parseInt((await chain.client.getBlockNumber()).toString(), 10);
  const assets = [NATIVE, erc20(dollar), erc20(getAddress(`0x${'99'.repeat(20)}`))];
  expect(await held(assets)).toEqual({
    ok: true,
    value: holdingsAt(at, [7n, 70n, 'no-balance']),
  });
});

test('blocks that are not deep enough are not counted', async () => {
  const before = Number.parseInt((await chain.client.getBlockNumber()).toString(), 10);
  await pay(1n);
  const deep = await held([NATIVE, erc20(dollar)], chain.chainClient({ confirmations: 3 }));
  expect(deep).toEqual({
    ok: true,
    value: holdingsAt(before, [7n, 70n]),
  });
  // On a chain that is younger than the required depth only the first block counts.
  const young = await held([NATIVE], chain.chainClient({ confirmations: 1000 }));
  expect(young).toEqual({ ok: true, value: holdingsAt(0, [0n]) });
});

const collectible = (kind: 'erc721' | 'erc1155'): Asset => ({ kind, tokenAddress: dollar, tokenId: '9' });
const word = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`;
const reported = async (rule: Parameters<FalseNode['follow']>[0], assets: readonly Asset[]) => {
  liar.follow(rule);
  const answer = await held(assets, evmClient(evmRules(anvilChain()), [liar.url]));
  return answer.ok ? unitsIn(answer.value) : answer.refusal;
};

test('an NFT has a balance of one if the wallet owns it, and an ERC-1155 token has the balance in its collection', async () => {
  const owner = (address: string) => (method: string) =>
    method === 'eth_call' ? { result: word(BigInt(address)) } : 'forward';
  expect(await reported(owner(wallet), [collectible('erc721')])).toEqual(['1']);
  expect(await reported(owner(dollar), [collectible('erc721')])).toEqual(['0']);
  const many = (method: string, [call]: readonly unknown[]) => {
    if (method !== 'eth_call') return 'forward';
    const { data } = call as { readonly data: string };
    expect(data).toBe(`0x00fdd58e${word(BigInt(wallet)).slice(2)}${word(9n).slice(2)}`);
    return { result: word(3n) };
  };
  expect(await reported(many, [collectible('erc1155')])).toEqual(['3']);
});

test('a collection whose balance is a number of ids has no fungible balance, and a listed token is no collection', async () => {
  const rule = (method: string, [call]: readonly unknown[]) => {
    if (method !== 'eth_call') return 'forward';
    const { data } = call as { readonly data: string };
    return { result: word(data.startsWith('0x01ffc9a7') ? 1n : 3n) };
  };
  expect(await reported(rule, [erc20(dollar), collectible('erc1155')])).toEqual(['no-balance', '3']);
  const tokens = [{ address: dollar, symbol: 'DUSD', decimals: 6, isCash: true }];
  liar.follow(rule);
  const listed = await held([erc20(dollar)], evmClient(evmRules(anvilChain({ tokens })), [liar.url]));
  expect(listed.ok && unitsIn(listed.value)).toEqual(['3']);
});

test('a token whose call does not return does not prevent the reading of the other assets', async () => {
  const rule = (method: string) => (method === 'eth_call' ? 'cut' : 'forward');
  expect(await reported(rule, [erc20(dollar), NATIVE])).toEqual(['not-read', '8']);
});

test.each([
  ['reverts', { error: { code: 3, message: 'execution reverted' } }],
  ['answers nothing', { result: '0x' }],
  ['answers more than an amount', { result: `${word(1n)}${word(1n).slice(2)}` }],
] as const)('a token that %s has no reported balance', async (_name, rule) => {
  expect(await reported((method) => (method === 'eth_call' ? rule : 'forward'), [NATIVE, erc20(dollar)])).toEqual([
    '8',
    'no-balance',
  ]);
});

test.each([
  ['is away', 'eth_chainId', 'cut'],
  ['cannot report its balance', 'eth_getBalance', { error: { code: -32000, message: 'missing trie node' } }],
  ['has no head', 'eth_getBlockByNumber', { result: null }],
  ['talks nonsense', 'eth_getBalance', { result: 'plenty' }],
] as const)('an RPC node that %s gives no holdings', async (_name, lied, rule) => {
  const answer = await reported((method) => (method === lied ? rule : 'forward'), [NATIVE, erc20(dollar)]);
  expect(answer).toEqual({ detail: expect.any(String) });
});

const challenged = (urls: readonly string[]) =>
  clientFor(anvilChain(), urls).holdings(wallet, [NATIVE, erc20(dollar)], true);

test('a doubtful balance is read from two RPC nodes at the same block, and reported only if they agree', async () => {
  liar.follow(() => 'forward');
  const at = Number.parseInt((await chain.client.getBlockNumber()).toString(), 10);
  const alike = { ok: true, value: holdingsAt(at, [8n, 80n]) };
  expect(await challenged([chain.url, liar.url])).toEqual(alike);
  liar.follow((method) => (method === 'eth_getBalance' ? { result: '0x999' } : 'forward'));
  const disputed = { ok: true, value: holdingsAt(at, ['not-read', 80n], true) };
  expect([await challenged([chain.url, liar.url]), await challenged([liar.url, chain.url])]).toEqual([
    disputed,
    disputed,
  ]);
});

test('a single configured RPC node is believed, and of two configured ones both must answer', async () => {
  liar.follow((method) => (method === 'eth_getBalance' ? { result: '0x999' } : 'forward'));
  const alone = await challenged([liar.url]);
  expect(alone.ok && unitsIn(alone.value)).toEqual(['2457', '80']);
  liar.follow(() => 'cut');
  expect((await challenged([chain.url, liar.url])).ok).toBe(false);
  liar.follow((method) => (method === 'eth_chainId' ? { result: '0x1' } : 'forward'));
  expect((await challenged([liar.url, chain.url])).ok).toBe(false);
  expect((await challenged([])).ok).toBe(false);
});

test('holdings are not reported while one RPC node does not have the block yet', async () => {
  liar.follow((method) =>
    method === 'eth_getBalance' ? { error: { code: -32000, message: 'header not found' } } : 'forward',
  );
  expect((await challenged([chain.url, liar.url])).ok).toBe(false);
});
