import { ed25519 } from '@noble/curves/ed25519.js';
import { hexToBytes } from '@noble/hashes/utils.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { accepted, refused } from '#domain/result.ts';
import type { SignedStatement } from '#domain/policy/statement.ts';
import { statementBytes } from '#domain/policy/statement.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';
import { policyStatements } from '#cosigner-client/policy-statements.ts';
import { policy } from '../../domain/cast.ts';
import { hashOf } from '../../devices/policy-links-scene.ts';
import { party } from '../../mpc/dealt-key.ts';
import type { Cosigners } from '../cosigners.ts';
import { newKey, present, startCosigners } from '../cosigners.ts';

let cosigners: Cosigners;
let key: VaultKey;

beforeAll(async () => {
  cosigners = await startCosigners();
  key = await newKey(cosigners.all);
});
afterAll(() => cosigners.stop());

const NONCE = 'ab'.repeat(32);
const UNKNOWN_KEY = 'a'.repeat(26);

async function identityOf(index: number): Promise<string> {
  const response = await fetch(`${cosigners.originOf(index)}/identity`);
  const identity = (await response.json()) as { readonly signing: string };
  return identity.signing;
}

test('each co-signer states the policy that it has in force, signed with the identity that it publishes', async () => {
  const before = Date.now();
  const entries = await policyStatements(cosigners.all, [key.keyId], NONCE);
  expect(entries.map(({ cosigner, keyId, fault }) => [cosigner, keyId, fault])).toEqual(
    [1, 2, 3].map((index) => [index, key.keyId, null]),
  );
  for (const { cosigner, statement } of entries) {
    const { signature, issuedAtMs, ...rest }: SignedStatement = present(statement);
    expect(rest).toEqual({
      cosigner,
      vaultId: policy.vaultId,
      keyId: key.keyId,
      policyVersion: 1,
      signingThreshold: 2,
      policyHash: hashOf(policy),
      epoch: 1,
      nonce: NONCE,
    });
    expect(issuedAtMs).toBeGreaterThanOrEqual(before);
    const bytes = statementBytes({ ...rest, issuedAtMs });
    expect(ed25519.verify(hexToBytes(signature), bytes, hexToBytes(await identityOf(cosigner)))).toBe(true);
  }
});

test('a request for an unknown key or with a malformed nonce gets no statement', async () => {
  const entries = await policyStatements(cosigners.all, [UNKNOWN_KEY], NONCE);
  expect(entries).toEqual(
    [1, 2, 3].map((cosigner) => ({ cosigner, keyId: UNKNOWN_KEY, statement: null, fault: 'unknown-key' })),
  );
  const path = `key/${key.keyId}/statement`;
  const bodies = [{}, { nonce: 'ab' }, { nonce: NONCE.toUpperCase() }, { nonce: NONCE, policyVersion: 2 }, null];
  for (const body of bodies) {
    expect(await cosigners.all[0].call(path, body)).toMatchObject({ ok: false, refusal: { code: 'malformed' } });
  }
  const elsewhere = await cosigners.all[0].call(`proof/${key.keyId}/statement`, { nonce: NONCE });
  expect(elsewhere).toMatchObject({ ok: false, refusal: { code: 'malformed' } });
});

test('a co-signer that is unreachable or answers something else gets an entry without a statement', async () => {
  const unreachable = { cosigner: party(2), code: 'unreachable', detail: null, culprit: null };
  const problem: CosignerClient = { index: party(2), call: async () => refused(unreachable) };
  const odd: CosignerClient = { index: party(3), call: async () => accepted({ signature: 'yes' }) };
  const entries = await policyStatements([cosigners.all[0], problem, odd], [key.keyId, UNKNOWN_KEY], NONCE);
  expect(entries.map(({ cosigner, keyId, fault }) => [cosigner, keyId, fault])).toEqual([
    [1, key.keyId, null],
    [2, key.keyId, 'unreachable'],
    [3, key.keyId, 'unreachable'],
    [1, UNKNOWN_KEY, 'unknown-key'],
    [2, UNKNOWN_KEY, 'unreachable'],
    [3, UNKNOWN_KEY, 'unreachable'],
  ]);
  expect(entries.filter(({ statement }) => statement !== null)).toHaveLength(1);
});
