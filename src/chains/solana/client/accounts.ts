import type { Address } from '@solana/kit';
import { getAddressDecoder } from '@solana/kit';
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system';
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import type { Account } from '#chains/solana/client/rpc-calls.ts';

/**
 * Its tokens can charge fees, call other programs, and refuse: the sent amount may differ from the
 * received one.
 */
export const TOKEN_2022: string = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';

const NONCE_BYTES = 80;
const MINT_BYTES = 82;
const TOKEN_ACCOUNT_BYTES = 165;

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

/** Returns null for an account that is no mint of the token program. */
export function mintIn(account: Account | null): Mint | null {
  if (account?.owner !== TOKEN_PROGRAM_ADDRESS || account.data.length !== MINT_BYTES) return null;
  return { supply: viewOf(account.data).getBigUint64(36, true), decimals: account.data[44] ?? 0 };
}

export interface TokenAccount {
  readonly mint: Address;
  readonly owner: Address;
  readonly units: bigint;
  readonly isFrozen: boolean;
}

/** Returns null for an account that is no token account of the token program. */
export function tokenAccountIn(account: Account | null): TokenAccount | null {
  if (account?.owner !== TOKEN_PROGRAM_ADDRESS || account.data.length !== TOKEN_ACCOUNT_BYTES) return null;
  const { data } = account;
  return {
    mint: addressAt(data, 0),
    owner: addressAt(data, 32),
    units: viewOf(data).getBigUint64(64, true),
    isFrozen: data[108] === 2,
  };
}

function addressAt(data: Uint8Array, slot: number): Address {
  return getAddressDecoder().decode(data, slot);
}

function viewOf(data: Uint8Array): DataView {
  return new DataView(data.buffer, data.byteOffset, data.length);
}
