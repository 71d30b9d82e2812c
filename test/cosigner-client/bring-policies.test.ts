import { expect, test } from 'vitest';
import type { CosignerClient } from '#cosigner-client/client.ts';
import { bringPolicies } from '#cosigner-client/bring-policies.ts';
import { nameOf, policyHashOf } from '#devices/policy-succession.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import { accepted, refused } from '#domain/result.ts';
import { changeTo, first, LAPTOP, PHONE } from '../attacks/policy-scene.ts';
import { present } from '../chains/evm/cast.ts';
import { party } from '../mpc/dealt-key.ts';

/** Six policies. */
const history: AdoptedPolicy[] = [first];
while (history.length < 6) {
  const { policy } = present(history.at(-1));
  const next = { ...policy, version: policy.version + 1, previousHash: policyHashOf(policy) };
  history.push(changeTo(next, [LAPTOP, PHONE]));
}

/** Returns a co-signer with version 5, and how many policies each of its requests to adopt has. */
function upToDate(index: number): { readonly client: CosignerClient; readonly adopted: number[] } {
  const adopted: number[] = [];
  const { version, hash } = nameOf(present(history[4]).policy);
  const call: CosignerClient['call'] = async (path, body) => {
    if (path.endsWith('/attest')) return accepted({ stage: 'chosen', attestation: 'a'.repeat(128), version, hash });
    adopted.push((body as { policies: unknown[] }).policies.length);
    return accepted({ version: 6 });
  };
  return { client: { index: party(index), call }, adopted };
}

test.each([
  ['is unreachable', 'unreachable', null],
  ['reports that it has no policies', 'policy-mismatch', '0'],
])('a co-signer that %s and lacks more than a request carries does not delay the others', async (_, code, detail) => {
  const lost: CosignerClient = {
    index: party(3),
    call: async () => refused({ cosigner: party(3), code, detail, culprit: null }),
  };
  const crew = [upToDate(1), upToDate(2)];
  const source = {
    policy: present(history.at(-1)).policy,
    adoptedVersions: { 1: 5, 2: 5, 3: 1 },
    after: async (version: number) => history.slice(version, version + 2),
  };
  const all = [...crew.map(({ client }) => client), lost];
  const { versions } = await bringPolicies(source, { targets: all, attesters: all });
  expect([versions['1'], versions['2']]).toEqual([6, 6]);
  expect(crew.map(({ adopted }) => adopted)).toEqual([[1], [1]]);
});
