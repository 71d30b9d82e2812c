import type { Abi, Address, Hex } from 'viem';
import { erc20Abi, getAddress } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientFor } from '#chains/clients/client-for.ts';
import type { ChainClient, ReadTransaction } from '#chains/chain-client.ts';
import type { Inclusion } from '#domain/transaction/transaction.ts';
import { compile } from '#local/evm/contracts/compile.ts';
import { present } from '../cast.ts';
import { startFalseNode } from '../../false-node.ts';
import type { LocalChain } from '../local-chain.ts';
import { anvilChain, startLocalChain } from '../local-chain.ts';

/**
 * Covers foreign transactions on a real chain: native payments, payments by contracts, tokens and
 * collectibles.
 */

let chain: LocalChain;
let alice: Address;
let bob: Address;
let carol: Address;
let splitter: Address;
let collection: Address;
let dollar: Address;
let abis: { readonly splitter: Abi; readonly collection: Abi };

beforeAll(async () => {
  chain = await startLocalChain();
  [alice, bob, carol] = [chain.account(0), chain.account(1), chain.account(2)];
  const compiled = compile('Movers.sol');
  const deploy = async (name: string): Promise<[Address, Abi]> => {
    const { abi, bytecode } = present(compiled.get(name));
    const receipt = await chain.mined(await chain.client.deployContract({ account: alice, abi, bytecode }));
    return [getAddress(present(receipt.contractAddress)), abi as Abi];
  };
  const [[splitterAt, splitterAbi], [collectionAt, collectionAbi]] = [
    await deploy('Splitter'),
    await deploy('Collection'),
  ];
  [splitter, collection, abis] = [splitterAt, collectionAt, { splitter: splitterAbi, collection: collectionAbi }];
  dollar = await chain.deployDollar(alice);
});
afterAll(() => chain.stop());

async function minedFrom(client: ChainClient, hash: Hex): Promise<ReadTransaction> {
  const seen = await client.activity(hash, null);
  if (!seen.ok || seen.value === null) throw new Error('it is mined');
  return seen.value;
}

async function read(hash: Hex): Promise<ReadTransaction | null> {
  await chain.mined(hash);
  const seen = await chain.chainClient().activity(hash, null);
  if (!seen.ok) throw new Error(seen.refusal.detail);
  return seen.value;
}

const call = (on: 'splitter' | 'collection', functionName: string, args: readonly unknown[], value = 0n) =>
  chain.client.writeContract({
    account: alice,
    chain: null,
    address: on === 'splitter' ? splitter : collection,
    abi: abis[on],
    functionName,
    args,
    value,
  });

/** Returns `uid from>to amount` with the names of the cast. */
function lines(seen: ReadTransaction | null): readonly string[] {
  const names = new Map<string | null, string>([
    [alice, 'alice'],
    [bob, 'bob'],
    [carol, 'carol'],
    [splitter, 'splitter'],
    [null, 'zero'],
  ]);
  const name = (address: string | null) => names.get(address) ?? 'other';
  return (seen?.movements ?? []).map(
    ({ uid, from, to, amount, tokenId }) =>
      `${uid.replace(/^log:\d+/, 'log')} ${name(from)}>${name(to)} ${amount}${tokenId === null ? '' : ` #${tokenId}`}`,
  );
}

test('a payment, with its signer, its fee and its block', async () => {
  const seen = await read(await chain.client.sendTransaction({ account: alice, chain: null, to: bob, value: 5n }));
  expect(lines(seen)).toEqual(['top alice>bob 5']);
  expect(seen).toMatchObject({ signer: alice, block: { confirmations: 1, isFinal: false } });
  expect(BigInt(seen?.fee ?? '0')).toBeGreaterThan(0n);
});

test('payments by contracts are identified by their position in the calls', async () => {
  const seen = await read(await call('splitter', 'split', [bob, carol], 10n));
  expect(lines(seen)).toEqual(['top alice>splitter 10', 'trace:0 splitter>bob 5', 'trace:1 splitter>carol 5']);
});

test('a payment inside a failed call is reverted, and not reported', async () => {
  const seen = await read(await call('splitter', 'fail', [bob], 10n));
  expect(lines(seen)).toEqual(['top alice>splitter 10']);
});

test('a delegate call itself moves nothing, and the payments in it are reported', async () => {
  const seen = await read(await call('splitter', 'borrow', [bob], 10n));
  expect(lines(seen)).toEqual(['top alice>splitter 10', 'trace:0_0 splitter>bob 10']);
});

test('a contract that self-destructs sends its balance', async () => {
  const seen = await read(await call('splitter', 'leave', [bob], 10n));
  expect(lines(seen)).toEqual(['top alice>splitter 10', 'trace:0 splitter>other 10', 'trace:0_0 other>bob 10']);
});

test('transfers of an ERC-20, of a minted and burned ERC-721, and of an ERC-1155 alone and in a batch are reported', async () => {
  const paid = await chain.client.writeContract({
    account: alice,
    chain: null,
    address: dollar,
    abi: erc20Abi,
    functionName: 'transfer',
    args: [bob, 7n],
  });
  const seen = [
    await read(paid),
    await read(await call('collection', 'mint', [bob, 9n])),
    await read(await call('collection', 'burn', [bob, 9n])),
    await read(await call('collection', 'single', [bob, 3n, 40n])),
    await read(await call('collection', 'batch', [bob, [1n, 2n], [10n, 20n]])),
    await read(await call('collection', 'batch', [bob, [], []])),
    await read(await call('collection', 'noise', [bob])),
  ];
  expect(seen.map(lines)).toEqual([
    ['log alice>bob 7'],
    ['log zero>bob 1 #9'],
    ['log bob>zero 1 #9'],
    ['log:0 alice>bob 40 #3'],
    ['log:0 alice>bob 10 #1', 'log:1 alice>bob 20 #2'],
    [],
    [],
  ]);
  expect(seen[0]?.movements[0]).toMatchObject({ kind: 'erc20', tokenAddress: dollar });
});

test('a batch whose lists have different lengths is ignored', async () => {
  const seen = await read(await call('collection', 'batch', [bob, [1n, 2n], [10n]]));
  expect(seen?.movements).toEqual([]);
});

test('a transaction that failed or was never sent has no movements', async () => {
  const failing = await chain.client.writeContract({
    account: bob,
    chain: null,
    address: dollar,
    abi: erc20Abi,
    functionName: 'transferFrom',
    args: [alice, bob, 1n],
    gas: 100_000n,
  });
  const failed = await read(failing);
  expect([failed?.hasFailed, failed?.movements, failed?.block?.confirmations]).toEqual([true, [], 1]);
  const nowhere = await chain.chainClient().activity(`0x${'ab'.repeat(32)}`, null);
  expect(nowhere).toEqual({ ok: true, value: null });
});

test('a transaction that creates a contract has no recipient', async () => {
  const { abi, bytecode } = present(compile('Movers.sol').get('Collection'));
  const seen = await read(await chain.client.deployContract({ account: alice, chain: null, abi, bytecode }));
  expect(seen?.movements).toEqual([]);
});

test('a transaction is final when the chain reports so, and gone when its block is', async () => {
  const hash = await chain.client.sendTransaction({ account: alice, chain: null, to: bob, value: 6n });
  const before = present(await read(hash));
  await chain.client.mine({ blocks: 3 });
  expect((await read(hash))?.block?.confirmations).toBe(4);
  await chain.reorganise(4);
  const gone = await chain.chainClient().activity(hash, before.block);
  expect(gone).toEqual({ ok: true, value: null });
  const settled = await chain.client.sendTransaction({ account: alice, chain: null, to: bob, value: 7n });
  await chain.mined(settled);
  await chain.client.mine({ blocks: 70 });
  expect((await read(settled))?.block?.isFinal).toBe(true);
});

test('a waiting transaction is reported with its own payment, and with the payments by contracts once mined', async () => {
  await chain.client.setAutomine(false);
  const paid = await chain.client.sendTransaction({ account: alice, chain: null, to: bob, value: 9n });
  const split = await call('splitter', 'split', [bob, carol], 10n);
  const observation = async (hash: Hex) => {
    const seen = await chain.chainClient().activity(hash, null);
    return seen.ok ? seen.value : null;
  };
  expect(await observation(paid)).toMatchObject({ signer: alice, fee: null, block: null });
  expect([lines(await observation(paid)), lines(await observation(split))]).toEqual([
    ['top alice>bob 9'],
    ['top alice>splitter 10'],
  ]);
  await chain.client.setAutomine(true);
  await chain.client.mine({ blocks: 1 });
  expect(lines(await observation(split))).toHaveLength(3);
  const before = present(await observation(paid));
  await chain.client.setAutomine(false);
  await chain.reorganise(present(before.block).confirmations);
  expect(await chain.chainClient().activity(paid, before.block)).toEqual({ ok: true, value: null });
  await chain.client.setAutomine(true);
});

test('an RPC node that lags behind is not believed when it reports a transaction as gone', async () => {
  const seen = present(
    await read(await chain.client.sendTransaction({ account: alice, chain: null, to: bob, value: 8n })),
  );
  const node = await startFalseNode(chain.url);
  node.follow((method) => (method === 'eth_getTransactionReceipt' ? { result: null } : 'forward'));
  const answer = await clientFor(anvilChain(), [node.url]).activity(seen.hash, seen.block);
  expect(answer).toMatchObject({ ok: false, refusal: { detail: expect.stringContaining('recorded block') } });
  await node.stop();
});

test('an RPC node that refuses traces, or does not answer them, still reports the rest', async () => {
  const hash = await call('splitter', 'split', [bob, carol], 10n);
  await chain.mined(hash);
  const node = await startFalseNode(chain.url);
  const client = clientFor(anvilChain(), [node.url]);
  const error = { code: -32601, message: 'the method debug_traceTransaction does not exist' };
  for (const rule of [{ error }, 'cut'] as const) {
    node.follow((method) => (method === 'debug_traceTransaction' ? rule : 'forward'));
    const seen = await client.activity(hash, null);
    expect(seen.ok ? lines(seen.value) : seen).toEqual(['top alice>splitter 10']);
    expect(seen).toMatchObject({ value: { isUntraced: true, untracedBy: [new URL(node.url).host] } });
  }
  await node.stop();
});

test('payments by contracts to the caller are found by the last scan if the first one could not trace', async () => {
  const hash = await call('splitter', 'split', [alice, carol], 10n);
  await chain.mined(hash);
  const node = await startFalseNode(chain.url);
  const client = clientFor(anvilChain(), [node.url]);
  const observation = async (inclusion: Inclusion | null, untraced: 'cut' | 'forward') => {
    node.follow((method) => (method === 'debug_traceTransaction' ? untraced : 'forward'));
    const newest = { payload: '0x', validUntil: null };
    const seen = await client.observe({ from: alice, nonce: 0n, hashes: [hash], newest, inclusion });
    if (!seen.ok || seen.value.type !== 'included') throw new Error('it is mined');
    return seen.value.inclusion;
  };
  const units = ({ changes }: Inclusion) => changes.map((change) => change.units);
  const first = await observation(null, 'cut');
  expect(units(first)).toEqual(['-10']);
  // A scan between the first and the last one does not trace.
  expect(units(await observation(first, 'forward'))).toEqual(['-10']);
  await chain.client.mine({ blocks: 64 });
  const last = await observation(first, 'forward');
  expect([last.finalized, units(last)]).toEqual([true, ['-5']]);
  expect(units(await observation({ ...last, finalized: false }, 'cut'))).toEqual(['-5']);
  await node.stop();
});

test('a payment by a contract that one RPC node alone states is proven by the balances of the other one', async () => {
  const hash = await call('splitter', 'split', [bob, carol], 10n);
  await chain.mined(hash);
  const node = await startFalseNode(chain.url);
  const internal = (seen: readonly { readonly uid: string }[]) => seen.map(({ uid }) => uid);
  for (const order of [
    [node.url, chain.url],
    [chain.url, node.url],
  ]) {
    const client = clientFor(anvilChain(), order);
    const claimOf = async () => {
      const seen = await minedFrom(client, hash);
      const { movements, claim } = seen;
      const proven = await client.provenClaim(seen, [bob, carol]);
      return { movements: internal(movements), claimed: internal(claim?.movements ?? []), proven: internal(proven) };
    };
    node.follow(() => 'forward');
    expect(await claimOf()).toEqual({ movements: ['top', 'trace:0', 'trace:1'], claimed: [], proven: [] });
    node.follow((method) => (method === 'debug_traceTransaction' ? { error: REFUSED } : 'forward'));
    expect(await claimOf()).toMatchObject({
      movements: ['top'],
      claimed: ['trace:0', 'trace:1'],
      proven: ['trace:0', 'trace:1'],
    });
    // A false trace, and no balance that changed by it.
    const paying = { type: 'CALL', from: splitter, to: bob, value: '0x3635c9adc5dea00000', input: '0x' };
    const calls = [paying, paying, paying];
    const lie = { type: 'CALL', from: alice, to: splitter, value: '0xa', input: '0x', calls };
    node.follow((method) => (method === 'debug_traceTransaction' ? { result: lie } : 'forward'));
    // Both nodes trace, and differ.
    expect(await claimOf()).toEqual({ movements: ['top'], claimed: [], proven: [] });
    // Without the state before the block nothing is proven.
    node.follow((method) =>
      method === 'eth_getBalance' || method === 'debug_traceTransaction' ? { error: REFUSED } : 'forward',
    );
    expect((await claimOf()).proven).toEqual([]);
  }
  await node.stop();
});

test('a false trace is not proven when the balance did not change by its amount', async () => {
  const [liar, untraced] = [await startFalseNode(chain.url), await startFalseNode(chain.url)];
  const hash = await call('splitter', 'split', [bob, carol], 10n);
  await chain.mined(hash);
  untraced.follow((method) => (method === 'debug_traceTransaction' ? { error: REFUSED } : 'forward'));
  const proven = async (wei: bigint) => {
    const paying = { type: 'CALL', from: splitter, to: bob, value: `0x${wei.toString(16)}`, input: '0x' };
    const trace = { type: 'CALL', from: alice, to: splitter, value: '0xa', input: '0x', calls: [paying] };
    liar.follow((method) => (method === 'debug_traceTransaction' ? { result: trace } : 'forward'));
    const client = clientFor(anvilChain(), [liar.url, untraced.url]);
    return (await client.provenClaim(await minedFrom(client, hash), [bob])).map(({ amount }) => amount);
  };
  // The contract paid Bob 5 wei.
  expect([await proven(4n), await proven(5n), await proven(6n)]).toEqual([[], ['5'], []]);
  await liar.stop();
  await untraced.stop();
});

test('a false trace is not proven by a payment of the same block, in whatever order the nodes are configured', async () => {
  const [liar, untraced] = [await startFalseNode(chain.url), await startFalseNode(chain.url)];
  await chain.client.setAutomine(false);
  const terms = { account: alice, chain: null, value: 1_000n } as const;
  const [stranger, deposit] = [
    await chain.client.sendTransaction({ ...terms, to: carol }),
    await chain.client.sendTransaction({ ...terms, to: bob }),
  ];
  await chain.client.mine({ blocks: 1 });
  await chain.client.setAutomine(true);
  await chain.mined(deposit);
  untraced.follow((method) => (method === 'debug_traceTransaction' ? { error: REFUSED } : 'forward'));
  // The stranger's transaction is said to pay the wallet what the deposit paid.
  const paying = { type: 'CALL', from: carol, to: bob, value: '0x3e8', input: '0x' };
  const lie = { type: 'CALL', from: alice, to: carol, value: '0x3e8', input: '0x', calls: [paying] };
  liar.follow((method) => (method === 'debug_traceTransaction' ? { result: lie } : 'forward'));
  for (const order of [
    [liar.url, untraced.url],
    [untraced.url, liar.url],
  ]) {
    const client = clientFor(anvilChain(), order);
    const seen = await minedFrom(client, stranger);
    expect(seen.claim?.movements.map(({ uid }) => uid)).toEqual(['trace:0']);
    expect(await client.provenClaim(seen, [bob])).toEqual([]);
  }
  await liar.stop();
  await untraced.stop();
});

const REFUSED = { code: -32601, message: 'the method does not exist' };
