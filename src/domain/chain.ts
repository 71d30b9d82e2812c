import { unreachable } from '#domain/result.ts';

/** What the domain knows of a chain; addresses of nodes and adapters live in `chains/`. */
export type ChainFamily = 'evm' | 'solana' | 'bitcoin';

/**
 * The signature scheme of a family's keys: ECDSA by DKLs23, Ed25519 and BIP-340 by FROST. One key generation per vault and scheme, never
 * one key in two schemes.
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
  /** Link to a transaction, with `{hash}`; null for local chains. */
  readonly explorer: string | null;
  readonly tokens: readonly ListedToken[];
}

/** Null for a token that is not listed. */
export function listedToken({ tokens }: Pick<Chain, 'tokens'>, address: string): ListedToken | null {
  return tokens.find((token) => token.address === address) ?? null;
}

export function keySchemeOf(family: ChainFamily): KeyScheme {
  switch (family) {
    case 'evm':
      return 'ecdsa-secp256k1';
    case 'solana':
      return 'frost-ed25519';
    case 'bitcoin':
      return 'frost-secp256k1-tr';
    default:
      return unreachable(family);
  }
}
