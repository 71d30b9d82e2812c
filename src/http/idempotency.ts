import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { HttpContext } from '#http/context.ts';

/** A structured-field string, as the IETF draft has it, or the bare token that most clients send. */
const KEY = /^(?:"([A-Za-z0-9._:/=+-]{1,64})"|([A-Za-z0-9._:/=+-]{1,64}))$/;

export interface Idempotency {
  readonly key: string;
  /** Hex SHA-256 of the body as it came. */
  readonly fingerprint: string;
}

/** The Idempotency-Key with the fingerprint of this body; null without the header, `malformed` for one that can not be used. */
export async function idempotencyOf(context: HttpContext): Promise<Idempotency | null | 'malformed'> {
  const header = context.req.header('idempotency-key');
  if (header === undefined) return null;
  const match = KEY.exec(header.trim());
  const key = match?.[1] ?? match?.[2];
  if (key === undefined) return 'malformed';
  const body = new Uint8Array(await context.req.arrayBuffer());
  return { key, fingerprint: bytesToHex(sha256(body)) };
}
