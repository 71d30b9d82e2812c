import { joinedBytes } from '#domain/joined-bytes.ts';

/**
 * The bodies of rounds since version 2 of the requests (cosigner-request.ts). A round of ECDSA has
 * 54 kB for each peer. JSON would need them in base64, and would be read and written several times.
 *
 *     request: sid (32) | round (1) | envelopes
 *     answer:  sid (32) | envelopes
 *     each envelope: co-signer (1) | length (4, big-endian) | bytes
 *
 * In a request an envelope is from that co-signer, in an answer it is for that co-signer. An answer
 * without envelopes is JSON.
 */
export const ROUND_TYPE = 'application/octet-stream';

/** The first version that has these bodies. */
const FIRST_VERSION = 2;

export type EnvelopesByCosigner = Readonly<Record<string, Uint8Array>>;

export interface RoundAnswerBody {
  /** 32 bytes. */
  readonly sid: Uint8Array;
  readonly envelopes: EnvelopesByCosigner;
}

export interface RoundRequestBody extends RoundAnswerBody {
  readonly round: number;
}

/** Reports whether a version of the requests has these bodies. */
export function hasRoundBodies(version: number): boolean {
  return version >= FIRST_VERSION;
}

export function encodeRoundRequest({ sid, round, envelopes }: RoundRequestBody): Uint8Array<ArrayBuffer> {
  return joinedBytes([sid, Uint8Array.of(round), ...partsOf(envelopes)]);
}

export function encodeRoundAnswer({ sid, envelopes }: RoundAnswerBody): Uint8Array<ArrayBuffer> {
  return joinedBytes([sid, ...partsOf(envelopes)]);
}

/** Returns null for bytes of another form. The envelopes are views of the bytes. */
export function decodeRoundRequest(bytes: Uint8Array): RoundRequestBody | null {
  const envelopes = envelopesOf(bytes.subarray(SID_BYTES + 1));
  const round = bytes[SID_BYTES];
  return round === undefined || envelopes === null ? null : { sid: bytes.subarray(0, SID_BYTES), round, envelopes };
}

/** Like `decodeRoundRequest`. */
export function decodeRoundAnswer(bytes: Uint8Array): RoundAnswerBody | null {
  const envelopes = bytes.length < SID_BYTES ? null : envelopesOf(bytes.subarray(SID_BYTES));
  return envelopes === null ? null : { sid: bytes.subarray(0, SID_BYTES), envelopes };
}

const SID_BYTES = 32;
const HEAD_BYTES = 5;

function partsOf(envelopes: EnvelopesByCosigner): readonly Uint8Array[] {
  return Object.entries(envelopes).flatMap(([cosigner, bytes]) => {
    const head = new Uint8Array(HEAD_BYTES);
    const view = new DataView(head.buffer);
    view.setUint8(0, Number.parseInt(cosigner, 10));
    view.setUint32(1, bytes.length);
    return [head, bytes];
  });
}

/** Returns null for a cut envelope, and for two envelopes of one co-signer. */
function envelopesOf(bytes: Uint8Array): EnvelopesByCosigner | null {
  const envelopes: Record<string, Uint8Array> = {};
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length;) {
    if (at + HEAD_BYTES > bytes.length) return null;
    const [cosigner, length] = [String(view.getUint8(at)), view.getUint32(at + 1)];
    const start = at + HEAD_BYTES;
    at = start + length;
    if (at > bytes.length || Object.hasOwn(envelopes, cosigner)) return null;
    envelopes[cosigner] = bytes.subarray(start, at);
  }
  return envelopes;
}
