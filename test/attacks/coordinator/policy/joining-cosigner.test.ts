/**
 * Attack: a co-signer without storage joins a key, and the coordinator gives it a policy with the
 *   thief's devices.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: 2.1
 * Defence: a co-signer that joins adopts only a policy that t other co-signers attest.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { sortedByKeyId } from '#domain/access/device.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import type { VaultKey } from '#domain/vault.ts';
import { attestationsOf, encodePolicy } from '#cosigner-client/sync-policies.ts';
import { ScriptDevice } from '#cli/device/script-device.ts';
import { byDevice } from '../../../cosigner/policy/device-scene.ts';
import { opening } from '../../../cosigner/rejected-requests.ts';
import type { Cosigners } from '../../../cosigner/cosigners.ts';
import { startCosigners } from '../../../cosigner/cosigners.ts';
import { generateKey } from '../../../cosigner/key/generate-key.ts';
import { alice, bob } from '../../../domain/cast.ts';
import { first } from '../../policy-scene.ts';

let cosigners: Cosigners;
let key: Omit<VaultKey, 'addresses'>;
beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  cosigners = await startCosigners();
  const made = await generateKey(cosigners.all, { scheme: 'frost-ed25519', threshold: 2, policies: [first] });
  if (!made.ok) throw new Error(made.refusal.reason);
  key = made.value;
  await cosigners.replace(3);
}, 120_000);
afterAll(() => cosigners.stop());

const [mine, other] = [ScriptDevice.create(), ScriptDevice.create()];
const stolen: AdoptedPolicy = {
  policy: {
    ...byDevice,
    devices: sortedByKeyId([...byDevice.devices, mine.asDevice(alice.userId), other.asDevice(bob.userId)]),
  },
  mandate: null,
};

/** Returns the answer of co-signer 3, which has no storage, to a resharing under this policy. */
async function joins(policy: AdoptedPolicy, attestations: Readonly<Record<string, string>>): Promise<string> {
  const { scheme, publicKey, publicShares } = key;
  const epochs = { baseEpoch: 1, epoch: 2, dealers: [1, 2] };
  const body = {
    scheme,
    threshold: 2,
    ...epochs,
    publicKey,
    publicShares,
    policies: [encodePolicy(policy)],
    attestations,
  };
  const [third] = cosigners.some(3);
  const answer = await third?.call(`reshare/${key.keyId}/open`, opening(body));
  return answer?.ok === true ? 'opened' : (answer?.refusal.code ?? 'nothing');
}

test('a joining co-signer refuses a policy without attestations, and one that the others did not adopt', async () => {
  const all = await attestationsOf(cosigners.some(1, 2), key.keyId, 1);
  expect(Object.keys(all)).toEqual(['1', '2']);
  expect(await joins(stolen, {})).toBe('not-enough-witnesses');
  expect(await joins(stolen, all)).toBe('not-enough-witnesses');
  expect(await joins(first, {})).toBe('not-enough-witnesses');
  expect(await joins(first, { 1: all['1'] ?? '' })).toBe('not-enough-witnesses');
  expect(await joins(first, { 1: all['1'] ?? '', 2: all['1'] ?? '' })).toBe('not-enough-witnesses');
  expect(await joins(first, all)).toBe('opened');
});
