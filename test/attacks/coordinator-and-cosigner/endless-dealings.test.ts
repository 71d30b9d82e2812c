/**
 * Attack: a coordinator has shares of a key dealt again and again and completes no dealing, so that
 *   the co-signers have more waiting shares than can be listed, and the key is never refreshed
 *   again.
 * Attacker: coordinator and co-signer
 * Co-signers: 1
 * Finding: F8
 * Defence: a co-signer with many waiting shares takes part in one dealing an hour, and lists the
 *   newest ones. An honest coordinator also completes a change of shares that is not listed.
 */
import { nameOf } from '#devices/policy-succession.ts';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { CosignerClient } from '#cosigner-client/client.ts';
import { sharesHeldBy } from '#cosigner-client/held-shares.ts';
import { refused } from '#domain/result.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import { relay } from '#jobs/signing/relay.ts';
import { cosignersInMemory } from '../../cosigner/cosigners-in-memory.ts';
import { present } from '../../cosigner/cosigners.ts';
import { EVERYBODY, frostKey, RefreshRun, signingGroups } from '../../cosigner/key/refresh-scene.ts';
import { policy } from '../../domain/cast.ts';

const HOUR_MS = 3_600_000;
const cosigners = cosignersInMemory();

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => void vi.useRealTimers());

/** What the coordinator requests of a dealing. */
interface Terms {
  readonly base: number;
  readonly epoch: number;
  readonly dealers: readonly [number, number];
}

/** Has shares of an epoch dealt to all. Returns 'dealt' or the refusal. */
async function deal(key: VaultKey, { base: baseEpoch, epoch, dealers }: Terms): Promise<string> {
  const held = await sharesHeldBy(present(cosigners.all[0]), key.keyId);
  const shares = held.ok ? held.value.find((share) => share.epoch === baseEpoch) : undefined;
  const { scheme, publicKey } = key;
  const { publicShares } = shares ?? key;
  const request = {
    scheme,
    baseEpoch,
    epoch,
    dealers,
    publicKey,
    publicShares,
    policy: nameOf(policy),
  };
  const dealt = await relay({ cosigners: cosigners.all, path: () => `reshare/${key.keyId}`, request: () => request });
  return dealt.ok ? 'dealt' : dealt.refusal.code;
}

test('after dealings of days that were never completed the key is refreshed', async () => {
  const key = await frostKey(cosigners.all);
  let answer = '';
  let epoch = 1;
  for (; answer !== 'too-many-shares' && epoch < 38; epoch++) {
    answer = await deal(key, { base: 1, epoch: epoch + 1, dealers: [1, 2] });
  }
  expect([answer, epoch]).toEqual(['too-many-shares', 34]);
  for (; epoch < 38; epoch++) {
    vi.setSystemTime(Date.now() + HOUR_MS);
    expect(await deal(key, { base: 1, epoch, dealers: [1, 2] })).toBe('dealt');
    expect(await deal(key, { base: 1, epoch: epoch + 1, dealers: [1, 2] })).toBe('too-many-shares');
  }
  vi.setSystemTime(Date.now() + HOUR_MS);
  const after = await new RefreshRun(key).finish(cosigners.all);
  expect(await signingGroups(cosigners.all, after)).toEqual(EVERYBODY);
});

test('a change of shares that a hostile co-signer hides behind newer dealings is completed without it', async () => {
  const key = await frostKey(cosigners.all);
  expect(await deal(key, { base: 1, epoch: 2, dealers: [1, 2] })).toBe('dealt');
  const receipts: Record<string, string> = {};
  for (const cosigner of cosigners.all) {
    const held = await sharesHeldBy(cosigner, key.keyId);
    const waiting = held.ok ? held.value.find((share) => share.epoch === 2) : undefined;
    receipts[String(cosigner.index)] = present(waiting?.receipts[String(cosigner.index)]);
  }
  for (const cosigner of cosigners.some(1, 3)) await cosigner.call(`key/${key.keyId}/activate`, { epoch: 2, receipts });
  for (let epoch = 3; epoch < 38; epoch++) {
    if (epoch > 33) vi.setSystemTime(Date.now() + HOUR_MS);
    expect(await deal(key, { base: 2, epoch, dealers: [1, 3] })).toBe('dealt');
  }
  // The hostile co-signer does not answer any more.
  const absent: CosignerClient = {
    index: present(cosigners.all[2]).index,
    call: async () =>
      refused({ cosigner: present(cosigners.all[2]).index, code: 'unreachable', detail: null, culprit: null }),
  };
  expect(await signingGroups(cosigners.some(1, 2), key)).toEqual([]);
  expect(await new RefreshRun(key).step([...cosigners.some(1, 2), absent])).toBeNull();
  expect(await signingGroups(cosigners.some(1, 2), key)).toEqual(['1+2']);
});
