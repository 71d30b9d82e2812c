import type { Address, Hex } from 'viem';
import { encodeFunctionData, erc20Abi, getAddress, parseAbi } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientFor } from '#chains/clients/client-for.ts';
import type { ChainClient, WatchedAttempts } from '#chains/chain-client.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { Inclusion } from '#domain/transaction/transaction.ts';
import { present } from '../cast.ts';
import type { FalseNode, Rule } from '../../false-node.ts';
import { startFalseNode } from '../../false-node.ts';
import type { LocalChain, OddToken } from '../local-chain.ts';
import { anvilChain, request, startLocalChain } from '../local-chain.ts';

let chain: LocalChain;
let liar: FalseNode;
let odd: Record<OddToken, Address>;
let payer = 0;

beforeAll(async () => {
  chain = await startLocalChain();
  liar = await startFalseNode(chain.url);
  odd = await chain.deployOddTokens(chain.account(9));
});

afterAll(async () => {
  await liar.stop();
  await chain.stop();
});

const bob = () => chain.account(8);
const NEVER_SENT: Hex = `0x${'ab'.repeat(32)}`;
const absent = (inMempool: boolean, nonceTaken: boolean) => ({
  ok: true,
  value: { type: 'absent', inMempool, nonceTaken },
});
const transient = (detail: unknown = expect.any(String)) => ({ ok: false, refusal: { detail } });

/** Returns a wallet without a key, whose transactions anvil's impersonation sends. */
async function nextWallet(): Promise<Address> {
  const address = getAddress(`0x${(0xc0ffee000 + payer++).toString(16).padStart(40, '0')}`);
  await chain.client.setBalance({ address, value: 10n ** 20n });
  await chain.client.impersonateAccount({ address });
  return address;
}

function watched(from: string, hashes: readonly string[], inclusion: Inclusion | null = null): WatchedAttempts {
  return { from, nonce: 0n, hashes, newest: { payload: '0x', validUntil: null }, inclusion };
}

async function inclusionOf(watching: WatchedAttempts, client: ChainClient = chain.chainClient()): Promise<Inclusion> {
  const observed = await client.observe(watching);
  if (!observed.ok) throw new Error(observed.refusal.detail);
  if (observed.value.type !== 'included') throw new Error('it is not included');
  return observed.value.inclusion;
}

async function pay(from: Address, value = 5n): Promise<Hex> {
  const hash = await chain.client.sendTransaction({ account: from, to: bob(), value });
  await chain.mined(hash);
  return hash;
}

async function payToken(from: Address, token: Address, gas = 100_000n): Promise<Hex> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [bob(), 5n] });
  const hash = await chain.client.sendTransaction({ account: from, to: token, data, gas });
  await chain.mined(hash);
  return hash;
}

function payment(from: Address, tokenAddress: Address, hash: Hex, inclusion: Inclusion | null = null): WatchedAttempts {
  const tokenPayment = { tokenAddress, to: bob(), amount: amountOf(5n), hashes: [hash] };
  return { ...watched(from, [hash], inclusion), tokenPayment };
}

function lyingAbout(method: string, change: (answer: unknown) => Rule): void {
  liar.follow((called) => (called === method ? change(undefined) : 'forward'));
}

function lyingAboutFinality(rule: Rule): void {
  liar.follow((method, params) => (method === 'eth_getBlockByNumber' && params[0] === 'finalized' ? rule : 'forward'));
}

/** Forwards everything, except one receipt whose fields are changed. */
async function forgeReceipt(hash: Hex, changes: object): Promise<ChainClient> {
  const receipt = await request(chain.url, 'eth_getTransactionReceipt', [hash]);
  lyingAbout('eth_getTransactionReceipt', () => ({ result: Object.assign({}, receipt, changes) }));
  return clientFor(anvilChain(), [liar.url]);
}

test('an attempt is absent before it is sent, then in the mempool, and once mined has its block, fee and depth', async () => {
  const from = await nextWallet();
  expect(await chain.chainClient().observe(watched(from, [NEVER_SENT]))).toEqual(absent(false, false));
  await chain.client.setAutomine(false);
  const hash = await chain.client.sendTransaction({ account: from, to: bob(), value: 5n });
  expect(await chain.chainClient().observe(watched(from, [hash]))).toEqual(absent(true, false));
  await chain.client.mine({ blocks: 1 });
  await chain.client.setAutomine(true);
  const receipt = await chain.client.getTransactionReceipt({ hash });
  const inclusion = {
    hash,
    blockNumber: receipt.blockNumber.toString(),
    blockHash: receipt.blockHash,
    succeeded: true,
    feePaid: (receipt.gasUsed * receipt.effectiveGasPrice).toString(),
    confirmations: 1,
    finalized: false,
    failure: null,
    movements: [{ uid: 'top', kind: 'native', from, to: bob(), tokenAddress: null, tokenId: null, amount: '5' }],
    movementCount: 1,
    changes: [{ kind: 'native', tokenAddress: null, tokenId: null, units: '-5', isMinted: false, isCash: true }],
  };
  expect(await inclusionOf(watched(from, [NEVER_SENT, hash]))).toEqual(inclusion);
  await chain.client.mine({ blocks: 2 });
  expect(await inclusionOf(watched(from, [hash]))).toEqual({ ...inclusion, confirmations: 3 });
  // anvil calls a block final that is 64 blocks deep.
  await chain.client.mine({ blocks: 64 });
  expect(await inclusionOf(watched(from, [hash]))).toMatchObject({ confirmations: 67, finalized: true });
});

test('the mined one of two attempts is found', async () => {
  const from = await nextWallet();
  await chain.client.setAutomine(false);
  const [low, high] = [2_000_000_000n, 4_000_000_000n];
  const options = { account: from, to: bob(), value: 5n, nonce: 0 };
  const first = await chain.client.sendTransaction({
    ...options,
    maxFeePerGas: low,
    maxPriorityFeePerGas: 1_000_000_000n,
  });
  const second = await chain.client.sendTransaction({
    ...options,
    maxFeePerGas: high,
    maxPriorityFeePerGas: high / 2n,
  });
  await chain.client.mine({ blocks: 1 });
  await chain.client.setAutomine(true);
  expect(await inclusionOf(watched(from, [first, second]))).toMatchObject({ hash: second });
});

test('a reverted payment is reported as failed with the reason of the contract', async () => {
  const abi = parseAbi(['function become(uint8)']);
  const become = async (mood: number) =>
    chain.mined(
      await chain.client.writeContract({
        account: bob(),
        address: odd.SwitchedToken,
        abi,
        functionName: 'become',
        args: [mood],
      }),
    );
  await become(2);
  const blocked = await payToken(await nextWallet(), odd.SwitchedToken);
  expect(await inclusionOf(watched(bob(), [blocked]))).toMatchObject({ succeeded: false, failure: 'switched off' });
  await become(3);
  const burnt = await payToken(await nextWallet(), odd.SwitchedToken);
  expect(await inclusionOf(watched(bob(), [burnt]))).toMatchObject({
    succeeded: false,
    failure: 'The transaction used all of its gas.',
    feePaid: (100_000n * (await chain.client.getTransactionReceipt({ hash: burnt })).effectiveGasPrice).toString(),
  });
  await become(0);
  // A replay of the first payment would succeed now, but the payment itself failed.
  expect(await inclusionOf(watched(bob(), [blocked]))).toMatchObject({ succeeded: false, failure: 'switched off' });
});

test('a failed payment moves nothing, and costs only the fee', async () => {
  const from = await nextWallet();
  // The token contract accepts no native payment.
  const hash = await chain.client.sendTransaction({ account: from, to: odd.SilentToken, value: 5n, gas: 100_000n });
  await chain.mined(hash);
  const nothing = { succeeded: false, movements: [], movementCount: 0, changes: [] };
  expect(await inclusionOf(watched(from, [hash]))).toMatchObject(nothing);
});

test('a failure is reported without its reason if an RPC node cannot replay it', async () => {
  const from = await nextWallet();
  const hash = await payToken(from, odd.BlockingToken);
  const client = clientFor(anvilChain(), [liar.url]);
  const missing: Rule = { error: { code: -32000, message: 'missing trie node' } };
  for (const rule of [missing, { result: '0x' }, 'cut'] as const) {
    lyingAbout('eth_call', () => rule);
    expect(await inclusionOf(watched(from, [hash]), client)).toMatchObject({
      succeeded: false,
      failure: 'The transaction reverted.',
    });
  }
  liar.follow(() => 'forward');
  expect(await inclusionOf(watched(from, [hash]), client)).toMatchObject({ failure: 'this address is blocked' });
});

test('a token transfer without a return value has succeeded if its log shows the transfer', async () => {
  const from = await nextWallet();
  const found = await inclusionOf(payment(from, odd.SilentToken, await payToken(from, odd.SilentToken)));
  expect(found).toMatchObject({ succeeded: true, failure: null });
  expect(found).not.toHaveProperty('tokenTransfer');
});

test('a log of another token, sender or recipient does not count as a transfer', async () => {
  const from = await nextWallet();
  const hash = await payToken(from, odd.SilentToken);
  const paying = payment(from, odd.SilentToken, hash);
  const receipt: unknown = await request(chain.url, 'eth_getTransactionReceipt', [hash]);
  const { logs }: { logs?: readonly { topics: readonly string[] }[] } = Object.assign({}, receipt);
  const log = present(logs?.[0]);
  const [topic = '', sender = '', recipient = ''] = log.topics;
  for (const changed of [
    [],
    [{ ...log, address: odd.FalseToken }],
    [{ ...log, topics: [topic, recipient, sender] }],
    [{ ...log, topics: [sender, sender, recipient] }],
    [{ ...log, topics: [topic] }],
  ]) {
    const client = await forgeReceipt(hash, { logs: changed });
    expect(await inclusionOf(paying, client)).toMatchObject({ succeeded: true, tokenTransfer: 'unproven' });
  }
  // Old tokens emit logs without indexed topics.
  const data = `0x${sender.slice(2)}${recipient.slice(2)}${'0'.repeat(63)}5`;
  const client = await forgeReceipt(hash, { logs: [{ ...log, topics: [topic], data }] });
  expect(await inclusionOf(paying, client)).not.toHaveProperty('tokenTransfer');
});

test('one log that cannot be read does not hide the others of a receipt', async () => {
  const from = await nextWallet();
  const hash = await payToken(from, odd.SilentToken);
  const receipt: { logs?: readonly object[] } = Object(await request(chain.url, 'eth_getTransactionReceipt', [hash]));
  const client = await forgeReceipt(hash, { logs: [{}, ...(receipt.logs ?? []), { topics: null }] });
  expect((await inclusionOf(watched(from, [hash]), client)).movements).toMatchObject([{ kind: 'erc20', amount: '5' }]);
});

test('a reorganisation removes the inclusion, and the nonce counts as unused', async () => {
  const from = await nextWallet();
  const hash = await pay(from);
  await chain.client.mine({ blocks: 1 });
  const inclusion = await inclusionOf(watched(from, [hash]));
  await chain.reorganise(2);
  const observed = await chain.chainClient().observe(watched(from, [hash], inclusion));
  expect(observed).toEqual({ ok: true, value: { type: 'absent', inMempool: expect.any(Boolean), nonceTaken: false } });
});

test('an RPC node without the receipt counts as lagging while it has the recorded block', async () => {
  const from = await nextWallet();
  const hash = await pay(from);
  const inclusion = await inclusionOf(watched(from, [hash]));
  const lagging = clientFor(anvilChain(), [liar.url]);
  lyingAbout('eth_getTransactionReceipt', () => ({ result: null }));
  expect(await lagging.observe(watched(from, [hash], inclusion))).toEqual(
    transient('The RPC node has the transaction in the recorded block but does not find it by its hash.'),
  );
  // No inclusion is recorded yet. The RPC node has the transaction, so its receipt is only late.
  expect(await lagging.observe(watched(from, [hash]))).toEqual(transient('The receipt is not available yet.'));
  // An RPC node that does not have the recorded block yet proves nothing either.
  liar.follow((method, params) => {
    const recorded =
      method === 'eth_getBlockByNumber' && params[0] === `0x${BigInt(inclusion.blockNumber).toString(16)}`;
    return method === 'eth_getTransactionReceipt' || recorded ? { result: null } : 'forward';
  });
  expect(await lagging.observe(watched(from, [hash], inclusion))).toEqual(
    transient('The RPC node is behind the recorded block.'),
  );
});

test('a recorded inclusion that every RPC node denies is observed as absent', async () => {
  const from = await nextWallet();
  const inclusion = await inclusionOf(watched(from, [await pay(from)]));
  await chain.client.mine({ blocks: 3 });
  const hash = `0x${'4d'.repeat(32)}`;
  const nowhere = { ok: true, value: { type: 'absent', inMempool: false, nonceTaken: false } };
  const far = { ...inclusion, hash, blockNumber: '1000000000000', blockHash: `0x${'5e'.repeat(32)}` };
  for (const forged of [{ ...inclusion, hash }, far]) {
    for (const urls of [[chain.url], [chain.url, chain.url], ['http://127.0.0.1:9', chain.url]]) {
      const seen = await clientFor(anvilChain(), urls).observe({ ...watched(from, [hash], forged), nonce: 1n });
      const silent = urls.length > 1 && urls[0] !== chain.url ? { unansweredBy: ['127.0.0.1:9'] } : {};
      expect(seen).toEqual({ ok: true, value: { ...nowhere.value, ...silent } });
    }
  }
  // The RPC node no longer has the old block, and reports the nonce as unused in a later final
  // block.
  await chain.client.mine({ blocks: 100 });
  liar.follow((method, params) => {
    const isOld = method === 'eth_getBlockByNumber' && String(params[0]).startsWith('0x');
    return isOld ? { error: { code: -32_000, message: 'pruned history unavailable' } } : 'forward';
  });
  const pruned = clientFor(anvilChain(), [liar.url]);
  expect(await pruned.observe({ ...watched(from, [hash], { ...inclusion, hash }), nonce: 1n })).toEqual(nowhere);
  expect(await pruned.observe({ ...watched(from, [hash], { ...inclusion, hash }), nonce: 0n })).toMatchObject({
    ok: false,
  });
  const next = { ...far, blockNumber: (BigInt(inclusion.blockNumber) + 150n).toString() };
  expect(await chain.chainClient().observe({ ...watched(from, [hash], next), nonce: 1n })).toEqual(
    transient('The RPC node is behind the recorded block.'),
  );
});

test('a receipt that arrives while the nonce is counted is not mistaken for a conflict', async () => {
  const from = await nextWallet();
  const hash = await pay(from);
  await chain.client.mine({ blocks: 100 });
  let receipts = 0;
  liar.follow((method) => {
    if (method === 'eth_getTransactionByHash') return { result: null };
    return method === 'eth_getTransactionReceipt' && receipts++ === 0 ? { result: null } : 'forward';
  });
  const observed = await clientFor(anvilChain(), [liar.url]).observe(watched(from, [hash]));
  expect(observed).toEqual(transient('The receipt appeared during the request.'));
});

test('a receipt of a block that the RPC node does not have is refused', async () => {
  const from = await nextWallet();
  const hash = await pay(from);
  const client = await forgeReceipt(hash, { blockHash: NEVER_SENT });
  expect(await client.observe(watched(from, [hash]))).toEqual(transient(expect.stringContaining('does not have')));
});

test('the data fee of an OP-stack receipt is part of the paid fee', async () => {
  const from = await nextWallet();
  const hash = await pay(from);
  const { feePaid } = await inclusionOf(watched(from, [hash]));
  const client = await forgeReceipt(hash, { l1Fee: '0x64' });
  expect((await inclusionOf(watched(from, [hash]), client)).feePaid).toBe((BigInt(feePaid) + 100n).toString());
  // The operator fee since Isthmus is also part of the paid fee: 21,000 gas at 2 wei, and 5 wei.
  const terms = { l1Fee: '0x64', operatorFeeScalar: '0x1e8480', operatorFeeConstant: '0x5' };
  const operated = await inclusionOf(watched(from, [hash]), await forgeReceipt(hash, terms));
  expect(operated.feePaid).toBe((BigInt(feePaid) + 42_105n).toString());
});

test.each<[string, Rule]>([
  ['knows no such tag', { error: { code: -32602, message: 'invalid block tag' } }],
  ['says so as geth does', { error: { code: -32000, message: 'finalized block not found' } }],
  ['says so as Besu does', { error: { code: -39001, message: 'Unknown block' } }],
  ['has nothing final yet', { result: null }],
])('four times the confirmations are final if an RPC node %s', async (_name, rule) => {
  const from = await nextWallet();
  const hash = await pay(from);
  const client = clientFor(anvilChain({ confirmations: 2 }), [liar.url]);
  lyingAboutFinality(rule);
  await chain.client.mine({ blocks: 6 });
  expect(await inclusionOf(watched(from, [hash]), client)).toMatchObject({ confirmations: 7, finalized: false });
  await chain.client.mine({ blocks: 1 });
  expect(await inclusionOf(watched(from, [hash]), client)).toMatchObject({ confirmations: 8, finalized: true });
});

test.each<[string, Rule]>([
  ['an internal error', { error: { code: -32603, message: 'Internal error' } }],
  ['a server in trouble', { error: { code: -32000, message: 'no backend is healthy' } }],
  ['a server without its newest header', { error: { code: -32000, message: 'header not found' } }],
])('%s in place of the final block makes nothing final, however deep the block is', async (_name, rule) => {
  const from = await nextWallet();
  const hash = await pay(from);
  const client = clientFor(anvilChain({ confirmations: 1 }), [liar.url]);
  lyingAboutFinality(rule);
  await chain.client.mine({ blocks: 20 });
  expect(await inclusionOf(watched(from, [hash]), client)).toMatchObject({ confirmations: 21, finalized: false });
  const seen = await client.activity(hash, null);
  expect(seen).toMatchObject({ value: { block: { confirmations: 21, isFinal: false } } });
});

test.each<[string, object]>([
  ['another transaction', { transactionHash: NEVER_SENT }],
  ['no status', { status: undefined }],
  ['a status of 2', { status: '0x2' }],
  ['gas that is no number', { gasUsed: 'much' }],
  ['a fee beyond all wei', { effectiveGasPrice: `0x${'f'.repeat(64)}` }],
  ['no block', { blockNumber: null, blockHash: null }],
  ['logs that are no list', { logs: {} }],
  ['a data fee that is no number', { l1Fee: {} }],
  ['an operator fee that is no number', { operatorFeeScalar: {} }],
])('a receipt with %s is refused', async (_name, changes) => {
  const from = await nextWallet();
  const hash = await pay(from);
  const client = await forgeReceipt(hash, changes);
  expect(await client.observe(watched(from, [hash]))).toEqual(transient());
});

test('a faulty RPC node gives no observation, whichever call fails, and the other RPC nodes are called', async () => {
  const from = await nextWallet();
  const mined = await pay(from);
  const inclusion = await inclusionOf(watched(from, [mined]));
  const bad = clientFor(anvilChain(), [liar.url]);
  const methods = ['eth_chainId', 'eth_getBlockByNumber', 'eth_getTransactionReceipt', 'eth_getTransactionByHash'];
  for (const method of methods) {
    for (const rule of ['cut', { result: 7 }, { status: 500, body: 'oops' }] as const) {
      liar.follow((called) => (called === method ? rule : 'forward'));
      const observed = await bad.observe(watched(from, [mined]));
      expect(observed, method).toEqual(transient());
      expect(JSON.stringify(observed)).not.toMatch(/k3y|127\.0/);
      const both = clientFor(anvilChain(), [liar.url, chain.url]);
      // One node alone states the contents, so the record has none yet.
      const contents = { feePaid: '0', movements: [], movementCount: 0, changes: [] };
      expect(await inclusionOf(watched(from, [mined]), both)).toEqual({
        ...inclusion,
        ...contents,
        secondNode: 'away',
      });
    }
  }
  lyingAbout('eth_getTransactionCount', () => 'cut');
  expect(await bad.observe(watched(await nextWallet(), [NEVER_SENT]))).toEqual(transient());
});
