import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import type { Refused } from '#cosigner/refusal.ts';
import { base64Of } from '#cosigner/request-parser.ts';
import type { EnvelopesByCosigner } from '#domain/access/round-body.ts';
import { decodeRoundRequest, encodeRoundAnswer, hasRoundBodies, ROUND_TYPE } from '#domain/access/round-body.ts';
import type { Result } from '#domain/result.ts';

/**
 * Returns the content of a body: JSON, or the bytes of a round. Returns undefined for other bytes.
 */
export function parseBody({ headers }: Pick<Request, 'headers'>, bytes: Uint8Array): unknown {
  return headers.get('content-type') === ROUND_TYPE ? roundOf(bytes) : jsonOf(bytes);
}

function roundOf(bytes: Uint8Array): unknown {
  const decoded = decodeRoundRequest(bytes);
  return decoded === null ? undefined : { ...decoded, sid: bytesToHex(decoded.sid) };
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)) as unknown;
  } catch {
    return undefined;
  }
}

interface SentEnvelopes {
  /** Hex. */
  readonly sid: string;
  readonly envelopes: EnvelopesByCosigner;
}

/** Returns the response to a request of this version. Only the answer of a round has envelopes. */
export function responseOf(result: Result<unknown, Refused>, version: number): Response {
  if (!result.ok || !hasEnvelopes(result.value)) return jsonResponse(result);
  const { sid, envelopes } = result.value;
  if (hasRoundBodies(version)) {
    const body = encodeRoundAnswer({ sid: hexToBytes(sid), envelopes });
    return sizedResponse(body, { type: ROUND_TYPE, length: body.length });
  }
  const inBase64 = Object.entries(envelopes).map(([peer, bytes]) => [peer, base64Of(bytes)] as const);
  return jsonResponse({ ok: true, value: { sid, envelopes: Object.fromEntries(inBase64) } });
}

export function jsonResponse(content: unknown, status = 200): Response {
  const text = JSON.stringify(content);
  return sizedResponse(text, { status, type: 'application/json', length: Buffer.byteLength(text) });
}

interface Head {
  readonly status?: number;
  readonly type: string;
  readonly length: number;
}

/** Declares the length, which a response over a service binding otherwise lacks. */
function sizedResponse(body: BodyInit, { status = 200, type, length }: Head): Response {
  return new Response(body, { status, headers: { 'content-type': type, 'content-length': String(length) } });
}

function hasEnvelopes(value: unknown): value is SentEnvelopes {
  return typeof value === 'object' && value !== null && 'envelopes' in value;
}
