import { ed25519 } from '@noble/curves/ed25519.js';
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { constantTimeEqual } from '#domain/constant-time-equal.ts';
import type { Monitor } from '#monitors/monitor.ts';
import { field, hintsOn, isRecent, EMPTY_REPORT } from '#monitors/monitor.ts';

/**
 * Standard Webhooks 1.0, for an operator's own monitors: `webhook-signature` is a list of `v1,`
 * base64 HMAC-SHA256 and `v1a,` base64 Ed25519 over `id.timestamp.body`. A secret is `whsec_` or
 * `whpk_` and base64. The body is `{ type: 'chain.activity', data: { chain, txHash } }`.
 */
export const standardWebhooks: Monitor = {
  isAuthentic(delivery, secret, nowMs) {
    const [id, timestamp] = [delivery.header('webhook-id'), delivery.header('webhook-timestamp')];
    const signatures = delivery.header('webhook-signature');
    if (id === null || signatures === null || !isRecent(timestamp, nowMs)) return false;
    const signed = concatBytes(utf8ToBytes(`${id}.${timestamp}.`), delivery.body);
    // There are several while a secret is being rotated.
    return signatures.split(' ').some((signature) => isSignature(signature, secret, signed));
  },
  idHeader: 'webhook-id',
  read(body) {
    if (field(body, 'type') !== 'chain.activity') return EMPTY_REPORT;
    const data = field(body, 'data');
    const chain = field(data, 'chain');
    return { hints: hintsOn(typeof chain === 'string' ? chain : undefined, [field(data, 'txHash')]), alarm: null };
  },
};

function isSignature(signature: string, secret: string, signed: Uint8Array): boolean {
  const [version, value = ''] = signature.split(',');
  if (version === 'v1' && secret.startsWith('whsec_')) {
    const key = bytesOf(secret.slice('whsec_'.length));
    return key !== null && constantTimeEqual(value, btoa(String.fromCharCode(...hmac(sha256, key, signed))));
  }
  if (version !== 'v1a' || !secret.startsWith('whpk_')) return false;
  const [key, given] = [bytesOf(secret.slice('whpk_'.length)), bytesOf(value)];
  if (key?.length !== 32 || given?.length !== 64) return false;
  // Strict RFC 8032: one signature has one spelling.
  return ed25519.verify(given, signed, key, { zip215: false });
}

/** Returns the bytes, or null for text that is not canonical base64. */
function bytesOf(text: string): Uint8Array | null {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) return null;
  const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  return btoa(String.fromCharCode(...bytes)) === text ? bytes : null;
}
