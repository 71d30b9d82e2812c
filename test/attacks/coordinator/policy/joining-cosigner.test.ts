/**
 * Attack: a co-signer without storage joins a key, and the coordinator gives it a policy with the
 *   thief's devices.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: 2.1
 * Defence: a co-signer that joins adopts only a policy that t other co-signers attest.
 */
import { nameOf } from '#devices/policy-succession.ts';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { sortedByKeyId } from '#domain/access/device.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import { ScriptDevice } from '#cli/device/script-device.ts';
import { byDevice, founded } from '../../../cosigner/policy/device-scene.ts';
import { opening } from '../../../cosigner/rejected-requests.ts';
import type { Cosigners } from '../../../cosigner/cosigners.ts';
import { startCosigners } from '../../../cosigner/cosigners.ts';
import { generateKey } from '../../../cosigner/key/generate-key.ts';
import { alice, bob } from '../../../domain/cast.ts';
import type { SentAttestations } from '../../policy-scene.ts';
import { first, NO_ATTESTATIONS, sentTo, attestationsOf } from '../../policy-scene.ts';

let cosigners: Cosigners;
let key: Omit<VaultKey, 'addresses'>;
beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  cosigners = await startCosigners();
  const made = await generateKey(cosigners.all, { scheme: 'frost-ed25519', policies: [first] });
  if (!made.ok) throw new Error(made.refusal.reason);
  key = made.value;
  await cosigners.replace(3);
});
afterAll(() => cosigners.stop());

const [mine, other] = [ScriptDevice.create(), ScriptDevice.create()];
const stolen: AdoptedPolicy = founded(
  {
    ...byDevice,
    devices: sortedByKeyId([...byDevice.devices, mine.asDevice(alice.userId), other.asDevice(bob.userId)]),
  },
  mine,
  other,
);

/** Returns the answer of co-signer 3, which has no storage, to a policy and then to a resharing. */
async function joins(policy: AdoptedPolicy, attestations: SentAttestations): Promise<readonly string[]> {
  const { scheme, publicKey, publicShares } = key;
  const epochs = { baseEpoch: 1, epoch: 2, dealers: [1, 2] };
  const body = { scheme, ...epochs, publicKey, publicShares, policy: nameOf(policy.policy) };
  const third = cosigners.some(3);
  const adopted = await sentTo(third, [policy], attestations);
  const answer = await third[0]?.call(`reshare/${key.keyId}/open`, opening(body));
  return [...adopted, answer?.ok === true ? 'opened' : (answer?.refusal.code ?? 'nothing')];
}

test('a joining co-signer takes part under no policy without attestations, or that the others did not adopt', async () => {
  const { adopted } = await attestationsOf(cosigners.some(1, 2), [first]);
  expect(Object.keys(adopted)).toEqual(['1', '2']);
  const { 1: one = '', 2: two = '' } = adopted;
  const notEnough = ['adopted', 'not-enough-attestations'];
  expect(await joins(stolen, NO_ATTESTATIONS)).toEqual(notEnough);
  expect(await joins(stolen, { chosen: {}, adopted })).toEqual(notEnough);
  expect(await joins(first, NO_ATTESTATIONS)).toEqual(notEnough);
  expect(await joins(first, { chosen: {}, adopted: { 1: one } })).toEqual(notEnough);
  expect(await joins(first, { chosen: {}, adopted: { 1: one, 2: one } })).toEqual(notEnough);
  expect(await joins(first, { chosen: { 1: one, 2: two }, adopted: {} })).toEqual(notEnough);
  // What the coordinator showed before is replaced: nothing was pinned.
  expect(await joins(first, { chosen: {}, adopted })).toEqual(['adopted', 'opened']);
  expect(await joins(stolen, NO_ATTESTATIONS)).toEqual(['policy-mismatch', 'policy-mismatch']);
});
