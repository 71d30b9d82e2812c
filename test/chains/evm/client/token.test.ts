import type { Address } from 'viem';
import { encodeAbiParameters, getAddress, stringToHex } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientFor } from '#chains/clients/client-for.ts';
import type { FalseNode, Rule } from '../../false-node.ts';
import { startFalseNode } from '../../false-node.ts';
import type { LocalChain } from '../local-chain.ts';
import { anvilChain, startLocalChain } from '../local-chain.ts';

/** Covers the fields that a token and a price feed report, and which of them are rejected. */

let chain: LocalChain;
let liar: FalseNode;
let dollar: Address;

beforeAll(async () => {
  chain = await startLocalChain();
  liar = await startFalseNode(chain.url);
  dollar = await chain.deployDollar(chain.account(0));
});
afterAll(async () => {
  await liar.stop();
  await chain.stop();
});

/** Returns a client for a contract that answers each selector with these rules. */
function saying(answers: Readonly<Record<string, Rule>>) {
  liar.follow((method, [call]) => {
    if (method !== 'eth_call') return 'forward';
    const { data } = call as { readonly data: string };
    return answers[data] ?? { error: { code: 3, message: 'execution reverted' } };
  });
  return clientFor(anvilChain(), [liar.url]);
}
const [SYMBOL, NAME, DECIMALS, ROUND] = ['0x95d89b41', '0x06fdde03', '0x313ce567', '0xfeaf968c'];
const text = (value: string) => ({ result: encodeAbiParameters([{ type: 'string' }], [value]) });
const number = (value: bigint) => ({ result: encodeAbiParameters([{ type: 'uint256' }], [value]) });
const token = { ok: true, value: { symbol: null, name: null, decimals: null } };

test('the name, symbol and decimals of a real token are read', async () => {
  expect(await chain.chainClient().token(dollar)).toEqual({
    ok: true,
    value: { symbol: 'DUSD', name: 'Demo Dollar', decimals: 6 },
  });
});

test('an address that is not a token has no name, symbol or decimals', async () => {
  expect(await chain.chainClient().token(chain.account(3))).toEqual(token);
  expect(await chain.chainClient().token('0x12')).toEqual(token);
});

test('an old token whose name and symbol have type bytes32 is read', async () => {
  const old = { result: stringToHex('MKR', { size: 32 }) };
  const said = await saying({ [SYMBOL]: old, [NAME]: old, [DECIMALS]: number(18n) }).token(dollar);
  expect(said).toEqual({ ok: true, value: { symbol: 'MKR', name: 'MKR', decimals: 18 } });
});

test.each([
  ['signs that hide or turn others', `US\u202EDC\u0000\u200B`, 'USDC'],
  ['far too much', 'x'.repeat(10_000), 'x'.repeat(64)],
  ['nothing but blanks', ' \u200B ', null],
])("a token's text is cleaned when it has %s", async (_name, said, kept) => {
  const answer = await saying({ [SYMBOL]: text(said) }).token(dollar);
  expect(answer).toEqual({ ok: true, value: { symbol: kept, name: null, decimals: null } });
});

test.each<[string, string]>([
  ['a text that ends before its length', `0x${'20'.padStart(64, '0')}${'ff'.padStart(64, '0')}41`],
  ['an offset elsewhere', `0x${'40'.padStart(64, '0')}${'01'.padStart(64, '0')}41`],
  ['half a word', '0x1234'],
  ['nothing', '0x'],
])('%s is not decoded as a text', async (_name, result) => {
  expect(await saying({ [SYMBOL]: { result } }).token(dollar)).toEqual(token);
});

test('a token with more decimals than its largest amount has digits is treated as without decimals', async () => {
  expect(await saying({ [DECIMALS]: number(78n) }).token(dollar)).toEqual(token);
  expect(await saying({ [DECIMALS]: { result: '0x12' } }).token(dollar)).toEqual(token);
});

test('an unreachable RPC node is not reported as a token without a name', async () => {
  expect(await saying({ [SYMBOL]: 'cut' }).token(dollar)).toEqual({
    ok: false,
    refusal: { detail: expect.any(String) },
  });
});

const round = (values: readonly bigint[]) => ({
  result: encodeAbiParameters(
    values.map(() => ({ type: 'int256' })),
    [...values],
  ),
});

test('a price feed is read with its signed answer, its decimals, its times, and whether the answer was carried over', async () => {
  const feed = (values: readonly bigint[]) =>
    saying({ [ROUND]: round(values), [DECIMALS]: number(8n) }).priceFeed(dollar);
  expect(await feed([7n, 250_000_000n, 10n, 20n, 7n])).toEqual({
    ok: true,
    value: { answer: 250_000_000n, decimals: 8n, startedAt: 10n, updatedAt: 20n, isOfItsRound: true },
  });
  expect(await feed([7n, -1n, 10n, 20n, 6n])).toMatchObject({ ok: true, value: { answer: -1n, isOfItsRound: false } });
});

test.each([
  ['answers too little', { [ROUND]: round([1n, 2n]), [DECIMALS]: number(8n) }],
  ['has no digits', { [ROUND]: round([7n, 1n, 1n, 1n, 7n]) }],
  ['is no feed', {}],
])('a feed that %s has no price', async (_name, answers) => {
  expect(await saying(answers).priceFeed(getAddress(dollar))).toEqual({
    ok: false,
    refusal: { detail: expect.any(String) },
  });
});

test('what one of two RPC nodes alone states of a token or a price is not read', async () => {
  saying({ [DECIMALS]: number(8n), [SYMBOL]: text('USDC'), [NAME]: text('Demo Dollar'), [ROUND]: number(1n) });
  const disagree = { ok: false, refusal: { detail: 'The RPC nodes disagree.' } };
  for (const urls of [
    [liar.url, chain.url],
    [chain.url, liar.url],
  ]) {
    expect(await clientFor(anvilChain(), urls).token(dollar)).toEqual(disagree);
  }
  const honest = await chain.chainClient().token(dollar);
  expect(await clientFor(anvilChain(), [liar.url, chain.url, chain.url]).token(dollar)).toEqual(honest);
  expect((await clientFor(anvilChain(), [liar.url, 'http://127.0.0.1:1/']).token(dollar)).ok).toBe(false);
  saying({ [ROUND]: round([7n, 5n, 10n, 20n, 7n]), [DECIMALS]: number(8n) });
  expect((await clientFor(anvilChain(), [liar.url, liar.url]).priceFeed(dollar)).ok).toBe(true);
  expect((await clientFor(anvilChain(), [liar.url, chain.url]).priceFeed(dollar)).ok).toBe(false);
});
