import type { Address } from '@solana/kit';
import { getAddressDecoder, getAddressEncoder, isAddress, isOffCurveAddress } from '@solana/kit';
import { ed25519 } from '@noble/curves/ed25519.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system';
import { ASSOCIATED_TOKEN_PROGRAM_ADDRESS, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import type { AddressFault } from '#chains/chain-rules.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/**
 * Reports whether a text is base58 of exactly 32 bytes. It has no checksum: a mistyped address is
 * another address, or invalid.
 */
export function isPublicKey(text: string): text is Address {
  return isAddress(text);
}

/**
 * Returns an address that can have a private key. Refuses, in order: `malformed`; `zero-address`
 * (the system program: funds sent there are lost, and an unset variable looks like it); `off-curve`
 * (an address that a program derives, such as a token account: it has no key, and most programs do
 * not return funds).
 */
export function parseWallet(text: string): Result<Address, AddressFault> {
  const recipient = parseRecipient(text);
  if (!recipient.ok) return recipient;
  return recipient.value.mayHaveNoKey ? refused('off-curve') : accepted(recipient.value.address);
}

interface Recipient {
  readonly address: Address;
  /**
   * True for an address that a program derives: only that program can move funds from it, if it
   * supports that.
   */
  readonly mayHaveNoKey: boolean;
}

/**
 * Returns any payable address, with a key or derived by a program. Refuses, in order: `malformed`,
 * `zero-address`.
 */
export function parseRecipient(text: string): Result<Recipient, AddressFault> {
  if (!isPublicKey(text)) return refused('malformed');
  if (text === SYSTEM_PROGRAM_ADDRESS) return refused('zero-address');
  return accepted({ address: text, mayHaveNoKey: isOffCurveAddress(text) });
}

/**
 * Returns a mint, which a program may have derived. Refuses, in order: `malformed`, `zero-address`.
 */
export function parseMint(text: string): Result<Address, AddressFault> {
  const parsed = parseRecipient(text);
  return parsed.ok ? accepted(parsed.value.address) : parsed;
}

/**
 * Returns the address of a public key. Throws for bytes that are no point of Ed25519: such a key
 * was never generated.
 *
 * @param publicKey 32 bytes
 */
export function addressOfPublicKey(publicKey: Uint8Array): Address {
  return getAddressDecoder().decode(ed25519.Point.fromBytes(publicKey).toBytes());
}

export function bytesOf(address: Address): Uint8Array {
  return Uint8Array.from(getAddressEncoder().encode(address));
}

/**
 * Returns the token account of a wallet: the associated account, which its owner, the mint and the
 * token program of the mint determine. It is computed here because a co-signer checks bytes
 * synchronously, and kit's derivation is asynchronous.
 */
export function tokenAccountOf(owner: Address, mint: Address, program: Address = TOKEN_PROGRAM_ADDRESS): Address {
  return derivedAddress([owner, program, mint].map(bytesOf), ASSOCIATED_TOKEN_PROGRAM_ADDRESS);
}

/**
 * Returns the address that `createWithSeed` of the Solana SDK returns: SHA-256(base, seed, owning
 * program). The key of the base can sign for it.
 */
export function seededAddress(base: Address, seed: string, program: Address): Address {
  return getAddressDecoder().decode(sha256(concatBytes(bytesOf(base), utf8ToBytes(seed), bytesOf(program))));
}

/**
 * Returns the address that `findProgramAddress` of the Solana SDK returns: the first bump, from 255
 * down, whose hash is no point of the curve.
 */
export function derivedAddress(seeds: readonly Uint8Array[], program: Address): Address {
  for (let bump = 255; bump >= 0; bump--) {
    const marker = utf8ToBytes('ProgramDerivedAddress');
    const hash = sha256(concatBytes(...seeds, Uint8Array.of(bump), bytesOf(program), marker));
    const address = getAddressDecoder().decode(hash);
    if (isOffCurveAddress(address)) return address;
  }
  throw new Error('no bump gives an address off the curve');
}
