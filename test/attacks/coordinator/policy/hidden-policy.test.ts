/**
 * Attack: during a key generation the coordinator pins a hidden newer policy with its own devices,
 *   while signers continue to see version 1.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: 2.1, 16
 * Defence: a co-signer accepts version 1 alone, or a chain in which each further version has a
 *   mandate by the quorum of the version before.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { policyHashOf } from '#devices/policy-succession.ts';
import { sortedByKeyId } from '#domain/access/device.ts';
import { parseVaultId } from '#domain/id.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import { generateKey } from '../../../cosigner/key/generate-key.ts';
import { ScriptDevice } from '#cli/device/script-device.ts';
import { byDevice, founded } from '../../../cosigner/policy/device-scene.ts';
import type { Cosigners } from '../../../cosigner/cosigners.ts';
import { present, startCosigners } from '../../../cosigner/cosigners.ts';
import { alice, bob } from '../../../domain/cast.ts';
import {
  changeTo,
  first,
  LAPTOP,
  NEW_LAPTOP,
  NEW_PHONE,
  NO_ATTESTATIONS,
  PHONE,
  revoked,
  sentTo,
  shownTo,
  attestationsOf,
} from '../../policy-scene.ts';

let cosigners: Cosigners;
beforeAll(async () => {
  cosigners = await startCosigners();
});
afterAll(() => cosigners.stop());

const thief = ScriptDevice.create();
const second = ScriptDevice.create();

/** The real policy with two devices of the coordinator in the names of alice and bob. */
const hidden: Policy = {
  ...byDevice,
  version: 2,
  devices: sortedByKeyId([...byDevice.devices, thief.asDevice(alice.userId), second.asDevice(bob.userId)]),
  previousHash: policyHashOf(byDevice),
};
const unsigned = (policy: Policy): AdoptedPolicy => ({ policy, mandate: null });
/** The approvals are by the coordinator's own devices, which version 1 does not name. */
const selfSigned = changeTo(hidden, [
  { actor: alice, device: thief },
  { actor: bob, device: second },
]);

const CHAINS: Readonly<Record<string, readonly AdoptedPolicy[]>> = {
  'version 2 without a mandate': [first, unsigned(hidden)],
  'version 2 with a mandate of the thief’s devices': [first, selfSigned],
  'version 900 after version 1': [first, { ...changeTo({ ...hidden, version: 900 }, [LAPTOP, PHONE]) }],
  'version 2 that names another predecessor': [
    first,
    changeTo({ ...hidden, previousHash: 'ff'.repeat(32) }, [LAPTOP, PHONE]),
  ],
  'version 0 before version 1': [unsigned({ ...hidden, version: 0 }), first],
  'version 2 alone': [unsigned(hidden)],
  'version 1 that has a predecessor': [unsigned({ ...byDevice, previousHash: 'ff'.repeat(32) })],
  'two policies of version 1': [first, unsigned({ ...hidden, version: 1 })],
  'a policy of another vault behind it': [
    first,
    changeTo({ ...hidden, vaultId: present(parseVaultId(8)) }, [LAPTOP, PHONE]),
  ],
};

describe('before a key exists every co-signer refuses', () => {
  test.each(Object.entries(CHAINS))('%s', async (_name, policies) => {
    const malformed = ['malformed', 'malformed', 'malformed'];
    const refused = ['policy-mismatch', 'policy-mismatch', 'policy-mismatch'];
    expect([malformed, refused]).toContainEqual(await sentTo(cosigners.all, policies, NO_ATTESTATIONS));
  });

  test('before a key exists every co-signer accepts version 1, and a chain of policies with valid mandates', async () => {
    const everyone = ['adopted', 'adopted', 'adopted'];
    expect(await sentTo(cosigners.all, [first], NO_ATTESTATIONS)).toEqual(everyone);
    expect(await sentTo(cosigners.all, [first, changeTo(revoked, [LAPTOP, PHONE])], NO_ATTESTATIONS)).toEqual(everyone);
    // Nothing is pinned before a key exists, so another first policy replaces these.
    expect(await sentTo(cosigners.all, [founded({ ...byDevice, threshold: 1 })], NO_ATTESTATIONS)).toEqual(everyone);
    expect(
      await sentTo(cosigners.all, [founded({ ...byDevice, vaultId: present(parseVaultId(8)) })], NO_ATTESTATIONS),
    ).toEqual(everyone);
  });
});

describe('for a vault with a key', () => {
  const lapsed = changeTo(revoked, [LAPTOP, PHONE], Date.now() - 1);
  beforeAll(async () => {
    const made = await generateKey(cosigners.all, { scheme: 'frost-ed25519', policies: [first] });
    if (!made.ok) throw new Error(made.refusal.reason);
  });

  test('an expired mandate counts only if as many co-signers as sign together adopted the policy', async () => {
    const chain = [first, lapsed];
    const expired = ['mandate-expired', 'mandate-expired', 'mandate-expired'];
    const everyone = ['adopted', 'adopted', 'adopted'];
    expect(await sentTo(cosigners.all, chain, await attestationsOf(cosigners.all, chain))).toEqual(expired);
    const inTime = changeTo(revoked, [LAPTOP, PHONE]);
    expect(await shownTo(cosigners.all, inTime)).toEqual(everyone);
    expect(await sentTo(cosigners.all, chain, NO_ATTESTATIONS)).toEqual(everyone);
    const all = await attestationsOf(cosigners.all, [inTime]);
    await cosigners.replace(3);
    // Co-signer 3 has lost its storage, and needs two attestations.
    const third = cosigners.some(3);
    expect(await sentTo(third, chain, NO_ATTESTATIONS)).toEqual(['mandate-expired']);
    expect(await sentTo(third, chain, { chosen: {}, adopted: { 1: all.adopted['1'] ?? '' } })).toEqual([
      'mandate-expired',
    ]);
    // Attestations replace the expiry of a mandate, and not its approvals.
    const unapproved = { ...lapsed, mandate: { ...present(lapsed.mandate), approvals: [] } };
    expect(await sentTo(third, [first, unapproved], all)).toEqual(['policy-mismatch']);
    expect(await sentTo(third, chain, all)).toEqual(['adopted']);
    const later = { ...revoked, version: 3, previousHash: policyHashOf(revoked), threshold: 1 };
    const further = changeTo(later, [NEW_LAPTOP, NEW_PHONE], Date.now() - 1);
    expect(await sentTo(cosigners.all, [first, lapsed, further], all)).toEqual(expired);
  });
});
