import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { VaultKey } from '#domain/vault/vault.ts';
import { thresholdSign } from '../threshold-sign.ts';
import { generateKey } from './generate-key.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';
import { policy } from '../../domain/cast.ts';
import type { Cosigners } from '../cosigners.ts';
import { approvedTransfer, newKey, present, startCosigners } from '../cosigners.ts';
import { Puppet } from '../signing/byzantine-cosigner.ts';
import { epochsOf, EVERYBODY, frostKey, RefreshRun, signingGroups } from './refresh-scene.ts';

/**
 * Tests the rotation of a co-signer's identity: its operator draws another identity secret, and all
 * operators pin the new public keys. The keys of vaults do not change.
 */

let cosigners: Cosigners;

beforeAll(async () => {
  cosigners = await startCosigners();
});
afterAll(() => cosigners.stop());
beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}));
afterEach(() => vi.restoreAllMocks());

async function expectSignedByAll(key: VaultKey): Promise<void> {
  for (const pair of [cosigners.some(1, 2), cosigners.some(1, 3), cosigners.some(2, 3)]) {
    expect(await thresholdSign(pair, approvedTransfer({ key }))).toMatchObject({ ok: true });
  }
}

async function identityOf(index: number): Promise<unknown> {
  return (await fetch(`${cosigners.originOf(index)}/identity`)).json();
}

test('a key signs and is refreshed after the identity of one co-signer was rotated', async () => {
  const key = await newKey(cosigners.all);
  const [before, otherBefore] = [await identityOf(2), await identityOf(1)];
  await cosigners.rotateIdentity(2);
  expect(await identityOf(2)).not.toEqual(before);
  expect(await identityOf(1)).toEqual(otherBefore);
  await expectSignedByAll(key);
  const refreshed = await new RefreshRun(key).finish(cosigners.all);
  expect([refreshed.keyId, refreshed.publicKey]).toEqual([key.keyId, key.publicKey]);
  expect(await epochsOf(cosigners.all, key)).toEqual([[2], [2], [2]]);
  await expectSignedByAll(refreshed);
});

test('all identities are rotated one after the other', async () => {
  const key = await newKey(cosigners.all);
  for (const index of [1, 2, 3]) await cosigners.rotateIdentity(index);
  await expectSignedByAll(key);
  await expectSignedByAll(await newKey(cosigners.all));
});

/**
 * Runs all steps of a refresh in which the third co-signer is unreachable when it should activate
 * its new share.
 */
async function refreshWithoutTheThird(run: RefreshRun, all: readonly CosignerClient[]): Promise<void> {
  const cut: readonly CosignerClient[] = all.map((cosigner) => ({
    index: cosigner.index,
    call: async (path, body) => {
      if (cosigner.index === 3 && path.endsWith('/activate')) throw new Error('away');
      return cosigner.call(path, body);
    },
  }));
  const finished = async () => {
    for (;;) await run.step(cut);
  };
  await expect(finished()).rejects.toThrow('away');
}

test('a refresh that was interrupted before two identities were rotated is completed', async () => {
  const key = await frostKey(cosigners.all);
  const run = new RefreshRun(key);
  await refreshWithoutTheThird(run, cosigners.all);
  expect(await epochsOf(cosigners.all, key)).toEqual([[2], [2], [1, 2]]);
  await cosigners.rotateIdentity(1);
  await cosigners.rotateIdentity(2);
  await run.finish(cosigners.all);
  expect(await epochsOf(cosigners.all, key)).toEqual([[2], [2], [2]]);
  expect(await signingGroups(cosigners.all, key)).toEqual(EVERYBODY);
});

test('an interrupted refresh is completed without a co-signer whose statement only the other co-signers have', async () => {
  const four = await startCosigners(4);
  const threeTogether = { ...policy, signingThreshold: 3 };
  try {
    const made = await generateKey(four.all, {
      scheme: 'frost-ed25519',
      policies: [{ policy: threeTogether, mandate: null }],
    });
    if (!made.ok) throw new Error(made.refusal.reason);
    const key = { ...made.value, addresses: {} };
    const run = new RefreshRun(key, threeTogether);
    await refreshWithoutTheThird(run, four.all);
    expect(await run.step(four.some(1, 2, 4))).toBeNull();
    expect(await epochsOf(four.all, key)).toEqual([[2], [2], [1, 2], [2]]);
    await four.rotateIdentity(1);
    await four.rotateIdentity(2);
    expect(await run.step(four.some(1, 2, 3))).toBeNull();
    expect(await epochsOf(four.all, key)).toEqual([[2], [2], [2], [2]]);
  } finally {
    await four.stop();
  }
});

test('a co-signer whose identity the others have not pinned takes part in no session', async () => {
  const puppet = await Puppet.ofNode2(cosigners.folder);
  const crew = [...cosigners.some(1), puppet, ...cosigners.some(3)];
  const key = await newKey(crew);
  const request = () => approvedTransfer({ key });
  expect(await thresholdSign([...cosigners.some(1), puppet], request())).toMatchObject({ ok: true });
  // From here on the puppet uses the former identity of co-signer 2, which the other co-signers no
  // longer accept.
  await cosigners.rotateIdentity(2);
  const outcome = await thresholdSign([...cosigners.some(1), puppet], request());
  expect(outcome.ok ? '' : outcome.reason).toBe('node 1 envelope-refused');
  expect(await thresholdSign(cosigners.some(1, 3), request())).toMatchObject({ ok: true });
});

/** The offset of the first word of the OT extension, after the context and the commitment. */
const OT_EXTENSION = 64 + 100;

test('a banned co-signer with a new identity is not banned, and the pair set-up that it cheated with is replaced', async () => {
  const puppet = await Puppet.ofNode2(cosigners.folder);
  const key = await newKey([...cosigners.some(1), puppet, ...cosigners.some(3)]);
  puppet.lie = (message, { purpose, round }) => {
    if (purpose === 'sign' && round === 1) message[OT_EXTENSION] = (message[OT_EXTENSION] ?? 0) ^ 1;
    return message;
  };
  const caught = await thresholdSign([...cosigners.some(1), puppet], approvedTransfer({ key }));
  expect(caught.ok ? '' : caught.reason).toContain('sign-2/ot-extension');
  const stateAt = async (index: number) => {
    const states = await present(cosigners.some(index)[0]).call('pairs/status', {});
    return states.ok ? (states.value as Record<string, unknown>)['2'] : null;
  };
  expect(await stateAt(1)).toEqual({ banned: true, setupId: null });
  expect(await stateAt(3)).toMatchObject({ banned: false, setupId: expect.any(String) as string });
  await cosigners.rotateIdentity(2);
  expect(await stateAt(1)).toEqual({ banned: false, setupId: null });
  const outcome = await thresholdSign(cosigners.some(1, 2), approvedTransfer({ key }));
  expect(outcome.ok ? '' : outcome.reason).toMatch(/not-paired|unknown-key/u);
  await expectSignedByAll(await newKey(cosigners.all));
});
