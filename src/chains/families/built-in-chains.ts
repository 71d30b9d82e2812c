import { GENESIS } from '#chains/bitcoin/rules/network.ts';
import { LISTED_TOKENS } from '#chains/listed-tokens.ts';
import { LOCAL_CLUSTER } from '#chains/solana/rules/cluster.ts';
import type { Chain } from '#domain/asset/chain.ts';

const GWEI = 10n ** 9n;

/**
 * Satoshi per virtual byte. A payment waits above this rate, so a lying server cannot burn more.
 */
export const BITCOIN_MAX_FEE_RATE = 500n;

/** Satoshi: that rate for the 50 UTXOs that one transaction can spend. */
const BITCOIN_MAX_FEE = 1_500_000n;

/** Lamports. */
const SOLANA_MAX_FEE = 20_000_000n;

/**
 * The chains that Conclave supports without configuration.
 *
 * Confirmations: 12 on Ethereum; 5 where one sequencer or a small set orders the blocks. SUCCEEDED
 * is not the end: a transaction is watched until the chain calls its block final, and a reorg
 * before that is reported.
 *
 * The fee cap limits what a lying RPC node or a fee spike can burn. A token transfer is quoted at
 * about 81,000 gas and twice the base fee, so the caps hold up to a base fee of about: Ethereum 300
 * gwei, the rollups 30 gwei, Polygon 30,000 gwei, BSC 60 gwei, Avalanche 3,000 nAVAX, Gnosis and
 * Plasma 6,000 gwei, HyperEVM 120 gwei. Operators change them with CHAINS.
 *
 * Final depths (ours) matter only while an RPC node has no `finalized` block. They are an hour or
 * more on a rollup, whose blocks rest on one sequencer until Ethereum has them. On the other chains
 * they are deeper than any known reorg.
 */
export const BUILT_IN_CHAINS: readonly Chain[] = [
  evm('ethereum', '1', {
    nativeSymbol: 'ETH',
    confirmations: 12,
    pollIntervalMs: 6000,
    maxFee: 50_000_000n * GWEI,
    explorer: 'https://etherscan.io/tx/{hash}',
  }),
  evm('base', '8453', {
    nativeSymbol: 'ETH',
    dataFee: 'op-stack',
    confirmations: 5,
    pollIntervalMs: 2000,
    maxFee: 5_000_000n * GWEI,
    explorer: 'https://basescan.org/tx/{hash}',
  }),
  evm('arbitrum', '42161', {
    nativeSymbol: 'ETH',
    confirmations: 5,
    pollIntervalMs: 1000,
    maxFee: 5_000_000n * GWEI,
    explorer: 'https://arbiscan.io/tx/{hash}',
  }),
  evm('optimism', '10', {
    nativeSymbol: 'ETH',
    dataFee: 'op-stack',
    confirmations: 5,
    pollIntervalMs: 2000,
    maxFee: 5_000_000n * GWEI,
    explorer: 'https://optimistic.etherscan.io/tx/{hash}',
  }),
  // Validators enforce 25 gwei and suggest less. A reorg replaced 157 blocks in February 2023.
  evm('polygon', '137', {
    nativeSymbol: 'POL',
    minTip: 25n * GWEI,
    finalDepth: 256,
    confirmations: 5,
    pollIntervalMs: 2000,
    maxFee: 5_000_000_000n * GWEI,
    explorer: 'https://polygonscan.com/tx/{hash}',
  }),
  // The base fee is zero, so the tip is the whole price.
  evm('bsc', '56', {
    nativeSymbol: 'BNB',
    minTip: GWEI / 20n,
    finalDepth: 64,
    confirmations: 5,
    pollIntervalMs: 2000,
    maxFee: 10_000_000n * GWEI,
    explorer: 'https://bscscan.com/tx/{hash}',
  }),
  evm('avalanche', '43114', {
    nativeSymbol: 'AVAX',
    finalDepth: 64,
    confirmations: 3,
    pollIntervalMs: 2000,
    maxFee: 500_000_000n * GWEI,
    explorer: 'https://snowtrace.io/tx/{hash}',
  }),
  // The tip depends on the bytes, so the RPC node estimates it for each call.
  evm('linea', '59144', {
    nativeSymbol: 'ETH',
    gasEstimate: 'linea',
    dataFee: 'none',
    finalDepth: 1024,
    confirmations: 5,
    pollIntervalMs: 2000,
    maxFee: 5_000_000n * GWEI,
    explorer: 'https://lineascan.build/tx/{hash}',
  }),
  evm('scroll', '534352', {
    nativeSymbol: 'ETH',
    dataFee: 'scroll',
    finalDepth: 1024,
    confirmations: 5,
    pollIntervalMs: 2000,
    maxFee: 5_000_000n * GWEI,
    explorer: 'https://scrollscan.com/tx/{hash}',
  }),
  // The native asset is a dollar: the cap is one dollar. Validators with Nethermind accept nothing
  // below 1 gwei.
  evm('gnosis', '100', {
    nativeSymbol: 'xDAI',
    dataFee: 'none',
    minTip: GWEI,
    finalDepth: 64,
    confirmations: 12,
    pollIntervalMs: 3000,
    maxFee: 1_000_000_000n * GWEI,
    explorer: 'https://gnosisscan.io/tx/{hash}',
  }),
  evm('unichain', '130', {
    nativeSymbol: 'ETH',
    dataFee: 'op-stack',
    finalDepth: 1024,
    confirmations: 5,
    pollIntervalMs: 1000,
    maxFee: 5_000_000n * GWEI,
    explorer: 'https://uniscan.xyz/tx/{hash}',
  }),
  evm('plasma', '9745', {
    nativeSymbol: 'XPL',
    dataFee: 'none',
    finalDepth: 64,
    confirmations: 5,
    pollIntervalMs: 1000,
    maxFee: 1_000_000_000n * GWEI,
    explorer: 'https://plasmascan.to/tx/{hash}',
  }),
  // Blocks for calls of at most two million gas come each second. A call that needs more is refused
  // until the account requests large blocks.
  evm('hyperevm', '999', {
    nativeSymbol: 'HYPE',
    dataFee: 'none',
    finalDepth: 64,
    confirmations: 5,
    pollIntervalMs: 1000,
    maxFee: 20_000_000n * GWEI,
    explorer: 'https://hyperevmscan.io/tx/{hash}',
  }),
  evm('ethereum-sepolia', '11155111', {
    nativeSymbol: 'ETH',
    confirmations: 3,
    pollIntervalMs: 6000,
    maxFee: 100_000_000n * GWEI,
    explorer: 'https://sepolia.etherscan.io/tx/{hash}',
  }),
  evm('base-sepolia', '84532', {
    nativeSymbol: 'ETH',
    dataFee: 'op-stack',
    confirmations: 3,
    pollIntervalMs: 2000,
    maxFee: 100_000_000n * GWEI,
    explorer: 'https://sepolia.basescan.org/tx/{hash}',
  }),
  // Local: with one confirmation a transaction needs no second block, and anvil mines none on its
  // own.
  evm('anvil', '31337', {
    nativeSymbol: 'ETH',
    confirmations: 1,
    pollIntervalMs: 250,
    maxFee: 50_000_000n * GWEI,
    explorer: null,
  }),
  // A block 32 deep is rooted, and no fork can remove it. The cap covers the accounts that a first
  // payment opens (about 3.5 million lamports) and a fast priority fee.
  solana('solana', '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', {
    confirmations: 32,
    pollIntervalMs: 2000,
    explorer: 'https://explorer.solana.com/tx/{hash}',
  }),
  solana('solana-devnet', 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1', {
    confirmations: 32,
    pollIntervalMs: 2000,
    explorer: 'https://explorer.solana.com/tx/{hash}?cluster=devnet',
  }),
  solana('solana-local', LOCAL_CLUSTER, { confirmations: 1, pollIntervalMs: 250, explorer: null }),
  // Three blocks are half an hour of the network's whole work; six count as beyond any reorg.
  bitcoin('bitcoin', GENESIS.mainnet, {
    confirmations: 3,
    pollIntervalMs: 15_000,
    explorer: 'https://mempool.space/tx/{hash}',
  }),
  bitcoin('bitcoin-testnet4', GENESIS.testnet4, {
    confirmations: 3,
    pollIntervalMs: 15_000,
    explorer: 'https://mempool.space/testnet4/tx/{hash}',
  }),
  bitcoin('bitcoin-signet', GENESIS.signet, {
    confirmations: 3,
    pollIntervalMs: 15_000,
    explorer: 'https://mempool.space/signet/tx/{hash}',
  }),
  bitcoin('bitcoin-regtest', GENESIS.regtest, { confirmations: 1, pollIntervalMs: 250, explorer: null }),
];

interface Traits extends Pick<
  Chain,
  'nativeSymbol' | 'confirmations' | 'pollIntervalMs' | 'explorer' | 'finalDepth' | 'dataFee' | 'gasEstimate'
> {
  /** Wei. */
  readonly maxFee: bigint;
  /** Wei per gas. */
  readonly minTip?: bigint;
}

function bitcoin(
  name: string,
  genesis: string,
  traits: Pick<Chain, 'confirmations' | 'pollIntervalMs' | 'explorer'>,
): Chain {
  return {
    name,
    caip2: `bip122:${genesis}`,
    family: 'bitcoin',
    nativeSymbol: 'BTC',
    nativeDecimals: 8,
    ...traits,
    maxFee: BITCOIN_MAX_FEE.toString(),
    maxFeeRate: BITCOIN_MAX_FEE_RATE.toString(),
    tokens: [],
  };
}

function solana(
  name: string,
  cluster: string,
  traits: Pick<Chain, 'confirmations' | 'pollIntervalMs' | 'explorer'>,
): Chain {
  return {
    name,
    caip2: `solana:${cluster}`,
    family: 'solana',
    nativeSymbol: 'SOL',
    nativeDecimals: 9,
    ...traits,
    maxFee: SOLANA_MAX_FEE.toString(),
    tokens: LISTED_TOKENS[name] ?? [],
  };
}

function evm(name: string, chainId: string, { minTip, ...traits }: Traits): Chain {
  return {
    name,
    caip2: `eip155:${chainId}`,
    family: 'evm',
    nativeDecimals: 18,
    ...traits,
    ...(minTip === undefined ? {} : { minTip: minTip.toString() }),
    maxFee: traits.maxFee.toString(),
    tokens: LISTED_TOKENS[name] ?? [],
  };
}
