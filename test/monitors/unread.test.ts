import { expect, test } from 'vitest';
import { monitorOf } from '#monitors/endpoint.ts';

/** Covers deliveries that are read in part or not at all, and the general search for hashes. */

const hash = (number: number) => `0x${number.toString(16).padStart(64, '0')}`;
const HASH = `0x${'ab'.repeat(32)}`;
const SIGNATURE = '5kR'.repeat(29);
const TXID = 'ab'.repeat(32);

const read = (provider: string, body: unknown) => {
  const { hints = [], unread } = monitorOf(provider)?.read(body) ?? {};
  return { hints: hints.map((one) => `${one.chain} ${one.hash}`), unread };
};
const alchemy = (type: string, event: object, network = 'ETH_MAINNET') =>
  read('alchemy', { type, event: { network, ...event } });
const nested = (value: unknown, depth: number): unknown => (depth === 0 ? value : [nested(value, depth - 1)]);

test.each<[string, string, unknown, string]>([
  ['an unknown type', 'alchemy', { type: 'GAS_PRICE', event: { network: 'ETH_MAINNET' } }, 'GAS_PRICE ETH_MAINNET'],
  ['an unknown network', 'alchemy', activityOn('MARS_MAINNET'), 'ADDRESS_ACTIVITY MARS_MAINNET'],
  ['no network', 'quicknode', { transactions: [{ hash: HASH }] }, 'object'],
  ['a list of blocks without a network', 'quicknode', [[{ hash: HASH, number: '0x1' }]], 'list'],
  ['another network', 'quicknode', { network: 'tron-mainnet', transactions: [{ hash: HASH }] }, 'tron-mainnet'],
  ['an unknown chain', 'moralis', { chainId: '', txs: [{ hash: HASH }] }, 'object'],
  ['an unknown network', 'moralis', { network: ['moon'], transactions: [{ txid: TXID }] }, 'moon'],
  ['a row without a signature', 'helius', [{ type: 'SWAP', slot: 7 }], 'SWAP'],
  ['a chain that is no CAIP-2', 'standard-webhooks', { type: 'x', data: { chain: 'ether', txHash: HASH } }, 'x'],
  ['no hash', 'standard-webhooks', { type: 'wallet.low', data: { chain: 'eip155:1', balance: '1' } }, 'wallet.low'],
  ['no body', 'standard-webhooks', null, 'null'],
  ['a text', 'moralis', 'x', 'string'],
])('a delivery with %s is reported as unread: %s', (_name, provider, body, unread) => {
  expect(read(provider, body)).toEqual({ hints: [], unread });
});

function activityOn(network: string) {
  return { type: 'ADDRESS_ACTIVITY', event: { network, activity: [{ hash: HASH }] } };
}

test.each<[string, string, unknown]>([
  ['the test of a new stream', 'moralis', { abi: {}, chainId: '', confirmed: true, txs: [], logs: [] }],
  ['a stream of Bitcoin without a payment', 'moralis', { network: ['mainnet'], transactions: [] }],
  ['a block without activity', 'alchemy', { type: 'GRAPHQL', event: { network: 'ETH_MAINNET', data: blockOf([]) } }],
  ['a sample of a network that has ended', 'alchemy', activityOn('MATIC_MUMBAI')],
  ['a block without a match', 'quicknode', { network: 'base-mainnet', transactions: [] }],
  ['no event', 'quicknode', { network: 'base-mainnet', events: [] }],
  ['the test of a destination', 'quicknode', { message: 'PING' }],
  ['an empty list', 'helius', []],
  ['a test', 'standard-webhooks', { type: 'webhook.test', data: {} }],
  ['an empty list', 'standard-webhooks', { type: 'chain.activity', data: [] }],
])('a delivery with %s from %s is read and gives no hint', (_name, provider, body) => {
  expect(read(provider, body)).toEqual({ hints: [], unread: null });
});

function blockOf(logs: readonly unknown[]) {
  return { block: { hash: hash(1), number: 1, logs } };
}

test('a delivery of which one part is not read gives the hints of the others, and is reported', () => {
  const blocks = ['ethereum-mainnet', 'tron-mainnet'].map((network) => ({ network, transactions: [{ hash: HASH }] }));
  expect(read('quicknode', blocks)).toEqual({ hints: [`eip155:1 ${HASH}`], unread: 'tron-mainnet' });
  expect(alchemy('ADDRESS_ACTIVITY', { activity: [{ hash: HASH }, { category: 'token' }] })).toEqual({
    hints: [`eip155:1 ${HASH}`],
    unread: 'ADDRESS_ACTIVITY ETH_MAINNET',
  });
});

test('the fault that a monitor reports about itself is no unread delivery', () => {
  expect(alchemy('ADDRESS_ACTIVITY', { error: { message: 'capacity' } })).toEqual({ hints: [], unread: null });
});

test.each<[string, string, unknown, string]>([
  ['Alchemy', 'alchemy', { type: 'NEW', event: { network: 'OPT_MAINNET', item: { tx: HASH } } }, `eip155:10 ${HASH}`],
  ['QuickNode', 'quicknode', { network: 'linea-mainnet', wallet: { last: [HASH] } }, `eip155:59144 ${HASH}`],
  ['Moralis', 'moralis', { chainId: '0x1', alerts: [{ of: HASH }] }, `eip155:1 ${HASH}`],
  ['Helius', 'helius', [{ event: { sig: SIGNATURE } }], `solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp ${SIGNATURE}`],
  ['an own monitor', 'standard-webhooks', { data: { chain: 'eip155:5', a: { b: HASH } } }, `eip155:5 ${HASH}`],
])(
  'in an unknown form from %s, a text in the form of a hash of the network is a hint',
  (_name, provider, body, hint) => {
    expect(read(provider, body)).toEqual({ hints: [hint], unread: null });
  },
);

test('words of 32 bytes that are no transaction hash by their name give no hint', () => {
  const block = { hash: hash(1), parentHash: hash(2), number: '0x1' };
  const log = { blockHash: hash(3), topics: [hash(4)], data: hash(5), logsBloom: hash(6), stateRoot: hash(7) };
  expect(alchemy('NEW', { data: { block, log } })).toEqual({ hints: [], unread: 'NEW ETH_MAINNET' });
  // The address of a contract is shorter, and a longer text is no hash.
  expect(alchemy('NEW', { a: HASH.slice(0, 42), b: `${HASH}ab`, c: ` ${HASH}`, d: TXID }).hints).toEqual([]);
});

test('the general search finds a thousand hashes at most, and the rest is reported', () => {
  const many = Array.from({ length: 2_000 }, (_, i) => ({ of: hash(i + 1) }));
  const found = alchemy('NEW', { many });
  expect([found.hints.length, found.hints[0], found.unread]).toEqual([1_000, `eip155:1 ${hash(1)}`, 'NEW ETH_MAINNET']);
  expect(alchemy('NEW', { many: many.slice(0, 900) })).toMatchObject({ unread: null });
  // A form that is known has no such limit.
  const activity = many.map(({ of }) => ({ hash: of }));
  expect(alchemy('ADDRESS_ACTIVITY', { activity }).hints).toHaveLength(2_000);
});

test('the general search ends at a depth and after a number of values, and reports that', () => {
  expect(alchemy('NEW', { deep: nested(HASH, 20) }).hints).toHaveLength(1);
  expect(alchemy('NEW', { deep: nested(HASH, 5_000) })).toEqual({ hints: [], unread: 'NEW ETH_MAINNET' });
  const wide = [...Array.from({ length: 400_000 }, () => 0), HASH];
  const startMs = performance.now();
  expect(alchemy('NEW', { wide })).toEqual({ hints: [], unread: 'NEW ETH_MAINNET' });
  // Without the bound on all rows together, each row would start again.
  const rows = Array.from({ length: 200 }, () => ({ wide: wide.slice(0, 2_000) }));
  expect(alchemy('ADDRESS_ACTIVITY', { activity: rows }).unread).toBe('ADDRESS_ACTIVITY ETH_MAINNET');
  expect(performance.now() - startMs).toBeLessThan(2_000);
});

test('hashes in upper case are the same hashes, except on Solana', () => {
  const upper = HASH.toUpperCase();
  expect(alchemy('MINED_TRANSACTION', { transaction: { hash: upper } }).hints).toEqual([`eip155:1 ${HASH}`]);
  expect(alchemy('NEW', { of: upper }).hints).toEqual([`eip155:1 ${HASH}`]);
  const bitcoin = { network: 'bitcoin-mainnet', transactions: [{ txid: TXID.toUpperCase() }] };
  expect(read('quicknode', bitcoin).hints).toEqual([`bip122:000000000019d6689c085ae165831e93 ${TXID}`]);
  const solana = { network: 'solana-mainnet', transactions: [{ signature: SIGNATURE.toUpperCase() }] };
  expect(read('quicknode', solana).hints).toEqual([
    `solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp ${SIGNATURE.toUpperCase()}`,
  ]);
});

test('a hash in the form of another family of chains gives no hint', () => {
  expect(alchemy('ADDRESS_ACTIVITY', { transaction: [{ signature: SIGNATURE }] }).hints).toEqual([]);
  expect(read('quicknode', { network: 'solana-mainnet', transactions: [{ signature: HASH }] }).hints).toEqual([]);
  expect(read('quicknode', { network: 'bitcoin-mainnet', transactions: [{ txid: HASH }] }).hints).toEqual([]);
});

test('the kind of an unread delivery is short and has printable characters only', () => {
  const { unread } = alchemy(`evil\n{"event":"alert"}${'x'.repeat(500)}`, {}, 'A\u202eB\u0000');
  expect(unread).toMatch(/^[\w.:/? -]{1,100}$/u);
  expect(read('standard-webhooks', { type: { a: 1 } }).unread).toBe('object');
});
