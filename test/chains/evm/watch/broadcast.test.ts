import { keccak256 } from 'viem';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { clientFor } from '#chains/clients/client-for.ts';
import type { FalseNode, Rule } from '../../false-node.ts';
import { startFalseNode } from '../../false-node.ts';
import type { LocalChain } from '../local-chain.ts';
import { anvilChain, startLocalChain } from '../local-chain.ts';

let chain: LocalChain;
let liar: FalseNode;
let payer = 0;

beforeAll(async () => {
  chain = await startLocalChain();
  liar = await startFalseNode(chain.url);
});

afterEach(async () => {
  await chain.client.setAutomine(true);
  await chain.client.mine({ blocks: 1 });
});

afterAll(async () => {
  await liar.stop();
  await chain.stop();
});

/**
 * Each test whose transaction is mined has its own payer, so that it does not use the nonces of
 * another test. Bob pays transactions that are not mined.
 */
function nextPayer() {
  return chain.account(payer++);
}

const bob = () => chain.account(9);
const balanceOfBob = () => chain.client.getBalance({ address: bob() });
const viaLiar = () => clientFor(anvilChain(), [liar.url]);

/** Answers one method by a rule and forwards all others. */
function lyingAbout(method: string, rule: Rule): void {
  liar.follow((called) => (called === method ? rule : 'forward'));
}

test('bytes that are sent, sent twice, and sent again after they were mined are accepted each time, and pay once', async () => {
  const before = await balanceOfBob();
  const raw = await chain.sign({ from: nextPayer(), to: bob(), nonce: 0, value: 7n });
  const hash = keccak256(raw);
  await chain.client.setAutomine(false);
  const client = chain.chainClient();
  expect(await client.broadcast(raw, hash)).toEqual({ outcome: 'accepted' });
  // anvil answers 'transaction already imported'.
  expect(await client.broadcast(raw, hash)).toEqual({ outcome: 'accepted' });
  await chain.client.mine({ blocks: 1 });
  // anvil answers 'nonce too low', because the same transaction has used the nonce.
  expect(await client.broadcast(raw, hash)).toEqual({ outcome: 'accepted' });
  expect(await balanceOfBob()).toBe(before + 7n);
});

test('a nonce that another transaction has used is a conflict once that transaction is mined', async () => {
  const from = nextPayer();
  const raw = await chain.sign({ from, to: bob(), nonce: 0, value: 7n });
  await chain.mined(await chain.client.sendTransaction({ account: from, to: bob(), value: 1n, nonce: 0 }));
  expect(await chain.chainClient().broadcast(raw, keccak256(raw))).toEqual({
    outcome: 'conflicted',
    answer: 'nonce too low',
  });
});

test("the error 'nonce too low' from an RPC node that has mined nothing of the account proves nothing", async () => {
  const raw = await chain.sign({ from: bob(), to: bob(), nonce: 0 });
  lyingAbout('eth_sendRawTransaction', { error: { code: -32000, message: 'nonce too low' } });
  expect(await viaLiar().broadcast(raw, keccak256(raw))).toEqual({ outcome: 'unknown', answer: 'nonce too low' });
});

test('bytes with a gap before their nonce are accepted and wait', async () => {
  const from = nextPayer();
  const [first, second] = [
    await chain.sign({ from, to: bob(), nonce: 0 }),
    await chain.sign({ from, to: bob(), nonce: 1 }),
  ];
  expect(await chain.chainClient().broadcast(second, keccak256(second))).toEqual({ outcome: 'accepted' });
  expect(await chain.chainClient().broadcast(first, keccak256(first))).toEqual({ outcome: 'accepted' });
  await chain.mined(keccak256(second));
  lyingAbout('eth_sendRawTransaction', { error: { code: -32000, message: 'nonce too high' } });
  expect(await viaLiar().broadcast(first, keccak256(first))).toEqual({ outcome: 'unknown', answer: 'nonce too high' });
});

test('bytes with a fee below the base fee, and a replacement that offers no more, are underpriced', async () => {
  const from = nextPayer();
  const cheap = await chain.sign({ from, to: bob(), nonce: 0, maxFeePerGas: 1n, maxPriorityFeePerGas: 1n });
  expect(await chain.chainClient().broadcast(cheap, keccak256(cheap))).toEqual({
    outcome: 'underpriced',
    answer: expect.stringMatching(/base fee/i),
  });
  await chain.client.setAutomine(false);
  const fees = { maxFeePerGas: 3_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
  const first = await chain.sign({ from, to: bob(), nonce: 0, value: 1n, ...fees });
  const same = await chain.sign({ from, to: bob(), nonce: 0, value: 2n, ...fees });
  const more = await chain.sign({
    from,
    to: bob(),
    nonce: 0,
    value: 2n,
    maxFeePerGas: 3_375_000_001n,
    maxPriorityFeePerGas: 1_125_000_001n,
  });
  expect(await chain.chainClient().broadcast(first, keccak256(first))).toEqual({ outcome: 'accepted' });
  expect(await chain.chainClient().broadcast(same, keccak256(same))).toMatchObject({ outcome: 'underpriced' });
  expect(await chain.chainClient().broadcast(more, keccak256(more))).toEqual({ outcome: 'accepted' });
});

test('bytes that can never be mined, for lack of funds or gas, are refused', async () => {
  const unpayable = await chain.sign({ from: bob(), to: bob(), nonce: 0, value: 10n ** 24n });
  expect(await chain.chainClient().broadcast(unpayable, keccak256(unpayable))).toEqual({
    outcome: 'refused',
    answer: 'Insufficient funds for gas * price + value',
  });
  const starved = await chain.sign({ from: bob(), to: bob(), nonce: 0, gas: 20_000n });
  expect(await chain.chainClient().broadcast(starved, keccak256(starved))).toEqual({
    outcome: 'refused',
    answer: expect.stringMatching(/intrinsic gas/),
  });
});

test('a refusal by an RPC node that has the bytes counts as accepted', async () => {
  const raw = await chain.sign({ from: nextPayer(), to: bob(), nonce: 0 });
  await chain.client.sendRawTransaction({ serializedTransaction: raw });
  for (const message of ['insufficient funds for gas * price + value', 'invalid sender', 'transaction underpriced']) {
    lyingAbout('eth_sendRawTransaction', { error: { code: -32000, message } });
    expect(await viaLiar().broadcast(raw, keccak256(raw))).toEqual({ outcome: 'accepted' });
  }
});

test('a refusal counts only when the RPC node also reports that it does not have the bytes', async () => {
  const raw = await chain.sign({ from: bob(), to: bob(), nonce: 0 });
  liar.follow((method) => {
    if (method === 'eth_sendRawTransaction') return { error: { code: -32000, message: 'invalid sender' } };
    return method === 'eth_getTransactionByHash' ? 'cut' : 'forward';
  });
  expect(await viaLiar().broadcast(raw, keccak256(raw))).toMatchObject({ outcome: 'unknown' });
  liar.follow((method) =>
    method === 'eth_sendRawTransaction' ? { error: { code: -32000, message: 'invalid sender' } } : 'forward',
  );
  expect(await viaLiar().broadcast(raw, keccak256(raw))).toEqual({ outcome: 'refused', answer: 'invalid sender' });
});

test.each<[string, Rule]>([
  ['cuts the line', 'cut'],
  ['fails', { status: 502, body: 'bad gateway', type: 'text/plain' }],
  ['is busy', { status: 429, body: '{"error":{"code":-32005,"message":"limit exceeded"}}' }],
  ['is full', { error: { code: -32000, message: 'txpool is full' } }],
  ['sends a web page', { status: 200, body: '<html>', type: 'text/html' }],
  ['sends an error in new words', { error: { code: -32000, message: 'computer says no' } }],
  ['names another hash', { result: `0x${'ab'.repeat(32)}` }],
  ['names no hash', { result: true }],
  ['says nothing', { result: null }],
])('an RPC node that %s leaves the outcome unknown', async (_name, rule) => {
  const raw = await chain.sign({ from: bob(), to: bob(), nonce: 0 });
  lyingAbout('eth_sendRawTransaction', rule);
  const verdict = await viaLiar().broadcast(raw, keccak256(raw));
  expect(verdict).toEqual({ outcome: 'unknown', answer: expect.any(String) });
  expect(JSON.stringify(verdict)).not.toMatch(/k3y|127\.0/);
});

test('bytes are accepted when the first RPC node took them without an answer and the next one accepts them', async () => {
  const raw = await chain.sign({ from: nextPayer(), to: bob(), nonce: 0 });
  lyingAbout('eth_sendRawTransaction', 'swallow');
  expect(await viaLiar().broadcast(raw, keccak256(raw))).toMatchObject({ outcome: 'unknown' });
  const both = clientFor(anvilChain(), [liar.url, chain.url]);
  expect(await both.broadcast(raw, keccak256(raw))).toEqual({ outcome: 'accepted' });
});

test('a refusal by the second RPC node proves nothing after the first one did not answer', async () => {
  const unpayable = await chain.sign({ from: bob(), to: bob(), nonce: 0, value: 10n ** 24n });
  const both = clientFor(anvilChain(), [liar.url, chain.url]);
  lyingAbout('eth_sendRawTransaction', 'cut');
  expect(await both.broadcast(unpayable, keccak256(unpayable))).toMatchObject({ outcome: 'unknown' });
  // The first RPC node may have received the bytes before, and it is unreachable now.
  lyingAbout('eth_chainId', { status: 500, body: '' });
  expect(await both.broadcast(unpayable, keccak256(unpayable))).toMatchObject({
    outcome: 'undecided',
    answer: expect.stringContaining('nsufficient funds'),
  });
  // An RPC node of another chain was never sent the bytes, and does not count.
  lyingAbout('eth_chainId', { result: '0x1' });
  expect(await both.broadcast(unpayable, keccak256(unpayable))).toMatchObject({ outcome: 'refused' });
});

test('a refusal of bytes by one RPC node is overruled by the next one that accepts them', async () => {
  const raw = await chain.sign({ from: nextPayer(), to: bob(), nonce: 0 });
  const answer = 'insufficient funds for transfer';
  liar.follow((method) => {
    if (method === 'eth_sendRawTransaction') return { error: { code: -32000, message: answer } };
    // The other node may have mined the bytes by now.
    return method === 'eth_getTransactionByHash' ? { result: null } : 'forward';
  });
  const both = clientFor(anvilChain(), [liar.url, chain.url]);
  const objection = { answer, isPrice: false };
  expect(await both.broadcast(raw, keccak256(raw))).toEqual({ outcome: 'accepted', objection });
});

test('bytes that the first RPC node accepts are sent to the others as well', async () => {
  const from = nextPayer();
  const raw = await chain.sign({ from, to: bob(), nonce: 0 });
  lyingAbout('eth_sendRawTransaction', { result: keccak256(raw) });
  const both = clientFor(anvilChain(), [liar.url, chain.url]);
  expect(await both.broadcast(raw, keccak256(raw))).toEqual({ outcome: 'accepted' });
  expect(await chain.client.getTransaction({ hash: keccak256(raw) })).toMatchObject({ nonce: 0 });
});

test('bytes are sent to the other RPC nodes even when one reports another transaction at the nonce', async () => {
  const raw = await chain.sign({ from: nextPayer(), to: bob(), nonce: 0 });
  liar.follow((method) => {
    if (method === 'eth_sendRawTransaction') return { error: { code: -32000, message: 'nonce too low' } };
    return method === 'eth_getTransactionCount' ? { result: '0x9' } : 'forward';
  });
  expect(await viaLiar().broadcast(raw, keccak256(raw))).toMatchObject({ outcome: 'conflicted' });
  const both = clientFor(anvilChain(), [liar.url, chain.url]);
  expect(await both.broadcast(raw, keccak256(raw))).toEqual({ outcome: 'accepted' });
});

test('an RPC node of another chain receives no bytes', async () => {
  const raw = await chain.sign({ from: bob(), to: bob(), nonce: 0 });
  lyingAbout('eth_chainId', { result: '0x1' });
  expect(await viaLiar().broadcast(raw, keccak256(raw))).toEqual({
    outcome: 'unknown',
    answer: 'The RPC node serves chain 1, not 31337.',
  });
  expect(liar.requests).toEqual(['eth_chainId']);
});

test('damaged bytes are sent to no RPC node, and their outcome is unknown', async () => {
  const raw = await chain.sign({ from: bob(), to: bob(), nonce: 0 });
  const hash = keccak256(raw);
  liar.follow(() => 'forward');
  for (const [bytes, name] of [
    [raw, keccak256('0x00')],
    [raw.slice(0, -2), hash],
    [`${raw}00`, hash],
    ['', ''],
    ['nonsense', 'nonsense'],
  ]) {
    expect(await viaLiar().broadcast(bytes ?? '', name ?? '')).toMatchObject({ outcome: 'unknown' });
  }
  const mainnet = clientFor(anvilChain({ caip2: 'eip155:1' }), [liar.url]);
  expect(await mainnet.broadcast(raw, hash)).toEqual({
    outcome: 'unknown',
    answer: 'The stored bytes are for another chain.',
  });
  expect(liar.requests).toEqual([]);
});

test('the outcome is unknown without an RPC node, or with unreachable ones only', async () => {
  const raw = await chain.sign({ from: bob(), to: bob(), nonce: 0 });
  for (const urls of [[], ['http://127.0.0.1:1/']]) {
    const verdict = await clientFor(anvilChain(), urls).broadcast(raw, keccak256(raw));
    expect(verdict).toMatchObject({ outcome: 'unknown' });
  }
});
