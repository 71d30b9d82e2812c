/**
 * Attack: the coordinator makes a further key of a vault under an older, a forged or a forked
 *   chain of policies.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: 2.1
 * Defence: a co-signer keeps the policies of a vault under all its keys, and a further key begins
 *   with all of them.
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

/** Its signers approved this change and then cancelled it; the coordinator kept the mandate. */
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

/** All co-signers; a key generation that they have opened goes on after the promise. */
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

/** A further key under these policies: `made`, or why not. */
async function furtherKey(policies: readonly AdoptedPolicy[]): Promise<string> {
  const made = await generateKey(cosigners.all, request(policies));
  return made.ok ? 'made' : made.refusal.reason;
}

test('a further key is not made under the chain from before the revocation', async () => {
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

test('what a co-signer adopted under one key counts for the next one when the mandate has expired', async () => {
  expect(await furtherKey([first, changeTo(revoked, [LAPTOP, PHONE], Date.now() - 1)])).toBe('made');
});

test('two generations that are open at once under two first policies give one key', async () => {
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

test('no path of the coordinator leads to the object of a vault', async () => {
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
