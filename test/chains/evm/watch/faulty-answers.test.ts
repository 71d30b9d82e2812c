import { getAddress } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientFor } from '#chains/clients/client-for.ts';
import { activityCodec } from '#objects/vault/documents/activity-documents.ts';
import { newActivity } from '#domain/activity/activity.ts';
import { newTransactionId } from '#domain/id.ts';
import { NO_COUNTERPARTIES, NOON_MS, vaultId } from '../../../domain/cast.ts';
import type { FalseNode, Rule } from '../../false-node.ts';
import { startFalseNode } from '../../false-node.ts';
import { anvilChain } from '../local-chain.ts';
import field from './field/trace-shapes.json' with { type: 'json' };
import { showBlockOf } from './one-block-node.ts';

/** Covers answers of a faulty or lying RPC node that have the right form and make no sense. */

let node: FalseNode;

beforeAll(async () => {
  node = await startFalseNode('http://127.0.0.1:1/');
});
afterAll(() => node.stop());

const { vault, transaction, receipt } = field;
const GETH = field.shapes[0]?.result as readonly { readonly result: object }[];
const SHORT = '0x1234';
const HUGE = `0x${'f'.repeat(64)}`;

interface Odd {
  readonly transaction?: object;
  readonly receipt?: object;
  readonly trace?: object;
  readonly head?: string;
}

async function read(odd: Odd, other: (method: string) => Rule | null = () => null) {
  const mined = {
    transaction: { ...transaction, ...odd.transaction },
    receipt: { ...receipt, ...odd.receipt },
    trace: { ...GETH[0]?.result, ...odd.trace },
  };
  const head = odd.head === undefined ? null : { number: odd.head, hash: transaction.blockHash, timestamp: '0x1' };
  const latest = (method: string, [tag]: readonly unknown[]): Rule | null =>
    method === 'eth_getBlockByNumber' && tag === 'latest' && head !== null ? { result: head } : other(method);
  showBlockOf(node, mined, latest);
  return clientFor(anvilChain(), [node.url]).activity(transaction.hash, null);
}

test('a log with an address of another length moves nothing, and hides no other log', async () => {
  const [log] = receipt.logs;
  const seen = await read({ receipt: { logs: [{ ...log, address: SHORT }, log] } });
  if (!seen.ok || seen.value === null) throw new Error('there is no record');
  expect(seen.value.movements.filter(({ kind }) => kind === 'erc20').length).toBe(1);
});

test.each<[string, Odd]>([
  ['a sender of another length', { transaction: { from: SHORT } }],
  ['a recipient of another length', { transaction: { to: SHORT, value: '0x1' } }],
  ['a fee above every amount', { receipt: { effectiveGasPrice: HUGE, gasUsed: HUGE } }],
])('%s is a fault of the RPC node, and ends no job', async (_name, odd) => {
  expect(await read(odd)).toMatchObject({ ok: false });
});

test('a call of a trace with an address of another length is no readable trace', async () => {
  const calls = [{ type: 'CALL', from: SHORT, to: vault, value: '0x1', input: '0x' }];
  expect(await read({ trace: { calls } })).toMatchObject({ ok: true, value: { isUntraced: true } });
});

test('a collectible from before ERC-721 that has a second owner in its transaction has its id', async () => {
  const [log] = receipt.logs;
  if (log === undefined) throw new Error('the receipt has a log');
  const [topic, from] = log.topics;
  const id = `0x${'7'.padStart(64, '0')}`;
  const [broker, owner] = [`0x${'1'.repeat(40).padStart(64, '0')}`, `0x${vault.slice(2).padStart(64, '0')}`];
  const logs = [
    { ...log, topics: [topic, from, broker], data: id },
    { ...log, topics: [topic, broker, owner], data: id, logIndex: '0x63' },
  ];
  const seen = await read({ receipt: { logs } }, (method) => (method === 'eth_call' ? { result: owner } : null));
  if (!seen.ok || seen.value === null) throw new Error('there is no record');
  const held = seen.value.movements.filter(({ tokenAddress }) => tokenAddress !== null);
  expect(held.map(({ kind, tokenId, amount }) => [kind, tokenId, amount])).toEqual([
    ['erc721', '7', '1'],
    ['erc721', '7', '1'],
  ]);
});

test('a head beyond every block leaves a record that can be read', async () => {
  const seen = await read({ head: HUGE });
  if (!seen.ok || seen.value === null) throw new Error('there is no record');
  const chain = anvilChain();
  const identity = { id: newTransactionId(vaultId, NOON_MS, new Uint8Array(10)), vaultId, wallet: getAddress(vault) };
  const valuation = { native: { price: { state: 'unpriced' }, decimals: 18 }, tokens: [] } as const;
  const observed = { seen: seen.value, valuation, chain, acquaintance: NO_COUNTERPARTIES, nowMs: NOON_MS };
  const record = newActivity(identity, observed);
  if (record === null) throw new Error('it concerns the wallet');
  expect(activityCodec.decode(activityCodec.encode(record)).block?.number).toBe(
    BigInt(transaction.blockNumber).toString(),
  );
});
