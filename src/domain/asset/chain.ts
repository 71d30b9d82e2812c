import { unreachable } from '#domain/result.ts';

/** The domain's description of a chain. The rules and the clients of chains are in `chains/`. */
export type ChainFamily = 'evm' | 'solana' | 'bitcoin';

/**
 * The signature scheme of a key: ECDSA by DKLs23, Ed25519 and BIP-340 by FROST. There is one key
 * generation for each vault and scheme, and one key is never used in two schemes.
 */
export const KEY_SCHEMES = ['ecdsa-secp256k1', 'frost-ed25519', 'frost-secp256k1-tr'] as const;
export type KeyScheme = (typeof KEY_SCHEMES)[number];

/**
 * A token that the operator vouches for. It is never treated as spam, and a token that imitates it
 * is.
 */
export interface ListedToken {
  /** In canonical spelling. */
  readonly address: string;
  readonly symbol: string;
  readonly decimals: number;
  /**
   * A form of money, such as a wrapped native asset or a stablecoin. A payment with it counts as a
   * purchase.
   */
  readonly isCash: boolean;
}

export interface Chain {
  /** Canonical name, as it appears in every answer. */
  readonly name: string;
  /**
   * CAIP-2, accepted on input as an alias. Signed data is derived from it, such as the chain id of
   * EVM.
   */
  readonly caip2: string;
  readonly family: ChainFamily;
  readonly nativeSymbol: string;
  readonly nativeDecimals: number;
  /**
   * The number of blocks, including the one with the transaction, before the transaction is
   * SUCCEEDED.
   */
  readonly confirmations: number;
  /** The poll interval of a transaction in flight, in milliseconds. */
  readonly pollIntervalMs: number;
  /**
   * The most that one transaction may pay for its inclusion, in the chain's smallest unit. Signers
   * approve it.
   */
  readonly maxFee: string;
  /**
   * Bitcoin: the largest fee rate in whole satoshi per virtual byte, so that the cap of a
   * transaction follows from its size (`feeCapFor`). Absent when `maxFee` alone counts.
   */
  readonly maxFeeRate?: string;
  /**
   * Bitcoin: the fee rate in whole satoshi per virtual byte when no server has an estimate. Absent
   * when a payment waits for such a server.
   */
  readonly fallbackFeeRate?: string;
  /** Link to a transaction, with `{hash}`; null for local chains. */
  readonly explorer: string | null;
  readonly tokens: readonly ListedToken[];
  /**
   * EVM: the lowest tip that validators and mempools accept, in wei per gas, whatever an RPC node
   * suggests. 0.001 gwei when absent.
   */
  readonly minTip?: string;
  /**
   * EVM: the number of blocks, including the one with the transaction, that count as final when the
   * RPC nodes have no `finalized` block. Four times the confirmations when absent.
   */
  readonly finalDepth?: number;
  /**
   * EVM: the source of the price of bytes on Ethereum. When absent, the contract of the OP stack is
   * detected.
   */
  readonly dataFee?: DataFeeKind;
  /** EVM: the method that estimates gas and tip of a call. Ethereum's method when absent. */
  readonly gasEstimate?: GasEstimateKind;
}

/**
 * An honest RPC node lags behind the others by less. A block that is further ahead of its newest
 * one is not a block of the chain. Ours.
 */
const MAX_LAG_MS = 60 * 60_000;
/** The number of blocks of a fast chain in one poll interval. No chain makes more. */
const BLOCKS_PER_POLL = 4;
/**
 * Bitcoin blocks in an hour with many blocks, and as many again. A server that was down for hours
 * catches up in minutes.
 */
const BITCOIN_BLOCKS = 36n;

/** Returns the maximum lag in blocks. */
export function maxLagBlocks({ family, pollIntervalMs }: Pick<Chain, 'family' | 'pollIntervalMs'>): bigint {
  return family === 'bitcoin' ? BITCOIN_BLOCKS : BigInt(Math.ceil((BLOCKS_PER_POLL * MAX_LAG_MS) / pollIntervalMs));
}

/** An RPC node that is behind another one for longer is an alert. Ours. */
const ALERTED_LAG_MS = 10 * 60_000;
const ALERTED_BITCOIN_BLOCKS = 3n;

/** Returns the lag in blocks above which an operator checks an RPC node. */
export function alertedLagBlocks({ family, pollIntervalMs }: Pick<Chain, 'family' | 'pollIntervalMs'>): bigint {
  return family === 'bitcoin' ? ALERTED_BITCOIN_BLOCKS : BigInt(Math.ceil(ALERTED_LAG_MS / pollIntervalMs));
}

/**
 * `op-stack` and `scroll`: a contract returns the price of the bytes. `none`: bytes cost only gas.
 */
export const DATA_FEE_KINDS = ['op-stack', 'scroll', 'none'] as const;
type DataFeeKind = (typeof DATA_FEE_KINDS)[number];

/** `linea`: the tip depends on the bytes, and `linea_estimateGas` returns it. */
export const GAS_ESTIMATE_KINDS = ['linea'] as const;
type GasEstimateKind = (typeof GAS_ESTIMATE_KINDS)[number];

/**
 * Mainnet in CAIP-2 (namespace bip122): the first 32 hexadecimal characters of its genesis block.
 */
export const BITCOIN_MAINNET_GENESIS = '000000000019d6689c085ae165831e93';

/**
 * Reports whether a CAIP-2 names a network of Bitcoin other than mainnet. An unknown name in the
 * namespace counts as one, so that a key is never used as mainnet's by mistake.
 */
export function isBitcoinTestNetwork(caip2: string): boolean {
  return caip2.startsWith('bip122:') && caip2 !== `bip122:${BITCOIN_MAINNET_GENESIS}`;
}

/** Returns the listed token, or null for a token that is not listed. */
export function listedToken({ tokens }: Pick<Chain, 'tokens'>, address: string): ListedToken | null {
  return tokens.find((token) => token.address === address) ?? null;
}

/**
 * P2TR (BIP-341) has cheaper inputs. P2WPKH (BIP-141) works for senders that do not support newer
 * addresses.
 */
export const BITCOIN_ADDRESS_TYPES = ['p2tr', 'p2wpkh'] as const;
export type BitcoinAddressType = (typeof BITCOIN_ADDRESS_TYPES)[number];

/** Returns the key scheme of the wallets of a family in one vault. */
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
