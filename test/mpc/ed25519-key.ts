import type { KeyObject } from 'node:crypto';
import { createPublicKey } from 'node:crypto';

/** The SubjectPublicKeyInfo prefix of the 32 bytes of an Ed25519 point (RFC 8410). */
const HEADER = Buffer.from('302a300506032b6570032100', 'hex');

/** Returns a point in the form that node:crypto accepts. */
export function ed25519Key(point: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.concat([HEADER, point]), format: 'der', type: 'spki' });
}
