import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import type { CosignerConfig } from '#cosigner/configuration.ts';
import {
  cosignerRequestBytes,
  REQUEST_BODY_HASH,
  REQUEST_SIGNATURE,
  REQUEST_TIME,
} from '#domain/access/cosigner-request.ts';

/** The host that a service binding asks for. Nobody outside reaches a Worker under a name that is none of its routes. */
const BOUND_HOST = 'cosigner';
/** Clocks of two accounts may differ by so much; what is older is somebody's recording. */
const TOLERANCE_MS = 60_000;

/** What a request says of its sender before its body is read. */
export type Claim =
  /** Through a service binding of this account, which needs no signature. */
  | { readonly from: 'binding' }
  /** The headers have the right form and time; `signature` is base64url and not verified yet. */
  | {
      readonly from: 'network';
      readonly coordinatorKey: string;
      readonly atMs: string;
      /** Lower-case hex SHA-256. The body is not read yet. */
      readonly bodyHash: string;
      readonly signature: string;
    };

/**
 * Returns who the request says it is from, or null where its sender can not be the coordinator that this co-signer has pinned. It reads the
 * headers alone: a stranger must not make a co-signer read a body, whose memory holds the sessions of everybody else.
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
 * Reports whether a claim is true: the pinned key signed this path and the hash of the body for this co-signer. Another sender could sign
 * nothing here, but could use up what a co-signer rations. The same request twice within its minute does no harm: a round of a session runs
 * once, and another opening is another session.
 *
 * The body is not needed, so only the coordinator can make a co-signer read one (`isClaimedBody`).
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

/** Reports whether a body is the one whose hash the coordinator has signed. */
export function isClaimedBody(claim: Claim, body: Uint8Array): boolean {
  return claim.from === 'binding' || bytesToHex(sha256(body)) === claim.bodyHash;
}

const KEYS = new Map<string, Promise<CryptoKey>>();

function verifyingKey(text: string): Promise<CryptoKey> {
  if (!/^[0-9a-f]{64}$/.test(text)) throw new Error('COORDINATOR_KEY has 32 bytes in hex');
  const key =
    KEYS.get(text) ?? crypto.subtle.importKey('raw', Uint8Array.from(hexToBytes(text)), 'Ed25519', false, ['verify']);
  KEYS.set(text, key);
  return key;
}
