import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { invalidRequest } from '#http/edge/request-check.ts';
import type { HttpContext } from '#http/encode/context.ts';

/** A structured-field string, as in the IETF draft, or the bare token that most clients send. */
const KEY = /^(?:"([A-Za-z0-9._:/=+-]{1,64})"|([A-Za-z0-9._:/=+-]{1,64}))$/;

export interface Idempotency {
  readonly key: string;
  /** Hex SHA-256 of the path and of the raw body. */
  readonly fingerprint: string;
}

/**
 * Returns the Idempotency-Key with the fingerprint of this request; null without the header, and
 * `malformed` for a key that is not valid.
 */
export function idempotencyOf(context: HttpContext): Idempotency | null | 'malformed' {
  const header = context.req.header('idempotency-key');
  if (header === undefined) return null;
  const match = KEY.exec(header.trim());
  const key = match?.[1] ?? match?.[2];
  if (key === undefined) return 'malformed';
  // A path contains no line feed, so the boundary between the two parts is unambiguous.
  const request = concatBytes(utf8ToBytes(`${context.req.path}\n`), context.get('body') ?? new Uint8Array());
  return { key, fingerprint: bytesToHex(sha256(request)) };
}

export function malformedKey(context: HttpContext): Response {
  const detail = 'Must have 1 to 64 characters, each a letter, a digit or one of . _ : / = + and -.';
  return invalidRequest(context, [{ pointer: 'Idempotency-Key', code: 'malformed', detail }]);
}
