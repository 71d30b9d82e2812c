import { expect, test } from 'vitest';
import { parseKeyId } from '#domain/id.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { call, asService, changePolicy, coordinator, created, foundTreasury } from '../scene.worker.ts';
import { vaultOf } from '../../objects/vault/vault-of.ts';

/**
 * Covers how the coordinator delivers the statements of the co-signers, and the chain of policies
 * for a verifier.
 */

const NONCE = 'ab'.repeat(32);

/** Returns the binding of a co-signer with this number, which gives a statement. */
function stating(index: number): Fetcher {
  const fetch = async (input: RequestInfo | URL, init?: RequestInit) => {
    const request = new Request(input, init);
    const keyId = new URL(request.url).pathname.split('/')[3] ?? '';
    const { nonce } = (await request.json()) as { readonly nonce: string };
    const statement = {
      cosigner: index,
      vaultId: 1,
      keyId,
      policyVersion: 1,
      signingThreshold: 2,
      policyHash: 'cd'.repeat(32),
      epoch: 1,
      issuedAtMs: 5,
      nonce,
      signature: 'ef'.repeat(64),
    };
    return Response.json({ ok: true, value: statement });
  };
  return { fetch } as unknown as Fetcher;
}

const env: CoordinatorEnv = { ...coordinator, COSIGNER_2: stating(2) };

const KEY = 'a'.repeat(26);
const UNREACHABLE = [1, 2, 3].map((cosigner) => ({ cosigner, keyId: KEY, statement: null, fault: 'unreachable' }));

test('a challenge with a nonce has one entry for each co-signer, also when all of them are unreachable', async () => {
  const treasury = await foundTreasury();
  const { body } = await created(treasury);
  const line = `GET /transaction/${body['id']}/challenge`;
  const { token } = treasury.alice;
  const plain = await call(line, { token, env });
  expect([plain.status, plain.body['statements']]).toEqual([200, null]);
  expect(plain.body['keys']).toEqual([{ keyId: KEY, scheme: 'ecdsa-secp256k1', publicKey: '02' }]);
  const unreachable = await call(`${line}?nonce=${NONCE}`, { token });
  expect([unreachable.status, unreachable.body['statements']]).toEqual([200, UNREACHABLE]);
  const stated = await call(`${line}?nonce=${NONCE}`, { token, env });
  expect(stated.body['statements']).toEqual([
    UNREACHABLE[0],
    {
      cosigner: 2,
      keyId: KEY,
      statement: expect.objectContaining({ cosigner: 2, nonce: NONCE, keyId: KEY }),
      fault: null,
    },
    UNREACHABLE[2],
  ]);
  const { policy, digest, statements, ...rest } = stated.body;
  expect([policy.hash, rest['intent'].policyHash]).toEqual([policy.hash, policy.hash]);
  expect([digest, await hashOf(policy.canonical)]).toEqual([plain.body['digest'], policy.hash]);
  expect(statements).toHaveLength(3);
});

test('a challenge names the key that would sign, and a policy names all keys of its vault', async () => {
  const treasury = await foundTreasury();
  const keyId = parseKeyId('b'.repeat(26));
  if (keyId === null) throw new Error('the key id must parse');
  const other = {
    keyId,
    scheme: 'frost-ed25519',
    publicKey: '03',
    publicShares: {},
    addresses: { solana: 'x' },
  } as const;
  await vaultOf(coordinator, treasury.id).report({ type: 'recordKey', key: other });
  const { body } = await created(treasury);
  const { token } = treasury.alice;
  const challenge = await call(`GET /transaction/${body['id']}/challenge?nonce=${NONCE}`, { token });
  expect(challenge.body['statements'].map((one: { readonly keyId: string }) => one.keyId)).toEqual([KEY, KEY, KEY]);
  const policy = await call(`GET /vault/${treasury.id}/policy?nonce=${NONCE}`, { token });
  const keyIds = new Set(policy.body['statements'].map((one: { readonly keyId: string }) => one.keyId));
  expect([...keyIds]).toEqual([KEY, keyId]);
  expect(policy.body['statements']).toHaveLength(6);
});

test('a malformed nonce is refused with its name, and only a member gets a statement', async () => {
  const treasury = await foundTreasury();
  const { body } = await created(treasury);
  const proposed = await asService(`POST /internal/vault/${treasury.id}/policy-change`, { threshold: 3 });
  const lines = [
    `GET /transaction/${body['id']}/challenge`,
    `GET /vault/${treasury.id}/policy`,
    `GET /vault/${treasury.id}/policy-change/${proposed.body['id']}`,
  ];
  for (const line of lines) {
    for (const nonce of ['', 'ab', NONCE.toUpperCase(), `${NONCE}ab`]) {
      const answer = await call(`${line}?nonce=${nonce}`, { token: treasury.alice.token, env });
      expect([answer.status, answer.body['errors'][0].pointer]).toEqual([400, '/nonce']);
    }
    const stranger = await call(`${line}?nonce=${NONCE}`, { token: treasury.mallory.token, env });
    expect([stranger.status, stranger.body['code']]).toEqual([403, 'forbidden']);
  }
});

test('a policy change has the bytes of both policies and of the mandate, and each hash matches', async () => {
  const treasury = await foundTreasury();
  const proposed = await asService(`POST /internal/vault/${treasury.id}/policy-change`, { threshold: 3 });
  const line = `GET /vault/${treasury.id}/policy-change/${proposed.body['id']}?nonce=${NONCE}`;
  const { body } = await call(line, { token: treasury.alice.token, env });
  const { policyInForce, policy, canonical, digest, statements } = body;
  expect([await hashOf(policyInForce.canonical), policy.previousHash]).toEqual([
    policyInForce.hash,
    policyInForce.hash,
  ]);
  expect([await hashOf(policy.canonical), await hashOf(canonical)]).toEqual([policy.hash, digest]);
  expect(statements.map((one: { readonly fault: string | null }) => one.fault)).toEqual([
    'unreachable',
    null,
    'unreachable',
  ]);
});

test('the earlier policies are listed with the change that adopted each, newest first, page by page', async () => {
  const treasury = await foundTreasury();
  for (let i = 0; i < 21; i++) await changePolicy(treasury, { threshold: i % 2 === 0 ? 3 : 2 });
  const { token } = treasury.victor;
  const line = `GET /vault/${treasury.id}/policies`;
  const first = await call(line, { token });
  const versions = ({ body }: typeof first) =>
    body['data'].map((one: { readonly policy: { readonly version: number } }) => one.policy.version);
  expect([versions(first), first.body['nextCursor']]).toEqual([Array.from({ length: 20 }, (_, i) => 22 - i), '3']);
  const second = await call(`${line}?cursor=3`, { token });
  expect([versions(second), second.body['nextCursor']]).toEqual([[2, 1], null]);
  const [next, before] = second.body['data'];
  expect([next.policy.previousHash, before.mandate]).toEqual([before.policy.hash, null]);
  const digest = await hashOf(next.mandate.canonical);
  expect(next.mandate.approvals.map((one: { readonly digest: string }) => one.digest)).toEqual([digest, digest]);
  expect(before.policy.previousHash).toBe('0'.repeat(64));
  expect((await call(line, { token: treasury.mallory.token })).status).toBe(403);
  expect((await call(`${line}?cursor=x`, { token })).status).toBe(400);
});

test('a policy change can name the co-signers', async () => {
  const treasury = await foundTreasury();
  const cosigners = [1, 2, 3].map((index) => ({ index, signing: `${index}b`.repeat(32) }));
  await changePolicy(treasury, { cosigners });
  const { body } = await call(`GET /vault/${treasury.id}/policy`, { token: treasury.victor.token });
  expect(body['policy']).toMatchObject({ version: 2, cosigners });
  const wrong = await asService(`POST /internal/vault/${treasury.id}/policy-change`, {
    cosigners: cosigners.toReversed(),
  });
  expect([wrong.status, wrong.body['errors'][0].pointer]).toEqual([400, '/cosigners']);
});

async function hashOf(hex: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', Buffer.from(hex, 'hex'));
  return Buffer.from(digest).toString('hex');
}
