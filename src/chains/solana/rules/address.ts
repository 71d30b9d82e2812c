import type { Address } from '@solana/kit';
import { getAddressDecoder, getAddressEncoder, isAddress, isOffCurveAddress } from '@solana/kit';
import { ed25519 } from '@noble/curves/ed25519.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system';
import { ASSOCIATED_TOKEN_PROGRAM_ADDRESS, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import type { AddressFault } from '#chains/chain-adapter.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/** Base58 of exactly 32 bytes. There is no checksum in it: a mistyped one is another address, or none. */
export function isPublicKey(text: string): text is Address {
  return isAddress(text);
}

/**
 * Gives an address that somebody can hold the key of. Refuses, in order: `malformed`; `zero-address` (the system program: what goes there
 * is lost, and it is what an unset variable looks like); `off-curve` (an address that a program has derived, such as the token account of
 * somebody: nobody has its key, and most programs do not give back what is sent there).
 */
export function parseWallet(text: string): Result<Address, AddressFault> {
  const recipient = parseRecipient(text);
  if (!recipient.ok) return recipient;
  return recipient.value.mayHaveNoKey ? refused('off-curve') : accepted(recipient.value.address);
}

interface Recipient {
  readonly address: Address;
  /** A program has derived it: what goes there only that program can move, if it is made to. */
  readonly mayHaveNoKey: boolean;
}

/** Gives any address that can be paid, with a key or of a program. Refuses, in order: `malformed`, `zero-address`. */
export function parseRecipient(text: string): Result<Recipient, AddressFault> {
  if (!isPublicKey(text)) return refused('malformed');
  if (text === SYSTEM_PROGRAM_ADDRESS) return refused('zero-address');
  return accepted({ address: text, mayHaveNoKey: isOffCurveAddress(text) });
}

/** A mint, which may be of a program. Refuses, in order: `malformed`, `zero-address`. */
export function parseMint(text: string): Result<Address, AddressFault> {
  const parsed = parseRecipient(text);
  return parsed.ok ? accepted(parsed.value.address) : parsed;
}

/** @param publicKey 32 bytes. Throws for bytes that are no point of Ed25519: that key was never generated. */
export function addressOfPublicKey(publicKey: Uint8Array): Address {
  return getAddressDecoder().decode(ed25519.Point.fromBytes(publicKey).toBytes());
}

export function bytesOf(address: Address): Uint8Array {
  return Uint8Array.from(getAddressEncoder().encode(address));
}

/**
 * Where a wallet keeps its units of a token: the associated account, which its owner and the mint determine. Worked out here because a
 * co-signer checks bytes in one go, and kit's derivation waits for a promise.
 */
export function tokenAccountOf(owner: Address, mint: Address): Address {
  return derivedAddress([owner, TOKEN_PROGRAM_ADDRESS, mint].map(bytesOf), ASSOCIATED_TOKEN_PROGRAM_ADDRESS);
}

/** `createWithSeed` of the Solana SDK: SHA-256(base, seed, owning program). Whoever has the key of the base can sign for it. */
export function seededAddress(base: Address, seed: string, program: Address): Address {
  return getAddressDecoder().decode(sha256(concatBytes(bytesOf(base), utf8ToBytes(seed), bytesOf(program))));
}

/** `findProgramAddress` of the Solana SDK: the first bump, from 255 down, whose hash is no point of the curve. */
export function derivedAddress(seeds: readonly Uint8Array[], program: Address): Address {
  for (let bump = 255; bump >= 0; bump--) {
    const marker = utf8ToBytes('ProgramDerivedAddress');
    const hash = sha256(concatBytes(...seeds, Uint8Array.of(bump), bytesOf(program), marker));
    const address = getAddressDecoder().decode(hash);
    if (isOffCurveAddress(address)) return address;
  }
  throw new Error('no bump leads off the curve, which nobody will ever see');
}
