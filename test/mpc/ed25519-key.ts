import type { KeyObject } from 'node:crypto';
import { createPublicKey } from 'node:crypto';

/** Before 32 bytes of a point: SubjectPublicKeyInfo for Ed25519 (RFC 8410). */
const HEADER = Buffer.from('302a300506032b6570032100', 'hex');

/** A point as node:crypto takes it. */
export function ed25519Key(point: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.concat([HEADER, point]), format: 'der', type: 'spki' });
}
