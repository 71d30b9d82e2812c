/**
 * Attack: during a key generation the coordinator pins a hidden newer policy with its own devices,
 *   while signers continue to see version 1.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: 2.1, 16
 * Defence: a co-signer accepts version 1 alone, or a chain in which each further version has a
 *   mandate by the quorum of the version before.
 */
import { bytesToHex, randomBytes } from '@noble/hashes/utils.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { policyHashOf } from '#devices/policy-succession.ts';
import { sortedByKeyId } from '#domain/access/device.ts';
import { parseVaultId } from '#domain/id.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import { generateKey } from '../../../cosigner/key/generate-key.ts';
import { ScriptDevice } from '#cli/device/script-device.ts';
import { attestationsOf, encodePolicy } from '#cosigner-client/sync-policies.ts';
import { byDevice } from '../../../cosigner/policy/device-scene.ts';
import { opening } from '../../../cosigner/rejected-requests.ts';
import type { Cosigners } from '../../../cosigner/cosigners.ts';
import { present, startCosigners } from '../../../cosigner/cosigners.ts';
import { alice, bob } from '../../../domain/cast.ts';
import { changeTo, first, LAPTOP, NEW_LAPTOP, NEW_PHONE, PHONE, revoked, shownTo } from '../../policy-scene.ts';

let cosigners: Cosigners;
beforeAll(async () => {
  cosigners = await startCosigners();
}, 60_000);
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
  'no policy': [],
};

/** Opens a key generation at each co-signer. Returns their answers. */
async function opened(policies: readonly AdoptedPolicy[], attestations = {}): Promise<readonly string[]> {
  const run = bytesToHex(randomBytes(16));
  const body = { scheme: 'frost-ed25519', policies: policies.map(encodePolicy), attestations };
  const answers: string[] = [];
  for (const cosigner of cosigners.all) {
    const answer = await cosigner.call(`keygen/${run}/open`, opening(body));
    answers.push(answer.ok ? 'opened' : answer.refusal.code);
  }
  return answers;
}

describe('at key generation every co-signer refuses', () => {
  test.each(Object.entries(CHAINS))('%s', async (_name, policies) => {
    expect(await opened(policies)).toEqual(['malformed', 'malformed', 'malformed']);
  });

  test('at key generation every co-signer accepts version 1, and a chain of policies with valid mandates', async () => {
    const everyone = ['opened', 'opened', 'opened'];
    expect(await opened([first])).toEqual(everyone);
    expect(await opened([first, changeTo(revoked, [LAPTOP, PHONE])])).toEqual(everyone);
  });
});

describe('for a further key of the vault', () => {
  const lapsed = changeTo(revoked, [LAPTOP, PHONE], Date.now() - 1);
  const key = { keyId: '' };
  beforeAll(async () => {
    const made = await generateKey(cosigners.all, { scheme: 'frost-ed25519', threshold: 2, policies: [first] });
    if (!made.ok) throw new Error(made.refusal.reason);
    key.keyId = made.value.keyId;
  }, 60_000);

  test('an expired mandate counts only if as many co-signers as sign together attest its adoption', async () => {
    const chain = [first, lapsed];
    const everyone = ['opened', 'opened', 'opened'];
    expect(await opened(chain)).toEqual(['mandate-expired', 'mandate-expired', 'mandate-expired']);
    // The same policy is adopted in time under the existing key.
    const inTime = changeTo(revoked, [LAPTOP, PHONE]);
    expect(await shownTo(cosigners.all, key.keyId, inTime)).toEqual(['adopted', 'adopted', 'adopted']);
    // A co-signer that adopted the policy under one key of the vault knows the policy under all
    // keys.
    expect(await opened(chain)).toEqual(everyone);
    const all = await attestationsOf(cosigners.all, key.keyId, 2);
    await cosigners.replace(3);
    // Co-signer 3 has lost its storage, and needs two attestations.
    expect(await opened(chain)).toEqual(['opened', 'opened', 'mandate-expired']);
    expect(await opened(chain, { 1: all['1'] })).toEqual(['opened', 'opened', 'mandate-expired']);
    expect(await opened(chain, all)).toEqual(everyone);
    // Attestations replace the expiry of a mandate, and not its approvals.
    expect(await opened([first, { ...lapsed, mandate: { ...present(lapsed.mandate), approvals: [] } }], all)).toEqual([
      'malformed',
      'malformed',
      'malformed',
    ]);
    const later = { ...revoked, version: 3, previousHash: policyHashOf(revoked), threshold: 1 };
    const further = changeTo(later, [NEW_LAPTOP, NEW_PHONE], Date.now() - 1);
    expect(await opened([first, lapsed, further], all)).toEqual([
      'mandate-expired',
      'mandate-expired',
      'mandate-expired',
    ]);
  });
});
