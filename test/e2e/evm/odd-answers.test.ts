import { readFile } from 'node:fs/promises';
import type { Address, Hex } from 'viem';
import { encodeFunctionData, getAddress, numberToHex, pad, parseAbi } from 'viem';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { BalanceRecord, TransactionRecord } from '#cli/api-client.ts';
import { unwrap } from '#cli/api-client.ts';
import { TRANSFER } from '#chains/evm/rules/transfer-topics.ts';
import { report } from '#local/stack/monitor.ts';
import type { ReadyVault } from '#local/stack/provision.ts';
import { pollUntil } from '#local/stack/poll.ts';
import { anvilClient } from '../../chains/evm/anvil-client.ts';
import { request } from '../../chains/evm/local-chain.ts';
import type { World } from '../world.ts';
import { finished, startWorld } from '../world.ts';

/**
 * Covers tokens that log their transfers in a form of their own, behind two RPC nodes that answer
 * as other clients and providers do. Record, ledger and chain agree in the end.
 */

const TOKEN = parseAbi([
  'function mint(address to, uint256 units)',
  'function become(uint8 mood)',
  'function run(uint256 calls, uint256 size, address to, address token, uint256 units) payable',
]);
const UNITS = 1_000_000n;

let world: World;
let vault: ReadyVault;
let stranger: Address;
let recipient: Address;

beforeAll(async () => {
  world = await startWorld({ hasSecondNode: true });
  vault = await world.vault('treasury');
  stranger = getAddress(await world.chain.account(0));
  recipient = getAddress(await world.chain.account(7));
});
afterAll(() => world.end());
beforeEach(() => {
  for (const gate of [world.gate, world.secondGate]) gate.falsify(null);
});

const client = () => anvilClient(world.chainUrl);
/** An observation may request a rescan, which reads traces of megabytes. A member requests few. */
const OBSERVATION_MS = 1000;
const eventually = <T>(what: string, observation: () => Promise<T | null>) =>
  pollUntil(what, observation, 60_000, OBSERVATION_MS);

async function send(to: Address, data: Hex, value = 0n): Promise<Hex> {
  const hash = await client().sendTransaction({ account: stranger, to, data, value, gas: 25_000_000n });
  await client().mined(hash);
  return hash;
}

const minting = (units: bigint) =>
  encodeFunctionData({ abi: TOKEN, functionName: 'mint', args: [getAddress(vault.address), units] });
const becoming = (mood: number) => encodeFunctionData({ abi: TOKEN, functionName: 'become', args: [mood] });
const running = (calls: bigint, bytes: bigint, token: Address) =>
  encodeFunctionData({ abi: TOKEN, functionName: 'run', args: [calls, bytes, getAddress(vault.address), token, 5n] });

/** Returns a new token; the vault holds twice the payment. */
async function tokenOf(name: string): Promise<Address> {
  const token = getAddress(await world.chain.deploy('OddTokens.sol', name));
  const hash = await send(token, minting(2n * UNITS));
  await report(world.stack().monitor, hash);
  return token;
}

async function proposed(tokenAddress: Address): Promise<string> {
  const { alice } = world.people();
  const order = { vaultId: vault.id, chain: 'anvil', to: recipient, amount: UNITS.toString(), tokenAddress };
  return (await alice.client.transfer(order)).id;
}

async function paid(tokenAddress: Address): Promise<TransactionRecord> {
  const id = await world.approve(await proposed(tokenAddress));
  return finished(world.people().alice, id);
}

async function balances(): Promise<readonly BalanceRecord[]> {
  const param = { vaultId: String(vault.id) };
  const query = { visible: 'all' } as const;
  return (await unwrap(world.people().alice.client.api.vault[':vaultId'].balances.$get({ param, query }))).balances;
}

/** Waits until every balance of the vault is that of the chain, without an adjustment. */
async function agreement(): Promise<void> {
  // Anvil calls a block final that is 64 blocks deep.
  await client().mine({ blocks: 130 });
  await eventually('that the ledger equals the chain', async () => {
    await world.people().alice.client.requestRescan(vault.id);
    const shown = await balances();
    const chain = await Promise.all(
      shown.map(({ asset }) =>
        asset.tokenAddress === null
          ? world.chain.balance(vault.address)
          : world.chain.tokenBalance(asset.tokenAddress, vault.address),
      ),
    );
    const isEqual = shown.every(
      ({ amount, incoming, outgoing }, i) => incoming === '0' && outgoing === '0' && BigInt(amount) === chain[i],
    );
    return isEqual ? true : null;
  });
  expect((await balances()).map(({ adjustment }) => adjustment)).toEqual((await balances()).map(() => null));
}

/** The error of a node that has pruned the state of a block. */
const PRUNED = { error: { code: -32000, message: 'missing trie node' } };

test('a token that logs a burn and a mint is paid once, and the record says so', async () => {
  const token = await tokenOf('BurnMintToken');
  const record = await paid(token);
  expect([record.state, record.stateReason, record.failure]).toEqual(['SUCCEEDED', null, null]);
  expect(await world.chain.tokenBalance(token, recipient)).toBe(UNITS);
  await agreement();
});

test('a payment that a token refuses in its block has failed, and paying again is safe', async () => {
  const token = getAddress(await world.chain.deploy('OddTokens.sol', 'SwitchedToken'));
  const id = await proposed(token);
  const held = world.gate.hold('eth_sendRawTransaction');
  world.secondGate.falsify((method) => (method === 'eth_sendRawTransaction' ? PRUNED : undefined));
  await world.approve(id);
  const sending = await held;
  await send(token, becoming(1));
  // The state before its block shows that the token refuses.
  await client().mine({ blocks: 1 });
  world.secondGate.falsify(null);
  await sending.deliver();
  const record = await finished(world.people().alice, id);
  expect([record.state, record.stateReason]).toEqual(['FAILED', 'TOKEN_NOT_MOVED']);
  expect(record.balanceChanges).toEqual([]);
});

test('a payment whose proof no node can read has succeeded, and asks for a check', async () => {
  const token = await tokenOf('BurnMintToken');
  const id = await proposed(token);
  const held = world.gate.hold('eth_sendRawTransaction');
  world.secondGate.falsify((method) => (method === 'eth_sendRawTransaction' ? PRUNED : undefined));
  await world.approve(id);
  const sending = await held;
  for (const gate of [world.gate, world.secondGate]) {
    gate.falsify((method, [, tag]) => (method === 'eth_call' && tag !== 'latest' ? PRUNED : undefined));
  }
  await sending.deliver();
  const record = await finished(world.people().alice, id);
  expect([record.state, record.stateReason]).toEqual(['SUCCEEDED', 'TRANSFER_NOT_LOGGED']);
  expect(await world.chain.tokenBalance(token, recipient)).toBe(UNITS);
});

interface LogFilter {
  readonly fromBlock?: string;
  readonly toBlock?: string;
}

/** Answers as Erigon behind Infura: rows without hashes, and small ranges of logs. */
async function erigonAnswer(method: string, params: readonly unknown[]): Promise<object | undefined> {
  if (method === 'debug_traceBlockByNumber') {
    const rows = await request(world.chainUrl, method, params);
    return {
      result: (Array.isArray(rows) ? rows : []).map((row: { readonly result?: unknown }) => ({ result: row.result })),
    };
  }
  if (method !== 'eth_getLogs') return undefined;
  const { fromBlock = '0x0', toBlock = '0x0' }: LogFilter = Object(params[0]);
  const isLarge = BigInt(toBlock) - BigInt(fromBlock) > 20n;
  return isLarge ? { error: { code: -32005, message: 'query returned more than 10000 results' } } : undefined;
}

/** Answers as a provider without traces. */
const untracedAnswer = (method: string) =>
  method.startsWith('debug_') ? { error: { code: -32005, message: 'limit exceeded' } } : undefined;

test.each([
  ['Erigon behind a provider with small ranges', erigonAnswer],
  ['a provider without traces', untracedAnswer],
])('%s beside another node: a payment with a trace of megabytes is recorded and found', async (_name, answer) => {
  const payer = getAddress(await world.chain.deploy('Movers.sol', 'BusyPayer'));
  const token = getAddress(await world.chain.deploy('OddTokens.sol', 'BurnMintToken'));
  world.gate.falsify(answer);
  const ether = 10n ** 17n;
  const hash = await send(payer, running(150n, 20_000n, token), ether);
  await report(world.stack().monitor, hash);
  const { alice } = world.people();
  const record = await eventually('the record', async () => {
    const list = await alice.client.transactions(vault.id, { limit: '100' });
    return list.transactions.find(({ txHash }) => txHash === hash) ?? null;
  });
  const amounts = record.balanceChanges.map(({ amount }) => amount);
  expect([record.visible, amounts]).toEqual([true, [ether.toString(), '5']]);
  // No monitor reports the second payment: only the scan can find it.
  const unreported = await send(payer, running(2n, 10n, token), ether);
  await client().mine({ blocks: 130 });
  await eventually('the unreported payment', async () => {
    await alice.client.requestRescan(vault.id);
    const list = await alice.client.transactions(vault.id, { limit: '100' });
    return list.transactions.find(({ txHash }) => txHash === unreported) ?? null;
  });
  await agreement();
});

test.each(['gate', 'secondGate'] as const)(
  'a payment to which one of two nodes (%s) adds tokens is in no list or balance, and is recorded after the lie',
  async (liar) => {
    const token = await tokenOf('BurnMintToken');
    const ether = 10n ** 16n;
    const [to, amount] = [getAddress(vault.address), 10n ** 12n];
    const hash = await client().sendTransaction({ account: stranger, to, value: ether });
    await client().mined(hash);
    world[liar].falsify(async (method, [subject]) => {
      if (method !== 'eth_getTransactionReceipt' || subject !== hash) return undefined;
      const receipt: { readonly blockHash?: Hex; readonly blockNumber?: Hex } = Object(
        await request(world.chainUrl, method, [hash]),
      );
      const { blockHash, blockNumber } = receipt;
      const topics = [TRANSFER, pad(stranger), pad(to)];
      const position = { blockHash, blockNumber, transactionHash: hash, transactionIndex: '0x0', logIndex: '0x0' };
      const log = { address: token, topics, data: numberToHex(amount, { size: 32 }), removed: false, ...position };
      return { result: { ...receipt, logs: [log] } };
    });
    await client().mine({ blocks: 130 });
    await report(world.stack().monitor, hash);
    const { alice } = world.people();
    const recorded = async () => {
      const list = await alice.client.transactions(vault.id, { limit: '100' });
      return list.transactions.find(({ txHash }) => txHash === hash) ?? null;
    };
    // The service has read both nodes, and the log names the one that states the first block.
    await eventually('the claim', async () => {
      const lines = (await readFile(world.stack().logFile, 'utf8')).split('\n');
      return lines.some((line) => line.includes('claim-unproven') && line.includes(hash)) ? true : null;
    });
    expect(await recorded()).toBeNull();
    const held = (await balances()).find(({ asset }) => asset.tokenAddress === token);
    expect(BigInt(held?.amount ?? '0')).toBeLessThan(amount);
    world[liar].falsify(null);
    const honest = await eventually('the truth', async () => {
      await report(world.stack().monitor, hash);
      const record = await recorded();
      return record?.state === 'SUCCEEDED' ? record : null;
    });
    expect(honest.balanceChanges.map((one) => one.amount)).toEqual([ether.toString()]);
    await agreement();
  },
);
