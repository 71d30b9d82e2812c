import { x25519 } from '@noble/curves/ed25519.js';
import { expand, extract } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';

/**
 * HPKE (RFC 9180) in base mode with X25519, HKDF-SHA-256 and AES-GCM, in other code than the one
 * that seals recovery packages. A seal is opened on the day of a loss only, so a co-signer computes
 * it twice and compares the bytes. The names are those of the RFC.
 */

const KEM_ID = 0x0020;
const KDF_ID = 0x0001;
const MODE_BASE = 0x00;
const HASH_BYTES = 32;
const NONCE_BYTES = 12;
const EMPTY = new Uint8Array();

/** The AEADs by the length of their key: section 7.3. */
const AEAD_IDS = { 16: 0x0001, 32: 0x0002 } as const;

interface BaseSeal {
  /** 32 bytes each: what the ephemeral key is derived from, and the recipient's public key. */
  readonly ikmE: Uint8Array;
  readonly pkR: Uint8Array;
  readonly info: Uint8Array;
  readonly plaintext: Uint8Array;
  readonly aad?: Uint8Array;
  /** Nk: 32 for AES-256-GCM, 16 for AES-128-GCM, which the vectors of the RFC use. */
  readonly keyBytes?: keyof typeof AEAD_IDS;
}

/**
 * Returns `enc` and the first ciphertext of a context. Throws for a public key of small order.
 */
export async function sealBase(input: BaseSeal): Promise<{ readonly enc: Uint8Array; readonly ct: Uint8Array }> {
  const { ikmE, pkR, info, plaintext, aad = EMPTY, keyBytes = 32 } = input;
  // DeriveKeyPair: section 7.1.3.
  const kem = labelsOf(concatBytes(utf8ToBytes('KEM'), i2osp2(KEM_ID)));
  const dkpPrk = kem.extract(EMPTY, 'dkp_prk', ikmE);
  const skE = kem.expand(dkpPrk, { label: 'sk', info: EMPTY, length: 32 });
  // Encap: section 4.1.
  const enc = x25519.getPublicKey(skE);
  const dh = x25519.getSharedSecret(skE, pkR);
  const eaePrk = kem.extract(EMPTY, 'eae_prk', dh);
  const sharedSecret = kem.expand(eaePrk, { label: 'shared_secret', info: concatBytes(enc, pkR), length: HASH_BYTES });
  // KeySchedule: section 5.1.
  const suite = concatBytes(utf8ToBytes('HPKE'), i2osp2(KEM_ID), i2osp2(KDF_ID), i2osp2(AEAD_IDS[keyBytes]));
  const schedule = labelsOf(suite);
  const pskIdHash = schedule.extract(EMPTY, 'psk_id_hash', EMPTY);
  const infoHash = schedule.extract(EMPTY, 'info_hash', info);
  const context = concatBytes(Uint8Array.of(MODE_BASE), pskIdHash, infoHash);
  const secret = schedule.extract(sharedSecret, 'secret', EMPTY);
  const key = Uint8Array.from(schedule.expand(secret, { label: 'key', info: context, length: keyBytes }));
  const baseNonce = schedule.expand(secret, { label: 'base_nonce', info: context, length: NONCE_BYTES });
  // Seal with the sequence number zero: section 5.2. The nonce is then the base nonce.
  const aead = await crypto.subtle.importKey('raw', key, 'AES-GCM', false, ['encrypt']);
  for (const used of [dkpPrk, skE, dh, eaePrk, sharedSecret, secret, key]) used.fill(0);
  const parameters = { name: 'AES-GCM', iv: Uint8Array.from(baseNonce), additionalData: Uint8Array.from(aad) };
  const message = Uint8Array.from(plaintext);
  const ct = new Uint8Array(await crypto.subtle.encrypt(parameters, aead, message).finally(() => message.fill(0)));
  return { enc, ct };
}

/** LabeledExtract and LabeledExpand of a suite: section 4. */
function labelsOf(suiteId: Uint8Array) {
  const version = utf8ToBytes('HPKE-v1');
  return {
    extract: (salt: Uint8Array, label: string, ikm: Uint8Array) => {
      const labeled = concatBytes(version, suiteId, utf8ToBytes(label), ikm);
      const prk = extract(sha256, labeled, salt);
      labeled.fill(0);
      return prk;
    },
    expand: (prk: Uint8Array, { label, info, length }: { label: string; info: Uint8Array; length: number }) =>
      expand(sha256, prk, concatBytes(i2osp2(length), version, suiteId, utf8ToBytes(label), info), length),
  };
}

/** I2OSP(n, 2) of RFC 8017. */
function i2osp2(value: number): Uint8Array {
  return Uint8Array.of(value >> 8, value & 0xff);
}
