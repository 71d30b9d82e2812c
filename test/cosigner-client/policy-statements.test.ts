import { expect, test } from 'vitest';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import { accepted, refused } from '#domain/result.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';
import { statementsAfterSync } from '#cosigner-client/policy-statements.ts';
import { NOON_MS, policy, vaultId } from '../domain/cast.ts';
import { hashOf, mandateFor, successor } from '../devices/policy-links-scene.ts';
import { party } from '../mpc/dealt-key.ts';

/** Covers requests for statements while some co-signers have not adopted the newest policy. */

const KEY = 'k'.repeat(26);
const NONCE = 'ab'.repeat(32);
const next = successor(policy);
const history: readonly AdoptedPolicy[] = [
  { policy, mandate: null },
  { policy: next, mandate: { ...mandateFor(next), policy: next } },
];

/**
 * A co-signer that has adopted this version, and adopts each further policy unless `refuses` is
 * set.
 */
function cosigner(index: number, version: number, refuses = false) {
  const calls: string[] = [];
  let inForce = version === 1 ? policy : next;
  const client: CosignerClient = {
    index: party(index),
    call: async (path, body) => {
      calls.push(path.slice(path.lastIndexOf('/') + 1));
      if (path.endsWith('/policy')) {
        if (refuses) return refused({ cosigner: party(index), code: 'policy-mismatch', detail: null, culprit: null });
        inForce = next;
        return accepted(null);
      }
      const { nonce } = body as { readonly nonce: string };
      return accepted({
        cosigner: index,
        vaultId,
        keyId: KEY,
        policyVersion: inForce.version,
        policyHash: hashOf(inForce),
        epoch: 1,
        issuedAtMs: NOON_MS,
        nonce,
        signature: 'ef'.repeat(64),
      });
    },
  };
  return { client, calls };
}

test('a co-signer with an older policy gets the newer one and a second request; the others get neither', async () => {
  const [current, behind, stubborn] = [cosigner(1, 2), cosigner(2, 1), cosigner(3, 1, true)];
  const all = [current, behind, stubborn].map(({ client }) => client);
  const query = { keyIds: [KEY], nonce: NONCE };
  const entries = await statementsAfterSync(all, query, { version: 2, history: async () => history });
  expect(entries.map(({ cosigner: index, statement }) => [index, statement?.policyVersion])).toEqual([
    [1, 2],
    [2, 2],
    [3, 1],
  ]);
  expect(current.calls).toEqual(['statement']);
  expect(behind.calls).toEqual(['statement', 'policy', 'statement']);
  expect(stubborn.calls.filter((call) => call === 'statement')).toEqual(['statement']);
});

test('the policy history is not read if no co-signer is behind', async () => {
  const unreachable: CosignerClient = {
    index: party(3),
    call: async () => refused({ cosigner: party(3), code: 'unreachable', detail: null, culprit: null }),
  };
  const cosigners = [cosigner(1, 2).client, cosigner(2, 2).client, unreachable];
  const inForce = { version: 2, history: () => Promise.reject(new Error('the history was read')) };
  const entries = await statementsAfterSync(cosigners, { keyIds: [KEY], nonce: NONCE }, inForce);
  expect(entries.map(({ fault }) => fault)).toEqual([null, null, 'unreachable']);
});
