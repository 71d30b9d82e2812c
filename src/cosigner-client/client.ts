import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import * as z from 'zod';
import { boundedBytes } from '#chains/rpc/bounded-fetch.ts';
import { identitySecrets } from '#mpc/identity.ts';
import {
  cosignerRequestBytes,
  versionedPath,
  WIRE_VERSIONS,
  REQUEST_BODY_HASH,
  REQUEST_SIGNATURE,
  REQUEST_TIME,
} from '#domain/access/cosigner-request.ts';
import { decodeRoundAnswer, encodeRoundRequest, hasRoundBodies, ROUND_TYPE } from '#domain/access/round-body.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import { jsonIn } from '#domain/json/untrusted-json.ts';
import { importPrivate } from '#mpc/envelope.ts';
import type { PartyIndex } from '#mpc/party.ts';
import type { CosignerEndpoint, CosignerSettings } from '#cosigner-client/endpoints.ts';
import { cosignerEndpoints } from '#cosigner-client/endpoints.ts';

/** Why a co-signer returned no result: it refused, or its answer was missing or unreadable. */
export interface CosignerFault {
  /** The co-signer that was called. */
  readonly cosigner: PartyIndex;
  /** The co-signer's own code, or one of `NO_ANSWER`. */
  readonly code: string;
  readonly detail: string | null;
  /** The co-signer that the protocol blames. */
  readonly culprit: number | null;
}

/** The codes of calls without an answer: others may be called in place of the co-signer. */
const NO_ANSWER: ReadonlySet<string> = new Set(['unreachable', 'internal']);

/** Reports whether a co-signer did not answer a call, or failed. */
export function isUnanswered({ code }: Pick<CosignerFault, 'code'>): boolean {
  return NO_ANSWER.has(code);
}

/**
 * Why co-signers together returned no result: the fault of one of them or, when their parts do not
 * combine, the coordinator's own.
 */
export interface GroupFault extends Omit<CosignerFault, 'cosigner'> {
  readonly cosigner: PartyIndex | null;
}

/** Returns a fault as a text for operators. */
export function faultText({ cosigner, code, detail, culprit }: GroupFault): string {
  const who = cosigner === null ? 'combining' : `node ${cosigner}`;
  const blamed = culprit === null ? '' : `, blames node ${culprit}`;
  return `${who} ${code}${detail === null ? '' : ` (${detail})`}${blamed}`;
}

/** One co-signer, over a service binding or over HTTPS alike: both accept a Request. */
export interface CosignerClient {
  readonly index: PartyIndex;
  /**
   * Calls the co-signer. Envelopes are bytes, in a body and in an answer.
   *
   * @param path such as `key/abc/open`
   */
  call(path: string, body: unknown): Promise<Result<unknown, CosignerFault>>;
}

/**
 * Where requests to one co-signer go, and the secret that signs them; null when a binding
 * authenticates the sender.
 */
export interface CosignerTransport {
  readonly origin: string;
  /** The network when absent. */
  readonly fetcher?: Pick<Fetcher, 'fetch'>;
  readonly coordinatorSecret: string | null;
}

/** A pairing takes a second, and a key of five co-signers three. */
const TIMEOUT_MS = 20_000;
/**
 * A round of a signature takes about ten milliseconds. A slower co-signer counts as unreachable,
 * because a caller waits and others are available.
 */
const SIGNING_TIMEOUT_MS = 5_000;
/** A statement is one signature, and a user waits for the page that shows it. */
const STATEMENT_TIMEOUT_MS = 2_000;

const reply = z.union([
  z.object({ ok: z.literal(true), value: z.unknown() }),
  z.object({
    ok: z.literal(false),
    // It is logged, and a co-signer may return anything.
    refusal: z.object({
      code: z.string().max(64),
      detail: z.string().max(300).nullable(),
      culprit: z.int().nullable(),
    }),
  }),
]);

/** Returns the co-signers of this deployment, in order. */
export function cosignersOf(env: CosignerSettings): readonly CosignerClient[] {
  const coordinatorSecret = env.COORDINATOR_SECRET ?? null;
  return cosignerEndpoints(env).map((endpoint) =>
    cosignerClient(endpoint.index, { ...transportOf(endpoint), coordinatorSecret }),
  );
}

/** Returns where requests to a co-signer go. */
export function transportOf(endpoint: CosignerEndpoint) {
  return 'url' in endpoint ? { origin: endpoint.url } : { origin: BOUND, fetcher: endpoint.binding };
}

/** A co-signer recognizes a call through a binding by this name. */
const BOUND = 'http://cosigner';

/** @param versions that the coordinator speaks, the newest first */
export function cosignerClient(
  index: PartyIndex,
  door: CosignerTransport,
  versions: readonly number[] = WIRE_VERSIONS,
): CosignerClient {
  const send = async (version: number, path: string, content: unknown): Promise<Result<unknown, CosignerFault>> => {
    const unreachable = (detail: string) => refused({ cosigner: index, code: 'unreachable', detail, culprit: null });
    const versioned = versionedPath(version, path);
    const { type, body } = bodyOf(version, path, content);
    const signature = await signatureOf(door, { index, path: versioned, body });
    const request = { method: 'POST', body, headers: { 'content-type': type, ...signature } };
    const answer = await boundedBytes(`${door.origin}/${versioned}`, request, { timeoutMs: timeoutOf(path), ...door });
    if ('fault' in answer) return unreachable(answer.fault);
    const { type: answerType, bytes } = answer;
    const parsed = reply.safeParse(
      answerType === ROUND_TYPE ? roundOf(bytes) : jsonIn(new TextDecoder().decode(bytes)),
    );
    if (!parsed.success) {
      const detail = `answered ${answer.status} with something else`;
      // It was reached, and its own log has the cause. A gateway answers 502 to 504.
      return answer.status === 500
        ? refused({ cosigner: index, code: 'internal', detail, culprit: null })
        : unreachable(detail);
    }
    return parsed.data.ok ? accepted(parsed.data.value) : refused({ cosigner: index, ...parsed.data.refusal });
  };
  const name = `${index} at ${door.origin}`;
  return {
    index,
    call: async (path, content) => {
      const [newest = 1] = versions;
      const answer = await send(AGREED.get(name) ?? newest, path, content);
      if (answer.ok || answer.refusal.code !== 'wire-mismatch') return answer;
      const spoken = (answer.refusal.detail ?? '').split(' ');
      const common = versions.find((version) => spoken.includes(String(version)));
      if (common === undefined) return answer;
      AGREED.set(name, common);
      return send(common, path, content);
    },
  };
}

/** The version that each co-signer spoke last, where it was not the newest. */
const AGREED = new Map<string, number>();

function timeoutOf(path: string): number {
  if (/^key\/[^/]+\/statement$/.test(path)) return STATEMENT_TIMEOUT_MS;
  return path.startsWith('key/') ? SIGNING_TIMEOUT_MS : TIMEOUT_MS;
}

const round = z.object({
  sid: z.string().regex(/^[0-9a-f]{64}$/),
  round: z.int().min(0).max(255),
  envelopes: z.record(z.string().regex(/^[1-5]$/), z.instanceof(Uint8Array)),
});

/** Returns a body in a version of the requests. Only a round has bytes (round-body.ts). */
function bodyOf(version: number, path: string, content: unknown) {
  const sent = hasRoundBodies(version) && path.endsWith('/round') ? round.safeParse(content) : null;
  if (sent?.success === true) {
    return { type: ROUND_TYPE, body: encodeRoundRequest({ ...sent.data, sid: hexToBytes(sent.data.sid) }) };
  }
  const inBase64 = (_name: string, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
  return { type: 'application/json', body: JSON.stringify(content, inBase64) };
}

function roundOf(bytes: Uint8Array): unknown {
  const decoded = decodeRoundAnswer(bytes);
  return decoded === null ? null : { ok: true, value: { ...decoded, sid: bytesToHex(decoded.sid) } };
}

async function signatureOf(
  { coordinatorSecret }: CosignerTransport,
  { index, path, body }: { readonly index: PartyIndex; readonly path: string; readonly body: string | BufferSource },
): Promise<Readonly<Record<string, string>>> {
  if (coordinatorSecret === null) return {};
  // The hash of the runtime: a round has 54 kB for each peer.
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
  const digest = await crypto.subtle.digest('SHA-256', bytes);
  const [atMs, bodyHash] = [String(Date.now()), bytesToHex(new Uint8Array(digest))];
  const signed = cosignerRequestBytes({ cosigner: String(index), path, atMs, bodyHash });
  const signature = await crypto.subtle.sign('Ed25519', await signingKey(coordinatorSecret), signed);
  return {
    [REQUEST_TIME]: atMs,
    [REQUEST_BODY_HASH]: bodyHash,
    [REQUEST_SIGNATURE]: Buffer.from(signature).toString('base64url'),
  };
}

const KEYS = new Map<string, Promise<CryptoKey>>();

function signingKey(secret: string): Promise<CryptoKey> {
  const key = KEYS.get(secret) ?? importPrivate('Ed25519', identitySecrets(secret).signing, ['sign']);
  KEYS.set(secret, key);
  return key;
}
