import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { PartyIndex } from '#mpc/party.ts';

/**
 * The keys of one session between two co-signers. Each side generates an X25519 key pair for the
 * session, and signs the public key with its identity before it is used (`Sessions.open`). Then,
 * with HKDF-SHA-256 (RFC 5869):
 *
 *     key(from, to) = HKDF(salt = sid, input = ephemeral-ephemeral || static-static,
 *                          info = domain | from (1) | to (1))
 *
 * These are the tokens `ee` and `ss` of Noise KK, in which both static keys are known beforehand.
 * The signature over each ephemeral key replaces `es` and `se`, like the signed prekey of X3DH: a
 * thief of the exchange key of one co-signer still cannot impersonate another one to it. The sid
 * hashes both ephemeral keys.
 *
 * Proven (test/attacks/thief-of-secrets/recorded-envelopes.test.ts): recorded traffic and the
 * identity secrets of any or all co-signers, stolen after the sessions, reveal no share of any
 * epoch. The reason is the ephemeral secrets: they are not extractable, exist only in memory, and
 * are dropped with the keys of the session. `ss` protects a session even when a random number
 * generator is weak. Nothing here resists a quantum computer.
 */
export const CHANNEL_DOMAIN = 'conclave/envelope/v2';

/** Bytes of an X25519 public key (RFC 7748). */
export const EXCHANGE_KEY_BYTES = 32;
const SECRET_BITS = 256;

/** The X25519 key pair of one side in one session. */
export interface EphemeralKey {
  readonly secret: CryptoKey;
  readonly publicKey: Uint8Array;
}

/**
 * The static X25519 key of a co-signer: the private one of this co-signer, the public one of a
 * peer.
 */
interface StaticKey {
  readonly index: PartyIndex;
  readonly exchange: CryptoKey;
}

/** One key for each direction, for one session. */
export interface Channel {
  readonly sid: Uint8Array;
  readonly own: PartyIndex;
  readonly peer: PartyIndex;
  readonly outgoing: CryptoKey;
  readonly incoming: CryptoKey;
}

/** Returns a key pair whose secret no code can read. */
export async function newEphemeralKey(): Promise<EphemeralKey> {
  const pair = await crypto.subtle.generateKey('X25519', false, ['deriveBits']);
  if (!('privateKey' in pair)) throw new Error('a new X25519 key is not a pair');
  const raw = await crypto.subtle.exportKey('raw', pair.publicKey);
  if (!(raw instanceof ArrayBuffer)) throw new Error('a raw key is not bytes');
  return { secret: pair.privateKey, publicKey: new Uint8Array(raw) };
}

/**
 * Returns the keys of a session with a peer, or null when the peer's ephemeral key has a small
 * order, so that the shared secret is not secret.
 */
export async function openChannel(
  own: StaticKey,
  peer: StaticKey,
  session: { readonly sid: Uint8Array; readonly ephemeral: EphemeralKey; readonly peerKey: Uint8Array },
): Promise<Channel | null> {
  const peerKey = await crypto.subtle.importKey('raw', Uint8Array.from(session.peerKey), 'X25519', false, []);
  const fresh = await agreement(session.ephemeral.secret, peerKey);
  if (fresh === null) return null;
  const fixed = await staticSecret(own, peer);
  if (fixed === null) throw new Error(`the pinned exchange key of co-signer ${peer.index} must not have a small order`);
  const input = concatBytes(fresh, fixed);
  const material = await crypto.subtle.importKey('raw', Uint8Array.from(input), 'HKDF', false, ['deriveKey']);
  fresh.fill(0);
  input.fill(0);
  const sid = Uint8Array.from(session.sid);
  const outgoing = await directedKey(material, { sid, from: own.index, to: peer.index, usage: 'encrypt' });
  const incoming = await directedKey(material, { sid, from: peer.index, to: own.index, usage: 'decrypt' });
  return { sid, own: own.index, peer: peer.index, outgoing, incoming };
}

/**
 * Reports whether two static keys give a secret. They do not when the peer's key has a small order.
 */
export async function isUsableKey(own: StaticKey, peer: StaticKey): Promise<boolean> {
  return (await staticSecret(own, peer)) !== null;
}

interface Direction {
  readonly sid: Uint8Array<ArrayBuffer>;
  readonly from: PartyIndex;
  readonly to: PartyIndex;
  readonly usage: 'encrypt' | 'decrypt';
}

function directedKey(material: CryptoKey, { sid, from, to, usage }: Direction): Promise<CryptoKey> {
  const info = Uint8Array.from(concatBytes(utf8ToBytes(CHANNEL_DOMAIN), Uint8Array.of(from, to)));
  const derivation = { name: 'HKDF', hash: 'SHA-256', salt: sid, info };
  return crypto.subtle.deriveKey(derivation, material, { name: 'AES-GCM', length: 256 }, false, [usage]);
}

/**
 * Returns the X25519 secret of two keys, or null for a public key of small order. RFC 7748, section
 * 6.1, and WebCrypto require that an all-zero secret is refused. Both runtimes throw an error
 * without a specific name, so the bytes are checked as well.
 */
async function agreement(secret: CryptoKey, publicKey: CryptoKey): Promise<Uint8Array | null> {
  const parties = { name: 'X25519', public: publicKey };
  try {
    const bytes = new Uint8Array(await crypto.subtle.deriveBits(parties, secret, SECRET_BITS));
    return bytes.every((byte) => byte === 0) ? null : bytes;
  } catch {
    return null;
  }
}

/** The secret of two static keys never changes, so it is computed once and not for each session. */
const STATIC_SECRETS = new WeakMap<CryptoKey, WeakMap<CryptoKey, Promise<Uint8Array | null>>>();

function staticSecret(own: StaticKey, peer: StaticKey): Promise<Uint8Array | null> {
  const ofOwn = STATIC_SECRETS.get(own.exchange) ?? new WeakMap<CryptoKey, Promise<Uint8Array | null>>();
  STATIC_SECRETS.set(own.exchange, ofOwn);
  const secret = ofOwn.get(peer.exchange) ?? agreement(own.exchange, peer.exchange);
  ofOwn.set(peer.exchange, secret);
  return secret;
}
