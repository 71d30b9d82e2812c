import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseClaim, isClaimedBody, isFromCoordinator } from '#cosigner/api/coordinator-auth.ts';
import type { CosignerEnv } from '#cosigner/api/object.ts';
import { identitySecrets, publicIdentity } from '#mpc/identity.ts';
import {
  cosignerRequestBytes,
  REQUEST_BODY_HASH,
  REQUEST_SIGNATURE,
  REQUEST_TIME,
} from '#domain/access/cosigner-request.ts';
import { importPrivate } from '#mpc/envelope.ts';
import { NOON_MS } from '../domain/cast.ts';
import type { Cosigners } from './cosigners.ts';
import { startCosigners } from './cosigners.ts';

/** Tests which requests a co-signer accepts from a coordinator in another Cloudflare account. */

const SECRET = '11'.repeat(32);
const env = { NODE_INDEX: '2', COORDINATOR_KEY: publicIdentity(SECRET).signing } as CosignerEnv;

interface Signed {
  readonly cosigner?: string;
  readonly path?: string;
  readonly atMs?: string;
  readonly body?: string;
  readonly secret?: string;
}

/** Returns the headers that a coordinator sends with a request of these properties. */
async function headersOf(signed: Signed = {}): Promise<Record<string, string>> {
  const { cosigner = '2', path = 'key/abc/open', atMs = String(NOON_MS), body = '{}', secret = SECRET } = signed;
  const key = await importPrivate('Ed25519', identitySecrets(secret).signing, ['sign']);
  const bodyHash = bytesToHex(sha256(utf8ToBytes(body)));
  const signature = await crypto.subtle.sign('Ed25519', key, cosignerRequestBytes({ cosigner, path, atMs, bodyHash }));
  return {
    [REQUEST_TIME]: atMs,
    [REQUEST_BODY_HASH]: bodyHash,
    [REQUEST_SIGNATURE]: Buffer.from(signature).toString('base64url'),
  };
}

/** Reports whether co-signer 2 accepts a request with these headers that arrives at noon. */
async function isTaken(headers: Record<string, string>, { host = 'cosigner-2.example.com', body = '{}' } = {}) {
  const request = new Request(`https://${host}/key/abc/open`, { method: 'POST', headers });
  const claim = parseClaim(request, { env, nowMs: NOON_MS });
  if (claim === null || !(await isFromCoordinator(claim, { request, env }))) return false;
  return isClaimedBody(claim, utf8ToBytes(body));
}

test('a request with the signature of the pinned coordinator is accepted up to a minute before and after its time', async () => {
  for (const atMs of [NOON_MS, NOON_MS - 60_000, NOON_MS + 60_000]) {
    expect(await isTaken(await headersOf({ atMs: String(atMs) }))).toBe(true);
  }
});

test.each<[string, Signed]>([
  ['by another key', { secret: '22'.repeat(32) }],
  ['for another node', { cosigner: '1' }],
  ['for another path', { path: 'key/abc/round' }],
  ['with another body', { body: '{"sid":"00"}' }],
  ['too long ago', { atMs: String(NOON_MS - 60_001) }],
  ['too far ahead', { atMs: String(NOON_MS + 60_001) }],
])('a request that is signed %s is refused', async (_name, signed) => {
  expect(await isTaken(await headersOf(signed))).toBe(false);
});

test('a request with no signature, half a signature, or text in place of a time is refused', async () => {
  const right = await headersOf();
  const half = { ...right, [REQUEST_SIGNATURE]: String(right[REQUEST_SIGNATURE]).slice(0, 43) };
  const timeless = { ...right, [REQUEST_TIME]: 'now' };
  const moved = { ...right, [REQUEST_TIME]: String(NOON_MS + 1) };
  const bodiless = { ...right, [REQUEST_BODY_HASH]: '' };
  const emptyBody = { ...right, [REQUEST_BODY_HASH]: bytesToHex(sha256(new Uint8Array())) };
  for (const headers of [{}, half, timeless, moved, bodiless, emptyBody]) expect(await isTaken(headers)).toBe(false);
  // A co-signer with a pinned coordinator accepts no service binding without its signature.
  expect(await isTaken({}, { host: 'cosigner' })).toBe(false);
});

test('a co-signer without a pinned coordinator serves only the service binding of its own account', () => {
  const claimAt = (host: string) => {
    const request = new Request(`https://${host}/key/abc/open`, { method: 'POST' });
    return parseClaim(request, { env: { NODE_INDEX: '2' } as CosignerEnv, nowMs: NOON_MS });
  };
  expect([claimAt('cosigner'), claimAt('cosigner-2.example.com')]).toEqual([{ from: 'binding' }, null]);
});

let cosigners: Cosigners;
beforeAll(async () => {
  cosigners = await startCosigners();
});
afterAll(() => cosigners.stop());

test('a network caller without the coordinator signature is refused and learns only the identity of the co-signer', async () => {
  const origin = cosigners.originOf(2);
  const stranger = await fetch(`${origin}/v1/pairs/status`, { method: 'POST', body: '{}' });
  expect([stranger.status, await stranger.json()]).toMatchObject([
    401,
    { ok: false, refusal: { code: 'not-my-coordinator' } },
  ]);
  const forged = await headersOf({ path: 'v1/pairs/status', atMs: String(Date.now()) });
  expect((await fetch(`${origin}/v1/pairs/status`, { method: 'POST', body: '{}', headers: forged })).status).toBe(401);
  expect(await (await fetch(`${origin}/identity`)).json()).toMatchObject({ index: 2 });
  const [, second] = cosigners.all;
  expect(await second.call('pairs/status', {})).toMatchObject({ ok: true });
});
