import type { Address, Blockhash } from '@solana/kit';
import { address } from '@solana/kit';
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import { seededAddress } from '#chains/solana/rules/address.ts';
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system';

/**
 * What limits the bytes of an intent to one execution, however many attempts are signed.
 *
 * - `nonce`: a durable nonce. The account's value is the lifetime of the bytes, and every execution
 *   with it changes the value, even a failed one. It does not expire.
 * - `opening`: the wallet has no nonce account in this slot yet, so the bytes open it, and expire
 *   with their blockhash. An account is opened once: of two attempts that open the same one the
 *   second fails as a whole.
 *
 * Attempts that differ only in a blockhash could both be executed. A co-signer, which reads no
 * chain, could not distinguish an honest coordinator that signs again after an expiry from one that
 * tries to pay twice.
 */
export type DurableNonce =
  | { readonly kind: 'nonce'; readonly nonceSlot: number; readonly value: string }
  | {
      readonly kind: 'opening';
      readonly nonceSlot: number;
      readonly blockhash: Blockhash;
      /** Lamports that the account must hold permanently. */
      readonly rent: bigint;
    };

/** The terms of a message that the intent does not determine. */
export interface Terms {
  readonly anchor: DurableNonce;
  /** Compute units. */
  readonly unitLimit: number;
  /** Millionths of a lamport for each unit. */
  readonly unitPrice: bigint;
  /** Null for SOL. */
  readonly token: TokenTerms | null;
}

export interface TokenTerms {
  readonly decimals: number;
  /** True when the recipient has no account for the token yet: the wallet pays for one. */
  readonly opensAccount: boolean;
  /** The account of the wallet that the units are spent from; absent for the associated one. */
  readonly source?: Address;
  /**
   * The units of the amount that Token-2022 withholds from the recipient, which its program
   * compares; absent for a token of the first token program.
   */
  readonly withheld?: bigint;
}

/**
 * The second token program. Its tokens can withhold a fee of each payment, call other programs, and
 * refuse.
 */
export const TOKEN_2022 = address('TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb');

export function programOf({ withheld }: Pick<TokenTerms, 'withheld'>): Address {
  return withheld === undefined ? TOKEN_PROGRAM_ADDRESS : TOKEN_2022;
}

/** The maximum number of payments of one wallet in flight at once. Further ones wait. */
export const NONCE_SLOTS = 16;

/** Lamports for the one signature. */
export const SIGNATURE_FEE = 5_000n;

/**
 * Lamports that a token account (165 bytes) holds permanently, so that it is not removed; the same
 * on every cluster.
 */
const TOKEN_ACCOUNT_RENT = 2_039_280n;

/**
 * The same for Token-2022, whose mints add parts to the accounts of their tokens. These are the 191
 * bytes of an account with every part that the program adds by itself: immutable owner, withheld
 * fees, hook and pause.
 */
const TOKEN_2022_ACCOUNT_RENT = 2_220_240n;

/** Returns the lamports that a payment spends at most on a token account of the recipient. */
export function accountRentOf(token: TokenTerms | null): bigint {
  if (token?.opensAccount !== true) return 0n;
  return token.withheld === undefined ? TOKEN_ACCOUNT_RENT : TOKEN_2022_ACCOUNT_RENT;
}

/** Prices are millionths of a lamport. */
export const MICRO = 1_000_000n;

/** Returns the nonce account of a wallet's nonce slot. */
export function nonceAccountOf(wallet: Address, slot: number): Address {
  return seededAddress(wallet, nonceSeed(slot), SYSTEM_PROGRAM_ADDRESS);
}

export function nonceSeed(slot: number): string {
  return `conclave-nonce-${slot}`;
}

/**
 * Returns the maximum that the bytes can make the wallet pay besides the sent amount, in lamports.
 */
export function costOf({ anchor, unitLimit, unitPrice, token }: Terms): bigint {
  const priority = (BigInt(unitLimit) * unitPrice + MICRO - 1n) / MICRO;
  const opened = anchor.kind === 'opening' ? anchor.rent : 0n;
  return SIGNATURE_FEE + priority + opened + accountRentOf(token);
}
