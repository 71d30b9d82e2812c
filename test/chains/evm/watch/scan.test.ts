import type { Abi, Address, Hex } from 'viem';
import { getAddress } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientFor } from '#chains/clients/client-for.ts';
import type { ChainClient, Scan } from '#chains/chain-client.ts';
import { compile } from '#local/evm/contracts/compile.ts';
import { present } from '../cast.ts';
import type { FalseNode } from '../../false-node.ts';
import { startFalseNode } from '../../false-node.ts';
import type { LocalChain } from '../local-chain.ts';
import { anvilChain, startLocalChain } from '../local-chain.ts';

/**
 * Covers unreported transactions: the scan finds them on the chain itself, however old they are,
 * with few calls.
 */

let chain: LocalChain;
let node: FalseNode;
let alice: Address;
let bob: Address;
let splitter: { readonly address: Address; readonly abi: Abi };
let collection: { readonly address: Address; readonly abi: Abi };
let wallets = 0;

beforeAll(async () => {
  chain = await startLocalChain();
  node = await startFalseNode(chain.url);
  [alice, bob] = [chain.account(0), chain.account(1)];
  const compiled = compile('Movers.sol');
  const deploy = async (name: string) => {
    const { abi, bytecode } = present(compiled.get(name));
    const receipt = await chain.mined(await chain.client.deployContract({ account: alice, abi, bytecode }));
    return { address: getAddress(present(receipt.contractAddress)), abi: abi as Abi };
  };
  [splitter, collection] = [await deploy('Splitter'), await deploy('Collection')];
});
afterAll(async () => {
  await node.stop();
  await chain.stop();
});

/** Returns a wallet without payments, whose transactions anvil's impersonation sends. */
async function newWallet(): Promise<Address> {
  wallets += 1;
  const address = getAddress(`0x${(0xd00d_0000 + wallets).toString(16).padStart(40, '0')}`);
  await chain.client.impersonateAccount({ address });
  return address;
}

async function mined(hash: Promise<Hex>): Promise<Hex> {
  await chain.mined(await hash);
  return hash;
}
const pay = (to: Address, value = 5n, account = alice) =>
  mined(chain.client.sendTransaction({ account, chain: null, to, value }));
const call = (on: typeof splitter, functionName: string, args: readonly unknown[], value = 0n) =>
  mined(chain.client.writeContract({ account: alice, chain: null, ...on, functionName, args, value }));

async function found(
  address: Address,
  since: string | null = null,
  client: ChainClient = chain.chainClient(),
): Promise<Scan> {
  const scan = await client.scan(address, since);
  if (!scan.ok) throw new Error(scan.refusal.detail);
  return scan.value;
}
const lying = () => clientFor(anvilChain(), [node.url]);
const refusing = (method: string) => {
  const error = { code: -32601, message: `the method ${method} does not exist` };
  node.follow((called) => (called === method ? { error } : 'forward'));
};

test('a scan finds native payments, payments by contracts and tokens of one address, and nothing of others', async () => {
  const wallet = await newWallet();
  const ether = 10n ** 18n;
  const hashes = [
    await pay(wallet, ether),
    await call(splitter, 'split', [wallet, bob], 10n),
    await call(collection, 'mint', [wallet, 77n]),
    await call(collection, 'batch', [wallet, [1n], [2n]]),
    await pay(bob, 1n, wallet),
  ];
  await pay(bob);
  await call(splitter, 'fail', [wallet], 10n);
  const scan = await found(wallet);
  expect(new Set(scan.hashes)).toEqual(new Set(hashes));
  expect([scan.untraced, scan.tokens.fromBlock]).toEqual([0, '0']);
});

test('a payment of hundreds of blocks ago is found by bisection, and a quiet wallet needs few calls', async () => {
  const [wallet, quiet] = [await newWallet(), await newWallet()];
  const old = await call(splitter, 'split', [wallet, bob], 10n);
  await chain.client.mine({ blocks: 800 });
  const fresh = await pay(wallet);
  node.follow(() => 'forward');
  const called = async (address: Address) => {
    const before = node.requests.length;
    const scan = await found(address, null, lying());
    const methods = node.requests.slice(before);
    return { scan, states: methods.filter((method) => method === 'eth_getBalance').length };
  };
  const busy = await called(wallet);
  expect(new Set(busy.scan.hashes)).toEqual(new Set([old, fresh]));
  expect(busy.states).toBeLessThan(40);
  expect((await called(quiet)).states).toBe(2);
});

test('blocks in which balances and records already agree are not scanned again', async () => {
  const wallet = await newWallet();
  await pay(wallet);
  const agreed = await chain.client.getBlockNumber();
  await chain.client.mine({ blocks: 10 });
  const later = await pay(wallet);
  const minted = await call(collection, 'mint', [wallet, 5n]);
  const scan = await found(wallet, agreed.toString());
  expect(new Set(scan.hashes)).toEqual(new Set([later, minted]));
  expect([scan.tokens.fromBlock, scan.payments.fromBlock]).toEqual([
    (agreed + 1n).toString(),
    (agreed + 1n).toString(),
  ]);
});

test('two payments in one block are both found, and an incoming and an equal outgoing amount are found by the fee', async () => {
  const wallet = await newWallet();
  await pay(wallet, 10n ** 18n);
  const from = await chain.client.getBlockNumber();
  await chain.client.setAutomine(false);
  const both = [
    await chain.client.sendTransaction({ account: alice, chain: null, to: wallet, value: 1n }),
    await chain.client.sendTransaction({ account: bob, chain: null, to: wallet, value: 2n }),
  ];
  await chain.client.mine({ blocks: 1 });
  await chain.client.setAutomine(true);
  const back = await pay(bob, 3n, wallet);
  expect(new Set((await found(wallet, from.toString())).hashes)).toEqual(new Set([...both, back]));
});

test('an RPC node without traces shows direct payments, and the scan reports how many blocks have untraced ones', async () => {
  const wallet = await newWallet();
  const [direct, minted] = [await pay(wallet), await call(collection, 'mint', [wallet, 78n])];
  await call(splitter, 'split', [wallet, bob], 10n);
  refusing('debug_traceBlockByNumber');
  const scan = await found(wallet, null, lying());
  expect([new Set(scan.hashes), scan.untraced]).toEqual([new Set([direct, minted]), 2]);
});

test('an RPC node without old state is scanned for payments in its newest blocks, and the scan reports the range', async () => {
  const wallet = await newWallet();
  await pay(wallet);
  await chain.client.mine({ blocks: 200 });
  const fresh = await pay(wallet);
  const head = await chain.client.getBlockNumber();
  node.follow((method, [, tag]) => {
    const isOld = method === 'eth_getBalance' && BigInt(String(tag)) < head - 128n;
    return isOld ? { error: { code: -32000, message: 'missing trie node' } } : 'forward';
  });
  const scan = await found(wallet, null, lying());
  expect([scan.hashes, scan.payments.fromBlock]).toEqual([[fresh], (head - 99n).toString()]);
});

test('a wallet with more changes than one scan reads is covered from the newest of them that is left out', async () => {
  const wallet = await newWallet();
  const since = await chain.client.getBlockNumber();
  await chain.client.mine({ blocks: 700 });
  const head = await chain.client.getBlockNumber();
  const read = new Set<bigint>();
  // The balance changes in each block.
  node.follow((method, [, tag]) => {
    if (method === 'debug_traceBlockByNumber') return { result: [] };
    if (method !== 'eth_getBalance') return 'forward';
    read.add(BigInt(String(tag)));
    return { result: String(tag) };
  });
  const { requested, payments } = await found(wallet, since.toString(), lying());
  const from = BigInt(payments.fromBlock);
  expect([requested.fromBlock, payments.toBlock]).toEqual([(since + 1n).toString(), head.toString()]);
  expect([from > since + 1n, from < head]).toEqual([true, true]);
  for (let block = from; block <= head; block++) expect(read).toContain(block);
  const older = Array.from({ length: Number(from - since) - 1 }, (_, i) => since + 1n + BigInt(i));
  expect(older.some((block) => !read.has(block))).toBe(true);
});

test('an RPC node without any state shows tokens, and no block is scanned for payments', async () => {
  const wallet = await newWallet();
  const minted = await call(collection, 'mint', [wallet, 79n]);
  const head = await chain.client.getBlockNumber();
  node.follow((method, [, tag]) => {
    const isOld = method === 'eth_getBalance' && BigInt(String(tag)) < head;
    return isOld ? { error: { code: -32000, message: 'missing trie node' } } : 'forward';
  });
  const scan = await found(wallet, null, lying());
  expect([scan.hashes, scan.payments.fromBlock]).toEqual([[minted], (head + 1n).toString()]);
});

test.each(['eth_getLogs', 'eth_getBalance', 'eth_getBlockByNumber'])(
  'a scan fails when the RPC node does not answer %s, and is repeated later',
  async (method) => {
    const wallet = await newWallet();
    await pay(wallet);
    node.follow((called) => (called === method ? 'cut' : 'forward'));
    expect((await lying().scan(wallet, null)).ok).toBe(false);
  },
);
