import type { CosignerEnv } from '#cosigner/environment.ts';
import { publicIdentity } from '#cosigner/identity.ts';
import { type NodeAction, objectName, type Place } from '#cosigner/node.ts';
import { refusal, type Refused } from '#cosigner/refusal.ts';
import { parseKeyId } from '#domain/id.ts';
import { parsePartyIndex } from '#mpc/party.ts';

const ACTIONS: readonly NodeAction[] = ['open', 'start', 'round', 'policy', 'status'];

/** Room for the largest message of any round and for all evidence, and then some. */
const LARGEST_BODY_BYTES = 4_000_000;

/**
 * The interface of a co-signer, for its coordinator alone:
 *
 *     POST /key/{keyId}/{action}   POST /pair/{peer}/{action}   POST /keygen/{run}/{action}   GET /identity
 *
 * It is the same over a service binding and over HTTPS. 200 with `{ ok, value }` or `{ ok, refusal }`: a refusal is an answer.
 */
export async function serve(request: Request, env: CosignerEnv): Promise<Response> {
  const [, kind, name, actionText, ...rest] = new URL(request.url).pathname.split('/');
  if (request.method === 'GET' && kind === 'identity' && name === undefined) {
    return Response.json({ index: Number.parseInt(env.NODE_INDEX, 10), ...publicIdentity(env.IDENTITY_SECRET) });
  }
  const place = placeOf(kind, name ?? '');
  const action = ACTIONS.find((known) => known === actionText);
  if (request.method !== 'POST' || place === null || action === undefined || rest.length > 0) {
    return answer(404, refusal('malformed', 'path'));
  }
  const body = await readJson(request);
  if (body === undefined) return answer(400, refusal('malformed', 'body'));
  const served = await env.NODE.getByName(objectName(place)).serve(place, action, body);
  return Response.json(served);
}

function placeOf(kind: string | undefined, name: string): Place | null {
  if (kind === 'key') {
    const keyId = parseKeyId(name);
    return keyId === null ? null : { kind, keyId };
  }
  if (kind === 'pair') {
    const peer = /^[1-5]$/.test(name) ? parsePartyIndex(Number.parseInt(name, 10)) : null;
    return peer === null ? null : { kind, peer };
  }
  return kind === 'keygen' && /^[0-9a-f]{32}$/.test(name) ? { kind, run: name } : null;
}

async function readJson(request: Request): Promise<unknown> {
  const bytes = await request.arrayBuffer();
  if (bytes.byteLength > LARGEST_BODY_BYTES) return undefined;
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)) as unknown;
  } catch {
    return undefined;
  }
}

function answer(status: number, why: Refused): Response {
  return Response.json({ ok: false, refusal: why }, { status });
}
