import { concatBytes } from '@noble/hashes/utils.js';
import type { Channel } from '#mpc/channel.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { longTaggedHash } from '#mpc/transcript.ts';

/**
 * A message from one co-signer to another, relayed by a coordinator that neither reads nor changes
 * it:
 *
 *     version (1) | sid (32) | round (1) | from (1) | to (1) | iv (12) |
 *     AES-256-GCM ciphertext and tag | Ed25519 signature (64)
 *
 * The AES key is that of the session and the direction (channel.ts). The header is additional data
 * of the cipher, and the signature covers the tagged hash of everything before it: it is the
 * evidence of the sender and the content. (Ed25519 reads its message twice, by a slower hash: for a
 * round of ECDSA this would take as long as the rest of the envelope.) Static keys are pinned when
 * the co-signers are deployed, so no key exchange has to be trusted.
 */
export const ENVELOPE_VERSION = 3;
const SID_BYTES = 32;
const HEADER_BYTES = 1 + SID_BYTES + 3;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const SIGNATURE_BYTES = 64;
const SMALLEST = HEADER_BYTES + IV_BYTES + TAG_BYTES + SIGNATURE_BYTES;

/** The session, round and parties of an envelope. */
interface Address {
  /** 32 bytes. */
  readonly sid: Uint8Array;
  readonly round: number;
  readonly from: PartyIndex;
  readonly to: PartyIndex;
}

/** The private keys of a co-signer. */
export interface CosignerIdentity {
  readonly index: PartyIndex;
  readonly signing: CryptoKey;
  readonly exchange: CryptoKey;
}

/** The pinned public keys of another co-signer. */
export interface PeerIdentity {
  readonly index: PartyIndex;
  readonly signing: CryptoKey;
  readonly exchange: CryptoKey;
}

/**
 * Seals a message for the peer of a channel. Every call has a fresh IV, so two envelopes at one
 * address never share a key stream.
 */
export async function sealEnvelope(
  own: CosignerIdentity,
  channel: Channel,
  message: { readonly round: number; readonly body: Uint8Array },
): Promise<Uint8Array> {
  const header = headerOf({ sid: channel.sid, round: message.round, from: channel.own, to: channel.peer });
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
  const parameters = { name: 'AES-GCM', iv, additionalData: owned(header) };
  const ciphertext = await crypto.subtle.encrypt(parameters, channel.outgoing, owned(message.body));
  const signed = concatBytes(header, iv, new Uint8Array(ciphertext));
  return concatBytes(signed, await signAsCosigner(own, await statementOf(signed)));
}

/**
 * Opens an envelope that must be from this peer, in the session of the channel and in this round.
 * Returns null for a wrong frame, address, signature or tag. Any relay can cause each of these, so
 * the peer is not blamed and not banned.
 */
export async function openEnvelope(
  peer: PeerIdentity,
  channel: Channel,
  envelope: { readonly round: number; readonly bytes: Uint8Array },
): Promise<Uint8Array | null> {
  const { bytes } = envelope;
  if (bytes.length < SMALLEST) return null;
  const header = headerOf({ sid: channel.sid, round: envelope.round, from: channel.peer, to: channel.own });
  if (!header.every((byte, i) => byte === bytes[i])) return null;
  const signed = owned(bytes.subarray(0, bytes.length - SIGNATURE_BYTES));
  const signature = bytes.subarray(bytes.length - SIGNATURE_BYTES);
  if (!(await verifyAsCosigner(peer, await statementOf(signed), signature))) return null;
  const iv = signed.subarray(HEADER_BYTES, HEADER_BYTES + IV_BYTES);
  const parameters = { name: 'AES-GCM', iv, additionalData: owned(header) };
  try {
    const ciphertext = signed.subarray(HEADER_BYTES + IV_BYTES);
    return new Uint8Array(await crypto.subtle.decrypt(parameters, channel.incoming, ciphertext));
  } catch {
    return null;
  }
}

/**
 * Signs bytes of a protocol with the identity of the co-signer. The caller has put a domain in
 * front.
 */
export async function signAsCosigner(own: CosignerIdentity, bytes: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.sign('Ed25519', own.signing, owned(bytes)));
}

export async function verifyAsCosigner(peer: PeerIdentity, bytes: Uint8Array, signature: Uint8Array): Promise<boolean> {
  if (signature.length !== SIGNATURE_BYTES) return false;
  return crypto.subtle.verify('Ed25519', peer.signing, owned(signature), owned(bytes));
}

function statementOf(signed: Uint8Array): Promise<Uint8Array> {
  return longTaggedHash('envelope', signed);
}

function headerOf({ sid, round, from, to }: Address): Uint8Array {
  if (sid.length !== SID_BYTES) throw new Error('a sid does not have 32 bytes');
  return concatBytes(Uint8Array.of(ENVELOPE_VERSION), sid, Uint8Array.of(round, from, to));
}

/**
 * Returns bytes that WebCrypto accepts: it rejects views of shared memory. It copies its input
 * before it returns.
 */
function owned(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteOffset, byteLength } = bytes;
  return buffer instanceof ArrayBuffer ? new Uint8Array(buffer, byteOffset, byteLength) : Uint8Array.from(bytes);
}

/**
 * PKCS #8 headers of RFC 8410 for a raw private key of 32 bytes. WebCrypto accepts private keys in
 * no shorter form.
 */
const PKCS8 = { Ed25519: '302e020100300506032b657004220420', X25519: '302e020100300506032b656e04220420' } as const;

/** Returns the private keys of a co-signer from its two secrets of 32 bytes each. */
export async function importIdentity(
  index: PartyIndex,
  secrets: { readonly signing: Uint8Array; readonly exchange: Uint8Array },
): Promise<CosignerIdentity> {
  const signing = await importPrivate('Ed25519', secrets.signing, ['sign']);
  const exchange = await importPrivate('X25519', secrets.exchange, ['deriveBits']);
  return { index, signing, exchange };
}

/** Returns the pinned keys of a peer, from 32 bytes each. */
export async function importPeer(
  index: PartyIndex,
  keys: { readonly signing: Uint8Array; readonly exchange: Uint8Array },
): Promise<PeerIdentity> {
  const signing = await crypto.subtle.importKey('raw', owned(keys.signing), 'Ed25519', false, ['verify']);
  const exchange = await crypto.subtle.importKey('raw', owned(keys.exchange), 'X25519', false, []);
  return { index, signing, exchange };
}

/** Returns a private key from its 32 bytes. */
export function importPrivate(algorithm: keyof typeof PKCS8, secret: Uint8Array, usages: string[]): Promise<CryptoKey> {
  if (secret.length !== 32) throw new Error('a private key does not have 32 bytes');
  const header = Uint8Array.from(PKCS8[algorithm].match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
  return crypto.subtle.importKey('pkcs8', owned(concatBytes(header, secret)), algorithm, false, usages);
}
