import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import type { CosignerEnv } from '#cosigner/environment.ts';
import { cosignerRequestBytes, REQUEST_SIGNATURE, REQUEST_TIME } from '#domain/cosigner-request.ts';

/** The host that a service binding asks for. Nobody outside reaches a Worker under a name that is none of its routes. */
const BOUND_HOST = 'cosigner';
/** Clocks of two accounts may differ by so much; what is older is somebody's recording. */
const TOLERANCE_MS = 60_000;

/**
 * Whether a request is of the coordinator that this node has pinned: signed by its key, for this node, this path and this body, and just now.
 * Whoever else came could sign nothing here, but could use up what a node rations. The same request twice within its minute is no harm: a
 * session's round runs once, and another opening is another session.
 */
export async function isFromCoordinator(
  request: Request,
  body: Uint8Array,
  { env, nowMs }: { readonly env: CosignerEnv; readonly nowMs: number },
): Promise<boolean> {
  const { pathname, hostname } = new URL(request.url);
  if (env.COORDINATOR_KEY === undefined || env.COORDINATOR_KEY === '') return hostname === BOUND_HOST;
  const atMs = request.headers.get(REQUEST_TIME) ?? '';
  const signature = request.headers.get(REQUEST_SIGNATURE) ?? '';
  if (!/^[0-9]{13}$/.test(atMs) || !/^[A-Za-z0-9_-]{86}$/.test(signature)) return false;
  if (Math.abs(nowMs - Number.parseInt(atMs, 10)) > TOLERANCE_MS) return false;
  const bodyHash = bytesToHex(sha256(body));
  const signed = cosignerRequestBytes({ node: env.NODE_INDEX, path: pathname.slice(1), atMs, bodyHash });
  const key = await coordinatorKey(env.COORDINATOR_KEY);
  return crypto.subtle.verify('Ed25519', key, Uint8Array.from(Buffer.from(signature, 'base64url')), signed);
}

const KEYS = new Map<string, Promise<CryptoKey>>();

function coordinatorKey(text: string): Promise<CryptoKey> {
  if (!/^[0-9a-f]{64}$/.test(text)) throw new Error('COORDINATOR_KEY has 32 bytes in hex');
  const key =
    KEYS.get(text) ?? crypto.subtle.importKey('raw', Uint8Array.from(hexToBytes(text)), 'Ed25519', false, ['verify']);
  KEYS.set(text, key);
  return key;
}
