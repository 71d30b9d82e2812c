import { parseClaim, isClaimedBody, isFromCoordinator } from '#cosigner/api/coordinator-auth.ts';
import type { CosignerEnv } from '#cosigner/api/object.ts';
import type { CosignerSet } from '#cosigner/cosigner-set.ts';
import { loadCosignerSet } from '#cosigner/cosigner-set.ts';
import { publicIdentity } from '#mpc/identity.ts';
import { COSIGNER_ACTIONS, type CosignerAction, objectName, type ObjectRef } from '#cosigner/api/object-ref.ts';
import { refusal, type Refused } from '#cosigner/refusal.ts';
import { jsonResponse, parseBody, responseOf } from '#cosigner/api/request-body.ts';
import { declaredLength, readAtMost, readDeclared } from '#domain/bounded-read.ts';
import { WIRE_VERSIONS } from '#domain/access/cosigner-request.ts';
import { parseKeyId, parseVaultIdText } from '#domain/id.ts';
import { COSIGNER_SCHEMA } from '#cosigner/schema.ts';
import { settingsTest } from '#cosigner/self-test.ts';
import { isJsonObject } from '#domain/json/untrusted-json.ts';
import { RELEASE } from '#domain/operations/release.ts';
import { settingFaultIn } from '#domain/operations/setting-fault.ts';
import { parsePartyIndex } from '#mpc/party.ts';
import { logUnreadable } from '#store/document.ts';
import { isLogged, logLine } from '#store/operations/log-line.ts';
import { errorText } from '#store/error-text.ts';

/** What a co-signer states about itself, and not about a key, a vault or a pair. */
const OWN_STATES = ['pairs/status', 'recovery/status', 'self/test'] as const;

/** The maximum number of keys whose shares one self-test opens. */
const MAX_TESTED_KEYS = 8;

/** Leaves room for the largest message of any round and for all evidence. */
const MAX_BODY_BYTES = 4_000_000;

/**
 * Serves the interface of a co-signer, which only its coordinator may call:
 *
 *     POST /v2/key/{keyId}/{action}   POST /v2/proof/{keyId}/{action}
 *     POST /v2/reshare/{keyId}/{action}   POST /v2/keygen/{run}/{action}
 *     POST /v2/vault/{id}/{action}   POST /v2/pair/{peer}/{action}
 *     POST /v2/pairs/status   POST /v2/recovery/status   POST /v2/self/test   GET /identity
 *
 * The interface is the same over a service binding and over HTTPS, where the coordinator signs each
 * request (`isFromCoordinator`). Returns 200 with `{ ok, value }`, with the bytes of a round
 * (round-body.ts), or with `{ ok, refusal }`, since a refusal is an answer. Refuses, in order: 404
 * `wire-mismatch`, 404 `malformed` (path), 401 `not-my-coordinator` (form of the headers), 413
 * `body-too-large` (declared length), 401 `not-my-coordinator` (signature), 413 `body-too-large`
 * (actual length), 401 `not-my-coordinator` (the body is not the signed one), 400 `malformed` (the
 * body is neither JSON nor a round), 500 `state-unreadable` (this release cannot open the object).
 */
export async function serve(request: Request, env: CosignerEnv): Promise<Response> {
  const startMs = Date.now();
  const path = pathOf(request);
  const response = await respond(request, env, path);
  const { status } = response;
  if (isLogged(env, { always: status >= 500 })) {
    const { target, question } = path;
    // The path of a stranger may be any text and is not logged.
    const object = target === null ? null : objectName(target.ref);
    const action = target?.action ?? question ?? null;
    logLine({ event: 'request', object, action, status, ms: Date.now() - startMs });
  }
  return response;
}

interface CalledPath {
  readonly version: string;
  readonly requestsIdentity: boolean;
  /** What the co-signer states about itself; undefined for another path. */
  readonly question: (typeof OWN_STATES)[number] | undefined;
  /** Null for a path that is not about an object. */
  readonly target: { readonly ref: ObjectRef; readonly action: CosignerAction } | null;
}

function pathOf({ url }: Request): CalledPath {
  const [, version = '', kind, name = '', actionText, ...rest] = new URL(url).pathname.split('/');
  const ref = refOf(kind, name);
  const action = COSIGNER_ACTIONS.find((known) => known === actionText);
  return {
    version,
    requestsIdentity: version === 'identity' && kind === undefined,
    question: actionText === undefined ? OWN_STATES.find((known) => `${kind}/${name}` === known) : undefined,
    target: ref !== null && action !== undefined && rest.length === 0 ? { ref, action } : null,
  };
}

async function respond(
  request: Request,
  env: CosignerEnv,
  { version, requestsIdentity, question, target }: CalledPath,
): Promise<Response> {
  if (request.method === 'GET' && requestsIdentity) {
    return jsonResponse({ index: Number.parseInt(env.NODE_INDEX, 10), ...publicIdentity(env.IDENTITY_SECRET) });
  }
  const spoken = WIRE_VERSIONS.find((one) => version === `v${one}`);
  if (spoken === undefined && /^v[1-9][0-9]{0,3}$/.test(version)) {
    return answer(404, refusal('wire-mismatch', WIRE_VERSIONS.join(' ')));
  }
  if (request.method !== 'POST' || spoken === undefined || (question === undefined && target === null)) {
    return answer(404, refusal('malformed', 'path'));
  }
  const claim = parseClaim(request, { env, nowMs: Date.now() });
  if (claim === null) return answer(401, refusal('not-my-coordinator'));
  const declared = declaredLength(request);
  if (declared !== null && declared > MAX_BODY_BYTES) return answer(413, refusal('body-too-large'));
  // The check precedes the body, so that a stranger cannot make a co-signer hold a body in memory.
  if (!(await isFromCoordinator(claim, { request, env }))) return answer(401, refusal('not-my-coordinator'));
  const { body: stream } = request;
  const bytes = await (declared === null ? readAtMost(stream, MAX_BODY_BYTES) : readDeclared(stream, declared));
  if (bytes === null) return answer(413, refusal('body-too-large'));
  if (!(await isClaimedBody(claim, bytes))) return answer(401, refusal('not-my-coordinator'));
  const body = parseBody(request, bytes);
  if (body === undefined) return answer(400, refusal('malformed', 'body'));
  if (target === null) {
    // A co-signer with wrong settings signs nothing. This answer informs the operator before a
    // payment waits for the co-signer.
    const cosigners = await cosignerSetOf(env);
    if (typeof cosigners === 'string') return answer(500, refusal('misconfigured', cosigners));
    if (question === 'self/test') {
      const keyIds = keyIdsOf(body);
      if (keyIds === null) return answer(400, refusal('malformed', 'keyIds'));
      return jsonResponse({ ok: true, value: await selfTest(env, cosigners, keyIds) });
    }
    const { recoveryKey } = cosigners;
    const value = question === 'recovery/status' ? { recoveryKey } : await pairStates(env, cosigners);
    return jsonResponse({ ok: true, value });
  }
  const { ref, action } = target;
  try {
    return responseOf(await env.NODE.getByName(objectName(ref)).serve(ref, action, body), spoken);
  } catch (error) {
    return answer(500, refusal('state-unreadable', logUnreadable(error, { object: objectName(ref) })));
  }
}

/** Returns the settings, or the name of the one that is wrong and never a part of it. */
async function cosignerSetOf(env: CosignerEnv): Promise<CosignerSet | string> {
  try {
    return await loadCosignerSet(env);
  } catch (error) {
    const setting = settingFaultIn(error)?.name ?? 'unknown';
    console.error(JSON.stringify({ event: 'misconfigured', setting }));
    return setting;
  }
}

function keyIdsOf(body: unknown): readonly string[] | null {
  const listed: unknown = isJsonObject(body) ? body['keyIds'] : null;
  if (!Array.isArray(listed) || listed.length > MAX_TESTED_KEYS) return null;
  const keyIds = listed.flatMap((one) => (typeof one === 'string' ? (parseKeyId(one) ?? []) : []));
  return keyIds.length === listed.length ? keyIds : null;
}

/** Opens the share of each key, and states the settings. One key that fails stops no other. */
async function selfTest(env: CosignerEnv, cosigners: CosignerSet, keyIds: readonly string[]) {
  const keys = await Promise.all(
    keyIds.map(async (keyId) => {
      const object = objectName({ kind: 'key', keyId });
      try {
        return { keyId, ...(await env.NODE.getByName(object).testShare(keyId)) };
      } catch (error) {
        console.error(JSON.stringify({ event: 'share-unreadable', object, error: errorText(error) }));
        return { keyId, epoch: null, madeAtMs: null, fault: 'unreadable' as const };
      }
    }),
  );
  const { length: stateVersion } = COSIGNER_SCHEMA.migrations;
  return { ...settingsTest(env, cosigners), release: RELEASE, stateVersion, keys };
}

/**
 * Returns for every peer whether it is banned, and the id of the set-up with it. One response
 * covers all peers, because the number of subrequests of a coordinator is limited.
 */
async function pairStates(env: CosignerEnv, { peers }: CosignerSet): Promise<Readonly<Record<string, unknown>>> {
  const states: Record<string, unknown> = {};
  for (const peer of peers.keys()) {
    const pair = env.NODE.getByName(objectName({ kind: 'pair', peer }));
    const { banned, setupId } = await pair.pairState(peer, null);
    states[peer] = { banned, setupId };
  }
  return states;
}

function refOf(kind: string | undefined, name: string): ObjectRef | null {
  if (kind === 'key' || kind === 'proof' || kind === 'reshare') {
    const keyId = parseKeyId(name);
    return keyId === null ? null : { kind, keyId };
  }
  if (kind === 'vault') {
    const vaultId = parseVaultIdText(name);
    return vaultId === null ? null : { kind, vaultId };
  }
  if (kind === 'pair') {
    const peer = /^[1-5]$/.test(name) ? parsePartyIndex(Number.parseInt(name, 10)) : null;
    return peer === null ? null : { kind, peer };
  }
  return kind === 'keygen' && /^[0-9a-f]{32}$/.test(name) ? { kind, run: name } : null;
}

function answer(status: number, why: Refused): Response {
  return jsonResponse({ ok: false, refusal: why }, status);
}
