import type { Address } from '@solana/kit';
import { getAddressDecoder } from '@solana/kit';
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system';
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import type { Account } from '#chains/solana/client/account-answers.ts';
import { TOKEN_2022 } from '#chains/solana/rules/payment-terms.ts';

/** The programs whose tokens a wallet can hold. Every reader of tokens covers both. */
export const TOKEN_PROGRAMS = [TOKEN_PROGRAM_ADDRESS, TOKEN_2022] as const;

const NONCE_BYTES = 80;
const MINT_BYTES = 82;
const TOKEN_ACCOUNT_BYTES = 165;

/**
 * Token-2022 stores extensions after the base of an account. The byte at the length of a token
 * account then states what the account is. A mint is filled up with zeros to that length.
 */
const MINT_TYPE = 1;
const TOKEN_ACCOUNT_TYPE = 2;
/** The bytes of a token account that state its content, whatever extensions follow. */
export const TOKEN_ACCOUNT_HEAD_BYTES = TOKEN_ACCOUNT_BYTES + 1;
/** Token-2022 never extends an account to this length, which is that of a multisig. */
const MULTISIG_BYTES = 355;

/**
 * A durable nonce as stored in its account: version, state, authority, value, price of a signature.
 */
export interface StoredNonce {
  readonly authority: Address;
  readonly value: Address;
}

/** Returns null for an account that holds no nonce (yet). */
export function storedNonce(account: Account | null): StoredNonce | null {
  if (account?.owner !== SYSTEM_PROGRAM_ADDRESS || account.data.length !== NONCE_BYTES) return null;
  const isInitialised = viewOf(account.data).getUint32(4, true) === 1;
  return isInitialised ? { authority: addressAt(account.data, 8), value: addressAt(account.data, 40) } : null;
}

export interface Mint {
  readonly supply: bigint;
  readonly decimals: number;
}

/** Returns null for an account that is no mint of a token program. */
export function mintIn(account: Account | null): Mint | null {
  if (account === null || !isOfType(account, MINT_TYPE, MINT_BYTES)) return null;
  return { supply: viewOf(account.data).getBigUint64(36, true), decimals: account.data[44] ?? 0 };
}

export interface TokenAccount {
  readonly mint: Address;
  readonly owner: Address;
  /**
   * The units that the owner can spend. What Token-2022 withholds as a fee (`TransferFeeAmount`) is
   * in the account and not in this amount, as in the balances of a transaction.
   */
  readonly units: bigint;
  readonly isFrozen: boolean;
}

/**
 * Returns null for an account that is no token account of a token program. The first
 * `TOKEN_ACCOUNT_HEAD_BYTES` bytes of the account are enough.
 */
export function tokenAccountIn(account: Account | null): TokenAccount | null {
  if (account === null || !isOfType(account, TOKEN_ACCOUNT_TYPE, TOKEN_ACCOUNT_BYTES)) return null;
  const { data } = account;
  return {
    mint: addressAt(data, 0),
    owner: addressAt(data, 32),
    units: viewOf(data).getBigUint64(64, true),
    isFrozen: data[108] === 2,
  };
}

function isOfType({ owner, data }: Account, type: number, bytes: number): boolean {
  if (owner === TOKEN_PROGRAM_ADDRESS) return data.length === bytes;
  if (owner !== TOKEN_2022 || data.length === MULTISIG_BYTES) return false;
  return data.length === bytes || (data.length > TOKEN_ACCOUNT_BYTES && data[TOKEN_ACCOUNT_BYTES] === type);
}

function addressAt(data: Uint8Array, slot: number): Address {
  return getAddressDecoder().decode(data, slot);
}

function viewOf(data: Uint8Array): DataView {
  return new DataView(data.buffer, data.byteOffset, data.length);
}
