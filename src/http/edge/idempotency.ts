import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { HttpContext } from '#http/edge/context.ts';

/** A structured-field string, as the IETF draft has it, or the bare token that most clients send. */
const KEY = /^(?:"([A-Za-z0-9._:/=+-]{1,64})"|([A-Za-z0-9._:/=+-]{1,64}))$/;

export interface Idempotency {
  readonly key: string;
  /** Hex SHA-256 of the path and of the body as it came. */
  readonly fingerprint: string;
}

/** The Idempotency-Key with the fingerprint of this request; null without the header, `malformed` for one that can not be used. */
export async function idempotencyOf(context: HttpContext): Promise<Idempotency | null | 'malformed'> {
  const header = context.req.header('idempotency-key');
  if (header === undefined) return null;
  const match = KEY.exec(header.trim());
  const key = match?.[1] ?? match?.[2];
  if (key === undefined) return 'malformed';
  const body = new Uint8Array(await context.req.arrayBuffer());
  // No path holds a line feed, so the two parts are told apart.
  const request = concatBytes(utf8ToBytes(`${context.req.path}\n`), body);
  return { key, fingerprint: bytesToHex(sha256(request)) };
}
