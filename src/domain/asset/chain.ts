import { unreachable } from '#domain/result.ts';

/** What the domain knows of a chain; addresses of nodes and adapters live in `chains/`. */
export type ChainFamily = 'evm' | 'solana' | 'bitcoin';

/**
 * The signature scheme of a key: ECDSA by DKLs23, Ed25519 and BIP-340 by FROST. One key generation per vault and scheme, never one key in
 * two.
 */
export const KEY_SCHEMES = ['ecdsa-secp256k1', 'frost-ed25519', 'frost-secp256k1-tr'] as const;
export type KeyScheme = (typeof KEY_SCHEMES)[number];

/** A token that the operator vouches for: it is never taken for spam, and what only looks like it is. */
export interface ListedToken {
  /** In canonical spelling. */
  readonly address: string;
  readonly symbol: string;
  readonly decimals: number;
  /** Money by itself: a wrapped coin, a stablecoin. What is paid with it is bought. */
  readonly isCash: boolean;
}

export interface Chain {
  /** Canonical name, as it stands in every answer. */
  readonly name: string;
  /** CAIP-2, accepted on input as an alias. What is signed follows from it: of EVM the chain id. */
  readonly caip2: string;
  readonly family: ChainFamily;
  readonly nativeSymbol: string;
  readonly nativeDecimals: number;
  /** Blocks, counting the one that holds the transaction, before it is SUCCEEDED. */
  readonly confirmations: number;
  /** How often a transaction in flight is looked at, in milliseconds. */
  readonly pollIntervalMs: number;
  /** The most that one transaction may pay for its inclusion, in the chain's smallest unit. Part of what signers approve. */
  readonly maxFee: string;
  /**
   * Of Bitcoin, in whole satoshi per virtual byte: the largest fee rate, so that the cap of a transaction follows from its size
   * (`feeCapFor`). Absent where `maxFee` alone counts.
   */
  readonly maxFeeRate?: string;
  /**
   * Of Bitcoin, in whole satoshi per virtual byte: the fee rate where no server knows one. Absent where a payment waits for a
   * server that does.
   */
  readonly fallbackFeeRate?: string;
  /** Link to a transaction, with `{hash}`; null for local chains. */
  readonly explorer: string | null;
  readonly tokens: readonly ListedToken[];
  /** Of EVM chains, in wei per gas: less is no tip that validators or mempools take, whatever a node suggests. 0.001 gwei when absent. */
  readonly minTip?: string;
  /**
   * Of EVM chains: so many blocks, counting the one that holds the transaction, count as beyond any reorganisation where the nodes have no
   * `finalized` block. Four times the confirmations when absent.
   */
  readonly finalDepth?: number;
  /** Of EVM chains: how the price of the bytes on Ethereum is asked for. When absent the contract of the OP stack is looked for. */
  readonly dataFee?: DataFeeKind;
  /** Of EVM chains: how gas and tip of a call are asked for. The way of Ethereum when absent. */
  readonly gasEstimate?: GasEstimateKind;
}

/** An honest RPC node is behind the others by less. A block that is further ahead of its newest one is no block of the chain. Ours. */
const MAX_LAG_MS = 60 * 60_000;
/** Blocks of a fast chain for each look at a transaction: more than that come on none. */
const BLOCKS_PER_POLL = 4;
/** Of Bitcoin, in an hour of many blocks, and as many more. A server that was down for hours catches up in minutes. */
const BITCOIN_BLOCKS = 36n;

/** The same in blocks. */
export function maxLagBlocks({ family, pollIntervalMs }: Pick<Chain, 'family' | 'pollIntervalMs'>): bigint {
  return family === 'bitcoin' ? BITCOIN_BLOCKS : BigInt(Math.ceil((BLOCKS_PER_POLL * MAX_LAG_MS) / pollIntervalMs));
}

/** `op-stack` and `scroll`: by a contract that answers for the bytes. `none`: bytes cost nothing but gas. */
export const DATA_FEE_KINDS = ['op-stack', 'scroll', 'none'] as const;
type DataFeeKind = (typeof DATA_FEE_KINDS)[number];

/** `linea`: the tip depends on the bytes, and `linea_estimateGas` gives it. */
export const GAS_ESTIMATE_KINDS = ['linea'] as const;
type GasEstimateKind = (typeof GAS_ESTIMATE_KINDS)[number];

/** Of mainnet, as CAIP-2 names it (namespace bip122): the first 32 hexadecimal characters of its genesis block. */
export const BITCOIN_MAINNET_GENESIS = '000000000019d6689c085ae165831e93';

/**
 * Reports whether a CAIP-2 names a network of Bitcoin other than mainnet. A name in the namespace that is not known here
 * counts as one, so that a key is never used as mainnet's by mistake.
 */
export function isBitcoinTestNetwork(caip2: string): boolean {
  return caip2.startsWith('bip122:') && caip2 !== `bip122:${BITCOIN_MAINNET_GENESIS}`;
}

/** Null for a token that is not listed. */
export function listedToken({ tokens }: Pick<Chain, 'tokens'>, address: string): ListedToken | null {
  return tokens.find((token) => token.address === address) ?? null;
}

/** P2TR (BIP-341) has the cheaper inputs, and P2WPKH (BIP-141) the senders who know no newer address. */
export const BITCOIN_ADDRESS_TYPES = ['p2tr', 'p2wpkh'] as const;
export type BitcoinAddressType = (typeof BITCOIN_ADDRESS_TYPES)[number];

/** Of the wallets of a family in one vault. */
export function keySchemeOf(
  family: ChainFamily,
  { bitcoinAddressType = 'p2tr' }: { readonly bitcoinAddressType?: BitcoinAddressType },
): KeyScheme {
  switch (family) {
    case 'evm':
      return 'ecdsa-secp256k1';
    case 'solana':
      return 'frost-ed25519';
    case 'bitcoin':
      return bitcoinAddressType === 'p2tr' ? 'frost-secp256k1-tr' : 'ecdsa-secp256k1';
    default:
      return unreachable(family);
  }
}
