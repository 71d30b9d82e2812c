import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import type { CosignerConfig } from '#cosigner/configuration.ts';
import {
  cosignerRequestBytes,
  REQUEST_BODY_HASH,
  REQUEST_SIGNATURE,
  REQUEST_TIME,
} from '#domain/access/cosigner-request.ts';

/**
 * The host name of requests over a service binding. A request from outside reaches a Worker only
 * under the names of its routes.
 */
const BOUND_HOST = 'cosigner';
/**
 * The largest accepted difference between the clocks of two accounts. An older request may be a
 * recording.
 */
const TOLERANCE_MS = 60_000;

/** The sender that a request claims before its body is read. */
export type Claim =
  /** A service binding of this account, which needs no signature. */
  | { readonly from: 'binding' }
  /** The headers have the right form and time; `signature` is base64url and is not verified yet. */
  | {
      readonly from: 'network';
      readonly coordinatorKey: string;
      readonly atMs: string;
      /** Lower-case hex SHA-256 of the body, which is not read yet. */
      readonly bodyHash: string;
      readonly signature: string;
    };

/**
 * Returns the claimed sender of a request, or null when it cannot be the coordinator that this
 * co-signer pins. The function reads only the headers: a stranger must not make a co-signer read a
 * body, because the same memory holds the sessions of all callers.
 */
export function parseClaim(
  request: Request,
  { env, nowMs }: { readonly env: CosignerConfig; readonly nowMs: number },
): Claim | null {
  const { COORDINATOR_KEY: coordinatorKey = '' } = env;
  if (coordinatorKey === '') return new URL(request.url).hostname === BOUND_HOST ? { from: 'binding' } : null;
  const atMs = request.headers.get(REQUEST_TIME) ?? '';
  const signature = request.headers.get(REQUEST_SIGNATURE) ?? '';
  const bodyHash = request.headers.get(REQUEST_BODY_HASH) ?? '';
  if (!/^[0-9a-f]{64}$/.test(bodyHash)) return null;
  if (!/^[0-9]{13}$/.test(atMs) || !/^[A-Za-z0-9_-]{86}$/.test(signature)) return null;
  if (Math.abs(nowMs - Number.parseInt(atMs, 10)) > TOLERANCE_MS) return null;
  return { from: 'network', coordinatorKey, atMs, bodyHash, signature };
}

/**
 * Reports whether a claim is true: the pinned key signed this path and this body hash for this
 * co-signer. Another sender could sign nothing here, but could use up the rate limits of the
 * co-signer. Replaying a request within its minute does no harm: a round of a session runs once,
 * and another opening creates another session.
 *
 * The check does not need the body, so only the coordinator can make a co-signer read one
 * (`isClaimedBody`).
 */
export async function isFromCoordinator(
  claim: Claim,
  { request, env }: { readonly request: Request; readonly env: CosignerConfig },
): Promise<boolean> {
  if (claim.from === 'binding') return true;
  const { atMs, bodyHash, signature } = claim;
  const path = new URL(request.url).pathname.slice(1);
  const signed = cosignerRequestBytes({ cosigner: env.NODE_INDEX, path, atMs, bodyHash });
  const key = await verifyingKey(claim.coordinatorKey);
  return crypto.subtle.verify('Ed25519', key, Uint8Array.from(Buffer.from(signature, 'base64url')), signed);
}

/** Reports whether a body is the one whose hash the coordinator signed. */
export async function isClaimedBody(claim: Claim, body: Uint8Array<ArrayBuffer>): Promise<boolean> {
  if (claim.from === 'binding') return true;
  // The hash of the runtime: a round has 54 kB for each peer.
  return bytesToHex(new Uint8Array(await crypto.subtle.digest('SHA-256', body))) === claim.bodyHash;
}

const KEYS = new Map<string, Promise<CryptoKey>>();

function verifyingKey(text: string): Promise<CryptoKey> {
  if (!/^[0-9a-f]{64}$/.test(text)) throw new Error('COORDINATOR_KEY must be 32 bytes in hex');
  const key =
    KEYS.get(text) ?? crypto.subtle.importKey('raw', Uint8Array.from(hexToBytes(text)), 'Ed25519', false, ['verify']);
  KEYS.set(text, key);
  return key;
}
