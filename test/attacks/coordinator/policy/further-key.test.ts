/**
 * Attack: the coordinator makes a further key of a vault under an older, a forged or a forked
 *   chain of policies.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: 2.1
 * Defence: a co-signer keeps one list of policies for all keys of a vault, and a further key begins
 *   with this whole list.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { policyHashOf } from '#devices/policy-succession.ts';
import { sortedByKeyId } from '#domain/access/device.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import { parseVaultId } from '#domain/id.ts';
import { generateKey } from '../../../cosigner/key/generate-key.ts';
import { ScriptDevice } from '#cli/device/script-device.ts';
import { byDevice } from '../../../cosigner/policy/device-scene.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';
import type { Cosigners } from '../../../cosigner/cosigners.ts';
import { present, startCosigners } from '../../../cosigner/cosigners.ts';
import { alice, bob, carol } from '../../../domain/cast.ts';
import { changeTo, first, LAPTOP, PHONE, revoked, shownTo } from '../../policy-scene.ts';

const thieves = sortedByKeyId([alice, bob, carol].map(({ userId }) => ScriptDevice.create().asDevice(userId)));
const forged: AdoptedPolicy = { policy: { ...byDevice, devices: thieves }, mandate: null };

/** The signers approved this change and then cancelled it. The coordinator kept the mandate. */
const cancelled: Policy = { ...byDevice, version: 2, threshold: 1, previousHash: policyHashOf(byDevice) };

const change = changeTo(revoked, [LAPTOP, PHONE]);

let cosigners: Cosigners;
let keyId: string;
beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  cosigners = await startCosigners();
  const made = await generateKey(cosigners.all, request([first]));
  if (!made.ok) throw new Error(made.refusal.reason);
  ({ keyId } = made.value);
  expect(await shownTo(cosigners.all, keyId, change)).toEqual(['adopted', 'adopted', 'adopted']);
}, 60_000);
afterAll(() => cosigners.stop());

const request = (policies: readonly AdoptedPolicy[]) => ({ scheme: 'frost-ed25519', threshold: 2, policies }) as const;

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
  expect(await furtherKey([forged])).toMatch(/node \d policy-mismatch/);
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

test('two simultaneous key generations under two different first policies give one key', async () => {
  const vaultId = present(parseVaultId(21));
  const honest: AdoptedPolicy = { policy: { ...byDevice, vaultId }, mandate: null };
  const theft: AdoptedPolicy = { policy: { ...forged.policy, vaultId }, mandate: null };
  const [isOpen, isMade] = [Promise.withResolvers<null>(), Promise.withResolvers<null>()];
  const made = generateKey(startingAfter(isOpen.promise), request([honest]));
  const late = generateKey(
    startingAfter(isMade.promise, () => isOpen.resolve(null)),
    request([theft]),
  );
  expect(await made).toMatchObject({ ok: true });
  const before = cosigners.seen.length;
  isMade.resolve(null);
  expect(await late).toMatchObject({
    ok: false,
    refusal: { reason: expect.stringContaining('keygen-activate/policy-mismatch') as string },
  });
  expect(cosigners.seen.slice(before).filter((text) => text.includes('publicShares'))).toEqual([]);
});

test('no path of the coordinator reaches the object of a vault at a co-signer', async () => {
  for (const path of [
    'vault/7/policy',
    'vault/7/open',
    'vault:7/policy',
    'key/vault:7/policy',
    'keygen/vault:7/open',
  ]) {
    const answer = await cosigners.all[0].call(path, {});
    expect([path, answer.ok ? 'served' : answer.refusal.code]).toEqual([path, 'malformed']);
  }
});
