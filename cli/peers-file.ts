import { readFileSync } from 'node:fs';
import { ed25519 } from '@noble/curves/ed25519.js';
import { hexToBytes } from '@noble/hashes/utils.js';
import * as z from 'zod';

const peers = z.record(z.string().regex(/^[1-9]$/), z.looseObject({ signing: z.string().regex(/^[0-9a-f]{64}$/) }));

/** Co-signer number to the hex of its signing key. */
export type SigningKeys = ReadonlyMap<number, string>;

/**
 * Returns the signing keys in a file with the PEERS setting of the co-signers. Throws for any other
 * file.
 */
export function signingKeysIn(file: string): SigningKeys {
  const pinned = peers.parse(JSON.parse(readFileSync(file, 'utf8')));
  return new Map(Object.entries(pinned).map(([index, { signing }]) => [Number.parseInt(index, 10), signing]));
}

/** Reports whether a co-signer signed these bytes with its identity. */
export function isSignedBy(signingKey: string | undefined, signature: string, bytes: Uint8Array): boolean {
  try {
    return signingKey !== undefined && ed25519.verify(hexToBytes(signature), bytes, hexToBytes(signingKey));
  } catch {
    return false;
  }
}
