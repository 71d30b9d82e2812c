import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { KeyScheme } from '#domain/asset/chain.ts';
import { KEY_SCHEMES } from '#domain/asset/chain.ts';
import { inGroupOf } from '#mpc/scheme-group.ts';
import { parsePartyIndex, type PartyIndex } from '#mpc/party.ts';
import type { SecretScalar } from '#mpc/secret-scalar.ts';
import { equalBytes, uint32 } from '#mpc/transcript.ts';

/** One co-signer's share of a key, with all public data of the key. */
export interface KeyShare {
  readonly scheme: KeyScheme;
  readonly keyId: string;
  readonly epoch: number;
  readonly self: PartyIndex;
  readonly threshold: number;
  /** Shamir share of the group's secret at x = self. */
  readonly secret: SecretScalar;
  /** 33 bytes, or 32 for Ed25519. */
  readonly publicKey: Uint8Array;
  /** A point for each party from 1 to n. */
  readonly publicShares: ReadonlyMap<PartyIndex, Uint8Array>;
}

/** Returns public shares in their transport form: co-signer number to the hex of its point. */
export function publicSharesText(shares: KeyShare['publicShares']): Readonly<Record<string, string>> {
  return Object.fromEntries([...shares].map(([party, point]) => [String(party), bytesToHex(point)]));
}

/**
 * A key-encryption secret of a co-signer. The first of its list seals, and the others only open.
 */
export interface KeyEncryptionSecret {
  readonly id: string;
  /** 32 bytes, hex. */
  readonly secret: string;
}

/** The context that a sealed record is bound to: in another context it does not open. */
export interface SealContext {
  /** 'share' or 'pair'. */
  readonly kind: string;
  readonly node: PartyIndex;
  /** The key id, or the peer of a pair. */
  readonly name: string;
  readonly epoch: number;
  readonly madeAtMs: number;
}

export interface SealedRecord {
  readonly kekId: string;
  /** 32 bytes: every record has a key of its own. */
  readonly salt: Uint8Array;
  /** 12 bytes. */
  readonly iv: Uint8Array;
  readonly ciphertext: Uint8Array;
}

/**
 * Seals with HKDF-SHA-256 with a random salt, then AES-256-GCM with a random IV, bound to the
 * context.
 */
export async function seal(
  secrets: readonly KeyEncryptionSecret[],
  context: SealContext,
  plaintext: Uint8Array,
): Promise<SealedRecord> {
  const current = secrets[0];
  if (current === undefined) throw new Error('a co-signer has no key-encryption secret');
  const salt = crypto.getRandomValues(new Uint8Array(32));
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const key = await recordKey(current, salt);
  const parameters = { name: 'AES-GCM', iv, additionalData: contextBytes(context, current.id) };
  const ciphertext = new Uint8Array(await crypto.subtle.encrypt(parameters, key, new Uint8Array(plaintext)));
  return { kekId: current.id, salt, iv, ciphertext };
}

/**
 * Returns null for a record that was sealed elsewhere, under a removed secret, or that was changed.
 */
export async function unseal(
  secrets: readonly KeyEncryptionSecret[],
  context: SealContext,
  record: SealedRecord,
): Promise<Uint8Array | null> {
  const secret = secrets.find((candidate) => candidate.id === record.kekId);
  if (secret === undefined) return null;
  const key = await recordKey(secret, record.salt);
  const parameters = {
    name: 'AES-GCM',
    iv: new Uint8Array(record.iv),
    additionalData: contextBytes(context, record.kekId),
  };
  try {
    return new Uint8Array(await crypto.subtle.decrypt(parameters, key, new Uint8Array(record.ciphertext)));
  } catch {
    return null;
  }
}

async function recordKey(secret: KeyEncryptionSecret, salt: Uint8Array): Promise<CryptoKey> {
  const bytes = hexToBytes(secret.secret);
  if (bytes.length !== 32) throw new Error('a key-encryption secret does not have 32 bytes');
  const material = await crypto.subtle.importKey('raw', new Uint8Array(bytes), 'HKDF', false, ['deriveKey']);
  const info = new Uint8Array(utf8ToBytes('conclave/sealed-record/v1'));
  return crypto.subtle.deriveKey(
    { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(salt), info },
    material,
    { name: 'AES-GCM', length: 256 },
    false,
    ['encrypt', 'decrypt'],
  );
}

function contextBytes({ kind, node, name, epoch, madeAtMs }: SealContext, kekId: string): Uint8Array<ArrayBuffer> {
  // JSON of an array of texts and numbers is unambiguous: no text can move from one field into the
  // next.
  return new Uint8Array(
    utf8ToBytes(JSON.stringify(['conclave/sealed-record/v2', kind, node, name, epoch, madeAtMs, kekId])),
  );
}

const FORMAT = 3;
const EPOCH_AT = 5;
const HEADER_BYTES = 9;
const SCALAR_BYTES = 32;

/** For sealed storage only: these bytes hold the secret. */
export function encodeKeyShare(share: KeyShare): Uint8Array {
  const { scheme, self, threshold, epoch, secret, publicKey } = share;
  const shares = [...share.publicShares].toSorted(([a], [b]) => a - b).map(([, point]) => point);
  const header = [FORMAT, KEY_SCHEMES.indexOf(scheme), self, threshold, shares.length];
  const scalar = inGroupOf(scheme, (group) => group.secrets.reveal(secret));
  return concatBytes(Uint8Array.from(header), uint32(epoch), scalar, publicKey, ...shares);
}

/**
 * Throws on bytes that encodeKeyShare did not make, and on a secret that is not behind its public
 * share.
 */
export function decodeKeyShare(keyId: string, bytes: Uint8Array): KeyShare {
  const [format, context, first, threshold, parties] = bytes;
  const [scheme, self] = [KEY_SCHEMES[context ?? KEY_SCHEMES.length], parsePartyIndex(first ?? 0)];
  const count = parties ?? 0;
  if (format !== FORMAT || scheme === undefined || self === null) throw new Error('not a key share');
  return inGroupOf(scheme, (group) => {
    const { pointBytes } = group;
    const start = HEADER_BYTES + SCALAR_BYTES;
    if (bytes.length !== start + (1 + count) * pointBytes) throw new Error('not a key share');
    const secret = group.secrets.parse(bytes.subarray(HEADER_BYTES, start));
    const points = Array.from({ length: 1 + count }, (_, i) =>
      bytes.slice(start + i * pointBytes, start + (i + 1) * pointBytes),
    );
    const [publicKey, ...shares] = points;
    const isWhole = publicKey !== undefined && group.parsePoint(publicKey) !== null;
    if (secret === null || group.secrets.isZero(secret) || !isWhole) throw new Error('not a key share');
    const publicShares = new Map<PartyIndex, Uint8Array>();
    for (const [i, point] of shares.entries()) {
      const party = parsePartyIndex(i + 1);
      if (party !== null) publicShares.set(party, point);
    }
    const own = publicShares.get(self);
    // A corrupted record must not sign: it would look like a cheater to the others.
    if (own === undefined || !equalBytes(group.encodePoint(group.multiplyGenerator(secret)), own)) {
      throw new Error('the secret does not belong to its public share');
    }
    const epoch = new DataView(bytes.buffer, bytes.byteOffset).getUint32(EPOCH_AT);
    return { scheme, keyId, epoch, self, threshold: threshold ?? 0, secret, publicKey, publicShares };
  });
}
