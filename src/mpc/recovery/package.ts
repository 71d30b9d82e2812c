import { Aes256Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from '@hpke/core';
import { x25519 } from '@noble/curves/ed25519.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import type { CanonicalField } from '#domain/canonical/bytes.ts';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import type { KeyScheme } from '#domain/asset/chain.ts';
import { inGroupOf } from '#mpc/scheme-group.ts';
import { parsePartyIndex } from '#mpc/party.ts';
import { sealBase } from '#mpc/recovery/second-seal.ts';
import { type KeyShare, publicSharesText } from '#mpc/share.ts';
import { equalBytes } from '#mpc/transcript.ts';

/**
 * A co-signer's share of a key, sealed for a key that no machine of the service has: HPKE (RFC
 * 9180), base mode, X25519 with HKDF-SHA-256 and AES-256-GCM. All other fields are public, and
 * bound to the seal. As many packages as the threshold, together with the offline key, are the
 * whole key: the code that opens and combines them is in cli/, which is never deployed.
 */
export interface RecoveryPackage {
  readonly version: typeof RECOVERY_VERSION;
  readonly scheme: KeyScheme;
  readonly keyId: string;
  readonly epoch: number;
  /** The co-signer of the share. */
  readonly node: number;
  readonly threshold: number;
  /** Hex, as the points below. */
  readonly publicKey: string;
  /** Co-signer number to its point. */
  readonly publicShares: Readonly<Record<string, string>>;
  /** Hex of 32 bytes: the recipient key of the seal. */
  readonly recoveryKey: string;
  /** Hex of 32 bytes: `enc` of RFC 9180. */
  readonly encapsulated: string;
  /** Hex. */
  readonly ciphertext: string;
  /**
   * Hex: the signature of the co-signer's identity over `recoveryPackageBytes`. Anyone can seal
   * something for a public key, so without it a package could be junk until the day it is needed.
   */
  readonly signature: string;
}

export const RECOVERY_VERSION = 'conclave/recovery/v1';

export const RECOVERY_SUITE = new CipherSuite({
  kem: new DhkemX25519HkdfSha256(),
  kdf: new HkdfSha256(),
  aead: new Aes256Gcm(),
});

type Sealed = Omit<RecoveryPackage, 'encapsulated' | 'ciphertext' | 'signature'>;
type UnsignedPackage = Omit<RecoveryPackage, 'signature'>;

/**
 * Two implementations sealed the same share differently, so at least one of them is wrong. The
 * evidence names neither a secret nor a byte of the seal.
 */
export class SealDiffers extends Error {
  readonly evidence: SealEvidence;

  constructor(evidence: SealEvidence) {
    super(`Two implementations of the seal disagree: ${evidence.parts.join(', ')}, confirmed: ${evidence.confirmed}.`);
    this.evidence = evidence;
  }
}

interface SealEvidence {
  /** What differs: the encapsulated key, the ciphertext, or both. */
  readonly parts: readonly ('enc' | 'ct')[];
  /** The result that a repetition of the second implementation confirms: the other one is wrong. */
  readonly confirmed: 'first' | 'second' | 'neither';
}

/**
 * Seals a share twice, by two implementations with one ephemeral key. A faulty seal would be
 * noticed only when the share is needed. Throws `SealDiffers`, and an error for an invalid key.
 *
 * @param recoveryKey hex of 32 bytes
 */
export async function sealForRecovery(
  recoveryKey: string,
  share: KeyShare,
  sealAgain: typeof sealBase = sealBase,
): Promise<UnsignedPackage> {
  const { scheme, keyId, epoch, self, threshold, secret, publicKey, publicShares } = share;
  const header: Sealed = {
    version: RECOVERY_VERSION,
    scheme,
    keyId,
    epoch,
    node: self,
    threshold,
    publicKey: bytesToHex(publicKey),
    publicShares: publicSharesText(publicShares),
    recoveryKey,
  };
  const recipientPublicKey = await RECOVERY_SUITE.kem.deserializePublicKey(owned(hexToBytes(recoveryKey)));
  const info = recoveryHeader(header);
  const ikmE = crypto.getRandomValues(new Uint8Array(32));
  const scalar = new Uint8Array(inGroupOf(scheme, (group) => group.secrets.reveal(secret)));
  try {
    const ekm = await RECOVERY_SUITE.kem.deriveKeyPair(ikmE.buffer);
    const sender = await RECOVERY_SUITE.createSenderContext({ recipientPublicKey, info, ekm });
    const [enc, ct] = [new Uint8Array(sender.enc), new Uint8Array(await sender.seal(scalar.buffer))];
    const first: Seal = { enc, ct };
    const again = () => sealAgain({ ikmE, pkR: hexToBytes(recoveryKey), info, plaintext: scalar });
    const second = await again();
    const parts = differingParts(first, second);
    if (parts.length > 0) {
      const third = await again();
      const isOf = (seal: Seal) => differingParts(seal, third).length === 0;
      throw new SealDiffers({ parts, confirmed: isOf(first) ? 'first' : isOf(second) ? 'second' : 'neither' });
    }
    return { ...header, encapsulated: bytesToHex(enc), ciphertext: bytesToHex(ct) };
  } finally {
    ikmE.fill(0);
    scalar.fill(0);
  }
}

type Seal = Awaited<ReturnType<typeof sealBase>>;

function differingParts(one: Seal, other: Seal): readonly ('enc' | 'ct')[] {
  return (['enc', 'ct'] as const).filter((part) => !equalBytes(one[part], other[part]));
}

/**
 * Reports whether a seal for this key can be opened. A key of small order has no secret of its own,
 * and the shared secret is zero (RFC 7748, section 6.1). A key in another than the canonical form
 * is never printed for a secret, so it was mistyped. @param recoveryKey hex of 32 bytes
 */
export function isRecoveryKey(recoveryKey: string): boolean {
  const key = hexToBytes(recoveryKey);
  if (BigInt(`0x${bytesToHex(key.toReversed())}`) >= FIELD_ORDER) return false;
  try {
    x25519.getSharedSecret(ANY_SCALAR, key);
    return true;
  } catch {
    return false;
  }
}

/** Of Curve25519. */
const FIELD_ORDER = 2n ** 255n - 19n;
/** Clamping makes every scalar a multiple of the cofactor, so any scalar finds a small order. */
const ANY_SCALAR = new Uint8Array(32).fill(1);

/** Returns the data that the seal is bound to (`info` of RFC 9180). */
export function recoveryHeader({ publicShares, ...header }: Sealed): Uint8Array<ArrayBuffer> {
  const nodes = Object.keys(publicShares).map(Number).map(parsePartyIndex);
  const points = nodes.flatMap((node): CanonicalField[] =>
    node === null ? [] : [[`share ${node}`, publicShares[String(node)] ?? null]],
  );
  return canonicalBytes(RECOVERY_VERSION, [
    ['scheme', header.scheme],
    ['keyId', header.keyId],
    ['epoch', String(header.epoch)],
    ['node', String(header.node)],
    ['threshold', String(header.threshold)],
    ['publicKey', header.publicKey],
    ['recoveryKey', header.recoveryKey],
    ...points,
  ]);
}

/** Returns the bytes that the co-signer of a package signs with its identity. */
export function recoveryPackageBytes(sealed: UnsignedPackage): Uint8Array<ArrayBuffer> {
  return canonicalBytes('conclave/recovery-package/v1', [
    ['header', bytesToHex(recoveryHeader(sealed))],
    ['encapsulated', sealed.encapsulated],
    ['ciphertext', sealed.ciphertext],
  ]);
}

function owned(bytes: Uint8Array): ArrayBuffer {
  return Uint8Array.from(bytes).buffer;
}
