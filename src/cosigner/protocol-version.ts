import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { CHANNEL_DOMAIN } from '#mpc/channel.ts';
import * as ecdsa from '#mpc/ecdsa/parameters.ts';
import { ENVELOPE_VERSION } from '#mpc/envelope.ts';
import { TRANSCRIPT_DOMAIN } from '#mpc/transcript.ts';

/**
 * A digest identifies the protocol that co-signers speak: the layout of their messages, and every
 * constant and domain that they hash. The coordinator names it in `open`. A co-signer that does not
 * support it refuses with `protocol-mismatch`, and it is hashed into the session id. Without it,
 * two honest releases that differ in one constant would reject the messages of each other, and ban
 * each other permanently.
 *
 * The digest covers constants and not source files, because a comment must not separate two
 * co-signers.
 */

/**
 * Increment it with every change of what co-signers send, check or hash that none of the constants
 * below shows.
 */
const REVISION = 3;

/**
 * Every tag of a hash and every domain of a statement between co-signers, sorted. A test compares
 * it with the source.
 */
const DOMAINS: readonly string[] = [
  'BIP0340/challenge',
  'FROST-ED25519-SHA512-v1',
  'FROST-secp256k1-SHA256-TR-v1',
  'TapTweak',
  'conclave/device-key/v1',
  'conclave/device/v1',
  'conclave/envelope/v2',
  'conclave/intent/v1',
  'conclave/key-proof/v1',
  'conclave/keygen-confirmation/v1',
  'conclave/mpc/v1/',
  'conclave/mpc/v1/secp256k1_XMD:SHA-256_SSWU_RO_',
  'conclave/policy-attestation/v2',
  'conclave/policy-change/v1',
  'conclave/policy/v3',
  'conclave/share-held/v1',
  'conclave/sign-once-receipt/v1',
  'conclave/signature/v2',
  'conclave/signed-record/v1',
  'cosigner/keygen',
  'cosigner/opening-ahead',
  'cosigner/opening/',
  'cosigner/pair',
  'cosigner/part',
  'cosigner/reshare',
  'cosigner/sid/',
  'cosigner/sign',
  'derivation/wallet',
  'ecdsa/base-ot/mask',
  'ecdsa/base-ot/seed',
  'ecdsa/echo',
  'ecdsa/message',
  'ecdsa/nonce-commitment',
  'ecdsa/ot-extension/chi-1',
  'ecdsa/ot-extension/chi-2',
  'ecdsa/ot-extension/pad',
  'ecdsa/ot-extension/prg',
  'ecdsa/ot-extension/transcript',
  'ecdsa/ot-extension/u',
  'ecdsa/pair/base-ot',
  'ecdsa/pair/commitment',
  'ecdsa/pair/confirmation',
  'ecdsa/pair/context',
  'ecdsa/pair/setup-id',
  'ecdsa/pair/zero-seed',
  'ecdsa/session',
  'ecdsa/vole',
  'ecdsa/vole/gadget',
  'ecdsa/vole/mu',
  'ecdsa/vole/tau',
  'ecdsa/vole/theta',
  'ecdsa/zero-share',
  'envelope',
  'keygen/commitment',
  'keygen/confirmation',
  'keygen/echo',
  'keygen/proof',
  'vault-key/v1',
];

/** The constants that the digest covers, by name. */
export const PROTOCOL: Readonly<Record<string, string | number | readonly string[]>> = {
  REVISION,
  TRANSCRIPT_DOMAIN,
  CHANNEL_DOMAIN,
  ENVELOPE_VERSION,
  DOMAINS,
  // All constants of the file, so an added constant is covered automatically.
  ...ecdsa,
};

/** Returns the hex of SHA-256 over all constants, sorted by name. */
export function protocolDigest(constants: typeof PROTOCOL): string {
  const entries = Object.entries(constants).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return bytesToHex(sha256(utf8ToBytes(JSON.stringify(['conclave/protocol/v1', entries]))));
}

/** The protocol of release 0.2.0, which opens no session ahead. */
const RELEASE_0_2_0 = 'cd9f6f0a1c83d413bc2afcbe960fdeef418474e0a587602f9bf99448e05d8007';

/**
 * The digests that this release speaks, the newest first. A release that changes the protocol also
 * speaks the previous one, so that operators upgrade the co-signers one after the other while they
 * sign. The next release drops it.
 */
export const SUPPORTED_PROTOCOLS: readonly string[] = [protocolDigest(PROTOCOL), RELEASE_0_2_0];
