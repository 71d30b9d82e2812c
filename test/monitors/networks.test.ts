import { expect, test } from 'vitest';
import { BUILT_IN_CHAINS } from '#chains/families/built-in-chains.ts';
import { monitorOf } from '#monitors/endpoint.ts';
import { NETWORKS } from '#monitors/networks.ts';

/** Covers the names of providers for chains. The compiler requires names for each of NETWORKS. */

const HASH = `0x${'ab'.repeat(32)}`;
const isLocal = (name: string) => name === 'anvil' || name.endsWith('-local') || name.endsWith('-regtest');

test('the monitors know every built-in chain except the local ones', () => {
  const known = BUILT_IN_CHAINS.filter(({ name }) => !isLocal(name)).map(({ name, caip2 }) => [name, caip2]);
  expect(Object.entries(NETWORKS)).toEqual(known);
});

/** Returns the chain of the only hint that a body gives. */
function chainIn(provider: string, body: unknown): string {
  const { hints = [] } = monitorOf(provider)?.read(body) ?? {};
  return hints.map(({ chain }) => BUILT_IN_CHAINS.find(({ caip2 }) => caip2 === chain)?.name ?? chain).join();
}

test.each([
  ['ETH_MAINNET', 'ethereum'],
  ['BASE_MAINNET', 'base'],
  ['ARB_MAINNET', 'arbitrum'],
  ['OPT_MAINNET', 'optimism'],
  ['MATIC_MAINNET', 'polygon'],
  ['POLYGON_MAINNET', 'polygon'],
  ['BNB_MAINNET', 'bsc'],
  ['AVAX_MAINNET', 'avalanche'],
  ['LINEA_MAINNET', 'linea'],
  ['SCROLL_MAINNET', 'scroll'],
  ['GNOSIS_MAINNET', 'gnosis'],
  ['UNICHAIN_MAINNET', 'unichain'],
  ['PLASMA_MAINNET', 'plasma'],
  ['HYPERLIQUID_MAINNET', 'hyperevm'],
  ['ETH_SEPOLIA', 'ethereum-sepolia'],
  ['BASE_SEPOLIA', 'base-sepolia'],
  ['eth-mainnet', 'ethereum'],
])('the Alchemy network %s is the chain %s', (network, chain) => {
  expect(chainIn('alchemy', { event: { network, activity: [{ hash: HASH }] } })).toBe(chain);
});

test.each([
  ['ethereum-mainnet', 'ethereum'],
  ['base-mainnet', 'base'],
  ['arbitrum-mainnet', 'arbitrum'],
  ['optimism-mainnet', 'optimism'],
  ['polygon-mainnet', 'polygon'],
  ['matic-mainnet', 'polygon'],
  ['bnbchain-mainnet', 'bsc'],
  ['bsc-mainnet', 'bsc'],
  ['avalanche-mainnet', 'avalanche'],
  ['avalanchec-mainnet', 'avalanche'],
  ['linea-mainnet', 'linea'],
  ['scroll-mainnet', 'scroll'],
  ['gnosis-mainnet', 'gnosis'],
  ['xdai-mainnet', 'gnosis'],
  ['unichain-mainnet', 'unichain'],
  ['plasma-mainnet', 'plasma'],
  ['hyperliquid-mainnet', 'hyperevm'],
  ['hype-mainnet', 'hyperevm'],
  ['ethereum-sepolia', 'ethereum-sepolia'],
  ['base-sepolia', 'base-sepolia'],
  ['eip155:59144', 'linea'],
])('the QuickNode network %s is the chain %s', (network, chain) => {
  expect(chainIn('quicknode', { network, transactions: [{ hash: HASH }] })).toBe(chain);
});

test.each([
  ['solana-mainnet', 'solana', { signature: '5'.repeat(88) }],
  ['solana-devnet', 'solana-devnet', { transaction: { signatures: ['5'.repeat(88), '4'.repeat(88)] } }],
  ['bitcoin-mainnet', 'bitcoin', { txid: 'ab'.repeat(32), hash: 'cd'.repeat(32) }],
  ['bitcoin-testnet4', 'bitcoin-testnet4', { txid: 'ab'.repeat(32) }],
])('the QuickNode network %s is the chain %s, with its own names of fields', (network, chain, row) => {
  expect(chainIn('quicknode', { network, transactions: [row] })).toBe(chain);
});

test('the network of a QuickNode delivery is that of the row, of the block, of its metadata, or its chain id', () => {
  const rows = { transactions: [{ hash: HASH }] };
  expect(chainIn('quicknode', { chain: 'avalanchec-mainnet', ...rows })).toBe('avalanche');
  expect(chainIn('quicknode', { data: [rows], metadata: { network: 'base-mainnet' } })).toBe('base');
  expect(chainIn('quicknode', [[{ network: 'base-mainnet', receipts: [{ transactionHash: HASH }] }]])).toBe('base');
  expect(chainIn('quicknode', { matchingTransactions: [{ hash: HASH, chainId: '0xe708' }] })).toBe('linea');
  const event = { network: 'ethereum-mainnet', txHash: HASH };
  expect(chainIn('quicknode', { network: 'base-mainnet', events: [event] })).toBe('ethereum');
});

test.each(BUILT_IN_CHAINS.filter(({ family }) => family === 'evm').map(({ name, caip2 }) => [name, caip2] as const))(
  'Moralis names %s by its chain id',
  (name, caip2) => {
    const chainId = `0x${BigInt(caip2.slice('eip155:'.length)).toString(16)}`;
    expect(chainIn('moralis', { chainId, txs: [{ hash: HASH }] })).toBe(name);
  },
);
