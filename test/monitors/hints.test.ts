import { expect, test } from 'vitest';
import { monitorOf } from '#monitors/endpoint.ts';
import { field } from '#monitors/monitor.ts';
import { CASES } from './cases.ts';

/**
 * Covers the hints in deliveries. The shapes are those of the providers; the values are made up.
 */

const HASH = `0x${'ab'.repeat(32)}`;
const OTHER = `0x${'cd'.repeat(32)}`;
const hints = (provider: string, body: unknown) =>
  monitorOf(provider)
    ?.read(body)
    .hints.map(({ chain, hash }) => `${chain} ${hash}`);

test('a Standard Webhooks delivery gives its hints', () => {
  const activity = {
    type: 'chain.activity',
    timestamp: 'x',
    data: { chain: 'eip155:31337', txHash: HASH.toUpperCase().replace('0X', '0x') },
  };
  expect(hints('standard-webhooks', activity)).toEqual([`eip155:31337 ${HASH}`]);
  expect(hints('standard-webhooks', { ...activity, type: 'other' })).toEqual([`eip155:31337 ${HASH}`]);
});

test('the rows of one transaction in an Alchemy delivery give one hint, and a log gives its transaction hash', () => {
  const event = {
    network: 'BASE_MAINNET',
    activity: [
      { hash: HASH, category: 'external', value: 0 },
      { hash: HASH, category: 'token', erc721TokenId: null },
      { contractAddress: '0x1', log: { transactionHash: OTHER, removed: true } },
      { category: 'token' },
    ],
  };
  expect(hints('alchemy', { id: 'whevt_1', type: 'ADDRESS_ACTIVITY', event })).toEqual([
    `eip155:8453 ${HASH}`,
    `eip155:8453 ${OTHER}`,
  ]);
  expect(hints('alchemy', { event: { ...event, network: 'MARS_MAINNET' } })).toEqual([]);
});

test('an Alchemy delivery reports when Alchemy has omitted some activity', () => {
  const body = { event: { network: 'ETH_MAINNET', error: { message: 'capacity' } } };
  expect(monitorOf('alchemy')?.read(body)).toEqual({
    hints: [],
    alarm: 'The delivery omits activity.',
    unread: null,
  });
});

test('a QuickNode delivery with one block or several gives its hints', () => {
  const block = { network: 'ethereum-mainnet', transactions: [{ hash: HASH }, { hash: '0x12' }] };
  expect(hints('quicknode', block)).toEqual([`eip155:1 ${HASH}`]);
  expect(hints('quicknode', [block, { ...block, network: 'base-mainnet' }])).toEqual([
    `eip155:1 ${HASH}`,
    `eip155:8453 ${HASH}`,
  ]);
});

test('every list of a Moralis block gives hints, and the test delivery of a new stream gives none', () => {
  const lists = {
    txs: [{ hash: HASH }],
    erc20Transfers: [{ transactionHash: OTHER }],
    logs: [{ transactionHash: OTHER }],
  };
  for (const list of ['txsInternal', 'logs', 'erc20Transfers', 'erc20Approvals', 'nftTransfers', 'nftTokenApprovals']) {
    const alone = { chainId: '0x89', [list]: [{ transactionHash: OTHER, hash: HASH }] };
    expect([list, hints('moralis', alone)]).toEqual([list, [`eip155:137 ${OTHER}`]]);
  }
  expect(hints('moralis', { chainId: '0x89', confirmed: false, ...lists })).toEqual([
    `eip155:137 ${HASH}`,
    `eip155:137 ${OTHER}`,
  ]);
  expect(hints('moralis', { chainId: '', confirmed: true, txs: [], logs: [] })).toEqual([]);
});

test('Moralis gives hints on the main networks of Solana and Bitcoin, and a Bitcoin payment has its txid', () => {
  const [signature, txid] = ['5'.repeat(88), 'ab'.repeat(32)];
  const solana = { chainId: 'x', network: ['mainnet'], transactions: [{ signature, fee: '5000' }] };
  const bitcoin = { chainId: 'x', network: ['mainnet'], transactions: [{ txid, hash: 'cd'.repeat(32) }] };
  expect(hints('moralis', solana)).toEqual([`solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp ${signature}`]);
  expect(hints('moralis', bitcoin)).toEqual([`bip122:000000000019d6689c085ae165831e93 ${txid}`]);
  expect(hints('moralis', { ...bitcoin, network: ['testnet'] })).toEqual([]);
  expect(hints('moralis', { ...bitcoin, network: ['signet'] })).toEqual([
    `bip122:00000008819873e925422c1ff0f99f7c ${txid}`,
  ]);
  expect(hints('moralis', { ...solana, network: 'devnet' })).toEqual([
    `solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1 ${signature}`,
  ]);
});

test('QuickNode gives hints on Solana and Bitcoin', () => {
  // Solana addresses are case-sensitive.
  const [signature, txid] = ['5kR'.repeat(29), 'ab'.repeat(32)];
  expect(hints('quicknode', { network: 'solana-mainnet', transactions: [{ signature }] })).toEqual([
    `solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp ${signature}`,
  ]);
  const bitcoin = { network: 'bitcoin-mainnet', transactions: [{ txid, hash: 'cd'.repeat(32) }] };
  expect(hints('quicknode', bitcoin)).toEqual([`bip122:000000000019d6689c085ae165831e93 ${txid}`]);
  expect(hints('quicknode', { network: 'solana-devnet', transactions: [{ signature }] })).toEqual([
    `solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1 ${signature}`,
  ]);
});

test('enhanced and raw Helius deliveries give their hints', () => {
  const signature = '5'.repeat(88);
  const chain = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
  expect(hints('helius', [{ signature, type: 'TRANSFER' }])).toEqual([`${chain} ${signature}`]);
  const raw = [{ transaction: { signatures: [signature] }, meta: {} }];
  expect(hints('helius', raw)).toEqual([`${chain} ${signature}`]);
  expect(hints('helius-devnet', raw)).toEqual([`solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1 ${signature}`]);
});

test.each(Object.keys(CASES))('the parser of %s accepts any body without an exception', (provider) => {
  const odd: readonly unknown[] = [
    null,
    1,
    'x',
    [],
    {},
    [[]],
    [null],
    { event: null },
    { event: { activity: 'x' } },
    { event: { network: 'ETH_MAINNET', activity: [null, 1, { hash: {} }] } },
    { data: [] },
    { type: 'chain.activity' },
    { type: 'chain.activity', data: { chain: {}, txHash: [] } },
    { transactions: {} },
    { chainId: '0x1', txs: {} },
    { chainId: ['0x1'], txs: [{ hash: HASH }] },
    { chainId: `0x${'f'.repeat(400)}`, txs: [{ hash: HASH }] },
    JSON.parse('{"__proto__":{"type":"chain.activity"}}'),
  ];
  for (const body of odd) expect([body, hints(provider, body)]).toEqual([body, []]);
});

test('every other monitor name is refused', () => {
  expect([monitorOf('infura'), monitorOf('__proto__'), monitorOf('toString')]).toEqual([null, null, null]);
});

test('a field that was not sent is absent, even if every object inherits a property of its name', () => {
  const sent: object = { hash: HASH };
  expect(field(sent, 'hash')).toBe(HASH);
  expect([field(Object.create(sent), 'hash'), field({}, 'constructor'), field('x', 'length')]).toEqual(
    Array.from({ length: 3 }),
  );
});

test.each(Object.entries(CASES))(
  'a delivery of %s gives its hints, and the id that its scheme includes',
  (provider, monitor) => {
    const { idHeader, sample } = monitor;
    expect(hints(provider, sample.body)).toEqual(sample.hints);
    expect(monitorOf(provider)?.idHeader).toBe(idHeader);
  },
);
