import type { Address, Blockhash } from '@solana/kit';
import { seededAddress } from '#chains/solana/rules/address.ts';
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system';

/**
 * What makes the bytes of an intent be carried out at most once, however many attempts are signed.
 *
 * - `nonce`: a durable nonce (the account's value is the lifetime of the bytes, and whatever is carried out with it, even in vain, changes
 *   it). It waits as long as it takes.
 * - `opening`: the wallet has no nonce account in this place yet, so the bytes open it, and live as long as their blockhash. An account is
 *   opened once: of two attempts that open the same one the second fails as a whole.
 *
 * Attempts that differ only in a blockhash could both be carried out, and a co-signer, which sees no chain, could not tell an honest
 * coordinator that signs again after an expiry from one that wants to pay twice.
 */
export type DurableNonce =
  | { readonly kind: 'nonce'; readonly nonceSlot: number; readonly value: string }
  | {
      readonly kind: 'opening';
      readonly nonceSlot: number;
      readonly blockhash: Blockhash;
      /** Lamports that the account has to hold, for good. */
      readonly rent: bigint;
    };

/** What the bytes of an intent say besides the intent. */
export interface Terms {
  readonly anchor: DurableNonce;
  /** Compute units. */
  readonly unitLimit: number;
  /** Millionths of a lamport for each. */
  readonly unitPrice: bigint;
  /** Null for SOL. */
  readonly token: TokenTerms | null;
}

export interface TokenTerms {
  readonly decimals: number;
  /** The recipient has no account for it yet: the wallet pays for one. */
  readonly opensAccount: boolean;
  /** The account of the wallet that the units are taken from. Absent for the associated one. */
  readonly source?: Address;
}

/** Payments that may be on their way from one wallet at the same time. More wait. */
export const NONCE_SLOTS = 16;

/** Lamports for the one signature that there is. */
export const SIGNATURE_FEE = 5_000n;

/** Lamports that a token account (165 bytes) holds for good, so that it is not taken away; the same on every cluster. */
export const TOKEN_ACCOUNT_RENT = 2_039_280n;

/** Prices are millionths of a lamport. */
export const MICRO = 1_000_000n;

/** Where a wallet keeps the nonce of a place. */
export function nonceAccountOf(wallet: Address, slot: number): Address {
  return seededAddress(wallet, nonceSeed(slot), SYSTEM_PROGRAM_ADDRESS);
}

export function nonceSeed(slot: number): string {
  return `conclave-nonce-${slot}`;
}

/** The most that the bytes can make the wallet pay besides what they send, in lamports. */
export function costOf({ anchor, unitLimit, unitPrice, token }: Terms): bigint {
  const priority = (BigInt(unitLimit) * unitPrice + MICRO - 1n) / MICRO;
  const opened =
    (anchor.kind === 'opening' ? anchor.rent : 0n) + (token?.opensAccount === true ? TOKEN_ACCOUNT_RENT : 0n);
  return SIGNATURE_FEE + priority + opened;
}
