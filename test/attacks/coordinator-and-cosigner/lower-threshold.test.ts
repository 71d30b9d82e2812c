/**
 * Attack: the coordinator names a lower signing threshold than the vault has, so that the hostile
 *   co-signers sign alone, or attest a policy alone.
 * Attacker: coordinator and co-signer
 * Co-signers: 2
 * Finding: F3
 * Defence: the policy contains the signing threshold. A co-signer generates keys with this number
 *   only, and counts attestations against it.
 */
import { expect, test } from 'vitest';
import { nameOf, policyHashOf } from '#devices/policy-succession.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import { relay } from '#jobs/signing/relay.ts';
import { founded } from '../../cosigner/policy/device-scene.ts';
import { generateKey } from '../../cosigner/key/generate-key.ts';
import { attestationsOf, changeTo, LAPTOP, OF_THREE, PHONE, policyScene, sentTo, shownTo } from '../policy-scene.ts';

const first = founded(OF_THREE.first);
const lower = founded({ ...OF_THREE.first, signingThreshold: 2 });

/** The signers approved this change, and its mandate expired before every co-signer adopted it. */
const oneSigns: Policy = {
  ...OF_THREE.first,
  version: 2,
  threshold: 1,
  previousHash: policyHashOf(OF_THREE.first),
};
const expired = changeTo(oneSigns, [LAPTOP, PHONE], Date.now() - 1);

const scene = policyScene(OF_THREE.first);

/** Generates a further key. Returns `made`, or the reason of the refusal. */
async function furtherKey(policies: readonly AdoptedPolicy[]): Promise<string> {
  const made = await generateKey(scene.cosigners.all, { scheme: 'frost-ed25519', policies });
  return made.ok ? 'made' : made.refusal.reason;
}

test('a further key of two co-signers is not generated in a vault where three sign together', async () => {
  expect(await furtherKey([lower])).toMatch(/node \d policy-mismatch/);
  const lowered = changeTo({ ...oneSigns, threshold: 2, signingThreshold: 2 }, [LAPTOP, PHONE]);
  expect(await furtherKey([first, lowered])).toMatch(/node \d policy-mismatch/);
  expect(await shownTo(scene.cosigners.all, lowered)).toEqual([
    'policy-mismatch',
    'policy-mismatch',
    'policy-mismatch',
  ]);
});

test('a coordinator cannot name the threshold of a key generation', async () => {
  const body = { scheme: 'frost-ed25519', threshold: 2, policy: nameOf(first.policy) };
  const made = await relay({
    cosigners: scene.cosigners.all,
    path: () => 'keygen/' + 'a'.repeat(32),
    request: () => body,
  });
  expect(made).toMatchObject({ ok: false, refusal: { code: 'malformed' } });
});

test('the attestations of two co-signers put no policy in force where three sign together', async () => {
  const inTime = changeTo(oneSigns, [LAPTOP, PHONE]);
  const attestations = await attestationsOf(scene.cosigners.some(2, 3), [inTime]);
  expect(Object.keys(attestations.chosen)).toEqual(['2', '3']);
  expect(await sentTo(scene.cosigners.some(2, 3), [inTime], attestations)).toEqual([
    'not-enough-attestations',
    'not-enough-attestations',
  ]);
  // With the stage of an adoption, two hostile co-signers could sign more.
  expect(await sentTo(scene.cosigners.some(1), [expired], { chosen: {}, adopted: attestations.chosen })).toEqual([
    'mandate-expired',
  ]);
  expect(await furtherKey([first, expired])).toMatch(/node \d mandate-expired/);
});
