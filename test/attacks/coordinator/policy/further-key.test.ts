/**
 * Attack: the coordinator makes a further key of a vault under an older, a forged or a forked
 *   chain of policies.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: 2.1
 * Defence: a co-signer has one object for the policies of a vault. Its keys have none, and a
 *   further key is generated under the policy in force.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { policyHashOf } from '#devices/policy-succession.ts';
import { sortedByKeyId } from '#domain/access/device.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import { parseVaultId } from '#domain/id.ts';
import { generateKey } from '../../../cosigner/key/generate-key.ts';
import { ScriptDevice } from '#cli/device/script-device.ts';
import { byDevice, founded } from '../../../cosigner/policy/device-scene.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';
import type { Cosigners } from '../../../cosigner/cosigners.ts';
import { present, startCosigners } from '../../../cosigner/cosigners.ts';
import { alice, bob, carol } from '../../../domain/cast.ts';
import { changeTo, first, LAPTOP, NO_ATTESTATIONS, PHONE, revoked, sentTo, shownTo } from '../../policy-scene.ts';

const stolen = [alice, bob, carol].map(({ userId }) => ({ userId, device: ScriptDevice.create() }));
const thieves = sortedByKeyId(stolen.map(({ userId, device }) => device.asDevice(userId)));
/** The thief founds with the own devices alone. No signer has a device in this policy. */
const foundedByThief = (policy: Policy) => founded(policy, ...stolen.map(({ device }) => device));
const forged = foundedByThief({ ...byDevice, devices: thieves });

/** The signers approved this change and then cancelled it. The coordinator kept the mandate. */
const cancelled: Policy = { ...byDevice, version: 2, threshold: 1, previousHash: policyHashOf(byDevice) };

const change = changeTo(revoked, [LAPTOP, PHONE]);

let cosigners: Cosigners;
beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  cosigners = await startCosigners();
  const made = await generateKey(cosigners.all, request([first]));
  if (!made.ok) throw new Error(made.refusal.reason);
  expect(await shownTo(cosigners.all, change)).toEqual(['adopted', 'adopted', 'adopted']);
});
afterAll(() => cosigners.stop());

const request = (policies: readonly AdoptedPolicy[]) => ({ scheme: 'frost-ed25519', policies }) as const;

/**
 * Returns all co-signers. Each key generation that they have opened starts only after the promise.
 */
function startingAfter(promise: Promise<null>, onOpen: () => void = () => {}): readonly CosignerClient[] {
  return cosigners.all.map((cosigner) => ({
    index: cosigner.index,
    call: async (path, body) => {
      if (path.startsWith('keygen/') && path.endsWith('/start')) {
        onOpen();
        await promise;
      }
      return cosigner.call(path, body);
    },
  }));
}

/** Makes a further key under these policies. Returns `made`, or the reason of the refusal. */
async function furtherKey(policies: readonly AdoptedPolicy[]): Promise<string> {
  const made = await generateKey(cosigners.all, request(policies));
  return made.ok ? 'made' : made.refusal.reason;
}

test('a further key is not made under the policies from before the revocation', async () => {
  expect(await furtherKey([first])).toMatch(/node \d policy-ahead/);
});

test('a further key is not made under a first policy with devices of the coordinator', async () => {
  expect(await furtherKey([forged])).toMatch(/node \d policy-ahead/);
});

test('a further key is not made under a change that its signers cancelled', async () => {
  expect(await furtherKey([first, changeTo(cancelled, [LAPTOP, PHONE])])).toMatch(/node \d policy-mismatch/);
});

test('a further key is made under the policies of the vault', async () => {
  expect(await furtherKey([first, change])).toBe('made');
});

test('a policy adopted under one key counts for a further key, even if its mandate has expired since', async () => {
  expect(await furtherKey([first, changeTo(revoked, [LAPTOP, PHONE], Date.now() - 1)])).toBe('made');
});

test('a key generation under one first policy ends when a key was generated under another one', async () => {
  const vaultId = present(parseVaultId(21));
  const honest: AdoptedPolicy = founded({ ...byDevice, vaultId });
  const theft = foundedByThief({ ...forged.policy, vaultId });
  const [isOpen, isMade] = [Promise.withResolvers<null>(), Promise.withResolvers<null>()];
  const late = generateKey(
    startingAfter(isMade.promise, () => isOpen.resolve(null)),
    request([theft]),
  );
  await isOpen.promise;
  // Nothing is pinned before a key exists, so the policies can still be replaced.
  expect(await sentTo(cosigners.all, [honest], NO_ATTESTATIONS)).toEqual(['adopted', 'adopted', 'adopted']);
  expect(await generateKey(cosigners.all, request([honest]))).toMatchObject({ ok: true });
  const before = cosigners.seen.length;
  isMade.resolve(null);
  expect(await late).toMatchObject({
    ok: false,
    refusal: { reason: expect.stringContaining('keygen-activate/policy-mismatch') as string },
  });
  expect(cosigners.seen.slice(before).filter((text) => text.includes('publicShares'))).toEqual([]);
  expect(await sentTo(cosigners.all, [theft], NO_ATTESTATIONS)).toEqual(Array(3).fill('policy-mismatch'));
});

test('the object of a vault takes policies and attestations alone', async () => {
  for (const path of [
    'vault/7/open',
    'vault/7/statement',
    'vault/7/receipt',
    'vault/0/policy',
    'vault/07/policy',
    'vault:7/policy',
    'key/vault:7/policy',
    'keygen/vault:7/open',
  ]) {
    const answer = await cosigners.all[0].call(path, {});
    expect([path, answer.ok ? 'served' : answer.refusal.code]).toEqual([path, 'malformed']);
  }
});
