import { expect, test } from 'vitest';
import { accepted, refused } from '#domain/result.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';
import { policyStatements } from '#cosigner-client/policy-statements.ts';
import { NOON_MS, policy, vaultId } from '../domain/cast.ts';
import { hashOf } from '../devices/policy-links-scene.ts';
import { party } from '../mpc/dealt-key.ts';

/** Covers requests for the statements of all co-signers about each key. */

const KEY = 'k'.repeat(26);
const NONCE = 'ab'.repeat(32);

/** A co-signer that states the first policy, with these differences. */
function cosigner(index: number, differences: Readonly<Record<string, unknown>> = {}): CosignerClient {
  const statement = {
    cosigner: index,
    vaultId,
    keyId: KEY,
    policyVersion: 1,
    policyHash: hashOf(policy),
    signingThreshold: 2,
    epoch: 1,
    issuedAtMs: NOON_MS,
    nonce: NONCE,
    signature: 'ef'.repeat(64),
  };
  return { index: party(index), call: async () => accepted({ ...statement, ...differences }) };
}

test('each co-signer has one entry for each key, also without a statement', async () => {
  const unreachable: CosignerClient = {
    index: party(3),
    call: async () => refused({ cosigner: party(3), code: 'unreachable', detail: null, culprit: null }),
  };
  const entries = await policyStatements([cosigner(1), cosigner(2, { epoch: 'two' }), unreachable], [KEY], NONCE);
  expect(entries.map((one) => [one.cosigner, one.keyId, one.statement?.policyVersion ?? null, one.fault])).toEqual([
    [1, KEY, 1, null],
    [2, KEY, null, 'unreachable'],
    [3, KEY, null, 'unreachable'],
  ]);
});
