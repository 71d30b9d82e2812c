import { ed25519 } from '@noble/curves/ed25519.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { constantTimeEqual } from '#domain/constant-time-equal.ts';
import { hmacSha256 } from '#monitors/hmac.ts';
import type { Monitor } from '#monitors/monitor.ts';
import { field, isRecent, items } from '#monitors/monitor.ts';
import { EMPTY_REPORT, isCaip2, kindOf, reportOf } from '#monitors/report.ts';

type Bytes = Uint8Array<ArrayBuffer>;

/** A sender has one signature for each secret, and a secret is rotated seldom. */
const MAX_SIGNATURES = 10;

/**
 * Each verification of Ed25519 hashes the whole body again, which takes three milliseconds for 1
 * MiB. There is one for each pair of a signature and a public key.
 */
const MAX_VERIFICATIONS = 10;

/** The last word of the type of a test. */
const TEST = /(?:^|[._-])(?:ping|test|example)$/i;

/**
 * Standard Webhooks 1.0, for an operator's own monitors: `webhook-signature` is a list of `v1,`
 * base64 HMAC-SHA256 and `v1a,` base64 Ed25519 over `id.timestamp.body`. A secret is `whsec_` or
 * `whpk_` and base64. The body is `{ type: 'chain.activity', data: { chain, txHash } }`, where
 * `data` can be a list. Another `type` with such data is read, too.
 */
export const standardWebhooks: Monitor = {
  checkHeaders(header, secrets, nowMs) {
    const [id, timestamp] = [header('webhook-id'), header('webhook-timestamp')];
    const listed = header('webhook-signature')?.split(' ', MAX_SIGNATURES + 1) ?? [];
    if (id === null || !isRecent(timestamp, nowMs) || listed.length > MAX_SIGNATURES) return null;
    const macs = valuesOf(listed, 'v1,', 32);
    const macKeys = macs.length === 0 ? [] : valuesOf(secrets, 'whsec_');
    const signatures = valuesOf(listed, 'v1a,', 64);
    const publicKeys = signatures.length === 0 ? [] : valuesOf(secrets, 'whpk_', 32).filter(isStrictKey);
    if (macKeys.length + publicKeys.length === 0 || signatures.length * publicKeys.length > MAX_VERIFICATIONS)
      return null;
    return async (body) => {
      const signed = concatBytes(utf8ToBytes(`${id}.${timestamp}.`), body);
      const matches = await Promise.all([
        ...macKeys.map(async (key) => isAmong(macs, await hmacSha256(key, signed))),
        ...publicKeys.map((key) => isSignedBy(key, signatures, signed)),
      ]);
      // There are several while a secret is being rotated.
      return matches.includes(true);
    };
  },
  idHeader: 'webhook-id',
  read(body) {
    const type = field(body, 'type');
    const data = field(body, 'data');
    const chain = field(body, 'chain');
    const kind = kindOf(body, type);
    const rows = Array.isArray(data) ? items(data) : [data ?? body];
    const report = reportOf(
      rows.map((row) => {
        const own = field(row, 'chain') ?? chain;
        return { chain: isCaip2(own) ? own : undefined, row, kind };
      }),
    );
    const isTest = report.hints.length === 0 && typeof type === 'string' && TEST.test(type);
    return isTest ? EMPTY_REPORT : report;
  },
};

function isAmong(macs: readonly Bytes[], expected: Uint8Array): boolean {
  const text = base64Of(expected);
  return macs.filter((mac) => constantTimeEqual(base64Of(mac), text)).length > 0;
}

/**
 * Reports whether a point is a strict public key of RFC 8032: in its one encoding, and not of a
 * small order, whose signatures need no secret. Web Crypto does not check this.
 */
function isStrictKey(key: Bytes): boolean {
  try {
    return !ed25519.Point.fromBytes(key, false).isSmallOrder();
  } catch {
    return false;
  }
}

/**
 * Reports whether one of the signatures is of this key. Web Crypto compares the encoding of the
 * point and the range of the scalar, so one signature has one spelling.
 */
async function isSignedBy(key: Bytes, signatures: readonly Bytes[], signed: Bytes): Promise<boolean> {
  const imported = await crypto.subtle.importKey('raw', key, 'Ed25519', false, ['verify']);
  const verified = await Promise.all(
    signatures.map((signature) => crypto.subtle.verify('Ed25519', imported, signature, signed)),
  );
  return verified.includes(true);
}

/**
 * Returns the values in base64 behind a prefix, in bytes. Other texts are omitted, and those of
 * another length than `length`.
 */
function valuesOf(texts: readonly string[], prefix: string, length?: number): readonly Bytes[] {
  return texts
    .filter((text) => text.startsWith(prefix))
    .flatMap((text) => bytesOf(text.slice(prefix.length)) ?? [])
    .filter((bytes) => length === undefined || bytes.length === length);
}

function base64Of(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes));
}

/** Returns the bytes, or null for text that is not canonical base64. */
function bytesOf(text: string): Bytes | null {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) return null;
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  return base64Of(bytes) === text ? bytes : null;
}
