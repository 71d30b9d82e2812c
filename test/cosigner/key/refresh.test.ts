import { nameOf } from '#devices/policy-succession.ts';
import { CREATION_TOLERANCE_MS } from '#cosigner/policy/approval-check.ts';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { KeyScheme } from '#domain/asset/chain.ts';
import { KEY_SCHEMES } from '#domain/asset/chain.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import { refused } from '#domain/result.ts';
import { pairSetups } from '#jobs/keys/pair-cosigners.ts';
import { relay } from '#jobs/signing/relay.ts';
import { thresholdSign } from '../threshold-sign.ts';
import { policy } from '../../domain/cast.ts';
import { Cut } from '../session/interrupted-client.ts';
import type { Cosigners } from '../cosigners.ts';
import { approvedTransfer, newKey, present, startCosigners } from '../cosigners.ts';
import { epochsOf, EVERYBODY, frostKey, RefreshRun, signingGroups } from './refresh-scene.ts';
import { encodePolicy } from '#cosigner-client/bring-policies.ts';

/**
 * Tests key refreshes in steps, each started by a message of its own, among three co-signers in
 * workerd.
 */

let cosigners: Cosigners;

beforeAll(async () => {
  cosigners = await startCosigners();
});
afterAll(() => cosigners.stop());
beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}));
afterEach(() => vi.restoreAllMocks());

const keyOf = (scheme: KeyScheme) =>
  scheme === 'ecdsa-secp256k1' ? newKey(cosigners.all) : frostKey(cosigners.all, scheme);

/** The maximum number of calls in one step, as in key-generation.test.ts. */
const MAX_CALLS = 24;

interface Refreshed {
  readonly key: VaultKey;
  readonly refreshed: VaultKey;
  /** The identifiers of the pair set-ups, before and after the refresh. */
  readonly setups: readonly [before: readonly string[], after: readonly string[]];
}

async function refreshOf(scheme: KeyScheme): Promise<Refreshed> {
  const key = await keyOf(scheme);
  const before = await setupsNow();
  const run = new RefreshRun(key);
  let refreshed: VaultKey | null = null;
  while (refreshed === null) {
    let calls = 0;
    cosigners.watch(() => void (calls += 1));
    const step = await run.step(cosigners.all);
    cosigners.watch(() => {});
    if (typeof step === 'string') throw new Error(step);
    refreshed = step;
    expect(calls).toBeLessThanOrEqual(MAX_CALLS);
  }
  return { key, refreshed, setups: [before, await setupsNow()] };
}

async function setupsNow(): Promise<readonly string[]> {
  const found = await pairSetups(cosigners.all);
  return found.ok ? found.value : [];
}

/**
 * The next three tests share one refresh of an ECDSA key, which pairs all co-signers again and
 * takes about a second for each pair.
 */
let ofEcdsa: Promise<Refreshed> | null = null;
const refreshedKey = (scheme: KeyScheme) =>
  scheme === 'ecdsa-secp256k1' ? (ofEcdsa ??= refreshOf(scheme)) : refreshOf(scheme);

test.each(KEY_SCHEMES)(
  'every co-signer gets a new share of a %s key within the limit of calls, and every two of them sign',
  async (scheme) => {
    const { key, refreshed } = await refreshedKey(scheme);
    expect(await epochsOf(cosigners.all, key)).toEqual([[2], [2], [2]]);
    expect(await signingGroups(cosigners.all, key)).toEqual(EVERYBODY);
    for (const cosigner of ['1', '2', '3'])
      expect(refreshed.publicShares[cosigner]).not.toBe(key.publicShares[cosigner]);
  },
);

test('a vault signs transfers with the refreshed key, and blames co-signers by the new public shares', async () => {
  const { key, refreshed } = await refreshedKey('ecdsa-secp256k1');
  for (const pair of [cosigners.some(1, 2), cosigners.some(1, 3), cosigners.some(2, 3)]) {
    expect(await thresholdSign(pair, approvedTransfer({ key: refreshed }))).toMatchObject({ ok: true });
  }
  expect([refreshed.keyId, refreshed.publicKey]).toEqual([key.keyId, key.publicKey]);
});

test('an ECDSA refresh replaces the pair set-ups, and no co-signer deals to a peer whose set-up is older than its share', async () => {
  const { key, refreshed, setups } = await refreshedKey('ecdsa-secp256k1');
  const [before, after] = setups;
  expect([before.length, after.length]).toEqual([3, 3]);
  for (const one of after) expect(before).not.toContain(one);
  const dealt = await relay({
    cosigners: cosigners.all,
    path: () => `reshare/${key.keyId}`,
    request: () => ({
      scheme: key.scheme,
      baseEpoch: 2,
      epoch: 3,
      dealers: [1, 2],
      publicKey: key.publicKey,
      publicShares: refreshed.publicShares,
      policy: nameOf(policy),
    }),
  });
  expect(dealt.ok ? 'dealt' : dealt.refusal.code).toBe('pair-too-old');
});

test('a co-signer that is restored to its old storage cannot sign together with a refreshed co-signer', async () => {
  const key = await keyOf('frost-ed25519');
  const putBack = await cosigners.keep(2);
  await new RefreshRun(key).finish(cosigners.all);
  await putBack();
  expect(await epochsOf(cosigners.all, key)).toEqual([[2], [1], [2]]);
  expect(await signingGroups(cosigners.all, key)).toEqual(['1+3']);
  // The next refresh gives the restored co-signer a share again: the other two deal, whatever share
  // it has.
  await new RefreshRun(key).finish(cosigners.all);
  expect(await epochsOf(cosigners.all, key)).toEqual([[3], [3], [3]]);
  expect(await signingGroups(cosigners.all, key)).toEqual(EVERYBODY);
});

test('co-signers that were all restored do not use shares older than the minimum that an operator has set', async () => {
  const key = await newKey(cosigners.all);
  const before = await cosigners.keep(1);
  const alsoBefore = await cosigners.keep(2);
  const refreshed = await new RefreshRun(key).finish(cosigners.all);
  // Two restored co-signers can sign with their old shares. The operator's minimum age of shares
  // prevents that.
  await before();
  await alsoBefore();
  expect(await thresholdSign(cosigners.some(1, 2), approvedTransfer({ key }))).toMatchObject({ ok: true });
  const sharesSince = new Date(Date.now()).toISOString();
  await cosigners.restart({ sharesSince });
  expect(await thresholdSign(cosigners.some(1, 2), approvedTransfer({ key }))).toMatchObject({
    ok: false,
    reason: expect.stringContaining('share-too-old') as string,
  });
  await cosigners.restart();
  expect(refreshed.keyId).toBe(key.keyId);
});

/** The key with which the next two tests use the new machine of co-signer 2. */
let withNewMachine: VaultKey | null = null;

test('a new machine gets shares of existing keys, and signs no transaction that was created before its activation', async () => {
  const key = await newKey(cosigners.all);
  const early = approvedTransfer({ key, nonce: 5n });
  expect(await thresholdSign(cosigners.some(1, 2), early)).toMatchObject({ ok: true });
  await cosigners.replace(2);
  expect(await epochsOf(cosigners.all, key)).toEqual([[1], [null], [1]]);
  const refreshed = await new RefreshRun(key).finish(cosigners.all);
  withNewMachine = refreshed;
  expect(await epochsOf(cosigners.all, key)).toEqual([[2], [2], [2]]);
  // A transaction that was created within the clock tolerance may have been signed before the
  // records were lost.
  const soon = approvedTransfer({ key: refreshed, nonce: 8n, createdAtMs: Date.now() });
  expect(await thresholdSign(cosigners.some(2, 3), soon)).toMatchObject({
    ok: false,
    reason: 'node 2 before-its-time',
  });
  const late = approvedTransfer({ key: refreshed, nonce: 6n, createdAtMs: Date.now() + CREATION_TOLERANCE_MS });
  for (const pair of [cosigners.some(1, 2), cosigners.some(2, 3), cosigners.some(1, 3)]) {
    expect(await thresholdSign(pair, late)).toMatchObject({ ok: true });
  }
  // The new machine cannot know what was signed before it existed; the older co-signers attest it.
  const unseen = approvedTransfer({ key: refreshed, nonce: 7n, createdAtMs: Date.now() - 60_000 });
  expect(await thresholdSign(cosigners.some(2, 3), unseen)).toMatchObject({
    ok: false,
    reason: 'node 2 before-its-time',
  });
  expect(await thresholdSign(cosigners.all, unseen)).toMatchObject({ ok: true });
});

test('a new machine checks each request against the policy of the vault', async () => {
  const key = present(withNewMachine);
  const alone = approvedTransfer({ key, approvedBy: [], createdAtMs: Date.now() + CREATION_TOLERANCE_MS });
  expect(await thresholdSign(cosigners.some(2, 3), alone)).toMatchObject({
    ok: false,
    reason: expect.stringContaining('not-enough-approvals') as string,
  });
  const answer = await present(cosigners.all[1]).call(`vault/${policy.vaultId}/policy`, {
    policies: [encodePolicy({ policy: { ...policy, threshold: 1 }, mandate: null })],
    chosen: {},
    adopted: {},
  });
  expect(answer.ok ? 'taken' : answer.refusal.code).toBe('policy-mismatch');
});

test('new shares that a group cannot sign with are never activated, and other shares are dealt', async () => {
  const key = await keyOf('frost-ed25519');
  const lame = cosigners.all.map((cosigner) => ({
    index: cosigner.index,
    call: async (path: string, body: unknown) => {
      const answer = await cosigner.call(path, body);
      if (!path.startsWith('proof/') || !answer.ok) return answer;
      const { result } = answer.value as { result?: { partial: string } };
      return result === undefined
        ? answer
        : { ok: true as const, value: { ...Object(answer.value), result: { partial: '00' } } };
    },
  }));
  const run = new RefreshRun(key);
  await expect(run.finish(lame)).rejects.toThrow('proof');
  expect(await epochsOf(cosigners.all, key)).toEqual([
    [1, 2],
    [1, 2],
    [1, 2],
  ]);
  expect(await signingGroups(cosigners.all, key)).toEqual(EVERYBODY);
  await run.finish(cosigners.all);
  expect(await epochsOf(cosigners.all, key)).toEqual([[3], [3], [3]]);
});

test('no share changes while a co-signer is unreachable, and the refresh continues when it is reachable again', async () => {
  const key = await keyOf('frost-ed25519');
  const absent = present(cosigners.all[2]);
  const unreachable = async () => refused({ cosigner: absent.index, code: 'unreachable', detail: null, culprit: null });
  const run = new RefreshRun(key);
  expect(await run.step(cosigners.all)).toBeNull();
  const two = [...cosigners.some(1, 2), { index: absent.index, call: unreachable }];
  expect(await run.step(two)).toContain('unreachable');
  expect(await epochsOf(cosigners.all, key)).toEqual([[1], [1], [1]]);
  await run.finish(cosigners.all);
  expect(await epochsOf(cosigners.all, key)).toEqual([[2], [2], [2]]);
});

test.each([1, 2, 3])(
  'co-signer %i and the coordinator are lost while shares are activated, and the remaining co-signers sign',
  async (lost) => {
    const key = await keyOf('frost-ed25519');
    const survivors = cosigners.all.filter(({ index }) => index !== lost);
    const { index: gone } = present(cosigners.all[lost - 1]);
    const silence = async () => refused({ cosigner: gone, code: 'unreachable', detail: null, culprit: null });
    const crew = cosigners.all.map((cosigner) => (cosigner.index === gone ? { index: gone, call: silence } : cosigner));
    const changed = new Set<string>();
    for (const last of [1, 2, 3]) {
      const run = new RefreshRun(key);
      // The coordinator stops before it gets the answer of this co-signer to its activation.
      const dying = cosigners.all.map((cosigner) => ({
        index: cosigner.index,
        call: async (path: string, body: unknown) => {
          const answer = await cosigner.call(path, body);
          if (path.endsWith('/activate') && cosigner.index === last) throw new Cut('the power is gone');
          return answer;
        },
      }));
      await expect(run.finish(dying)).rejects.toThrow(Cut);
      const before = await epochsOf(survivors, key);
      changed.add(before.map(([active]) => (active === before[0]?.[0] ? 'same' : 'other')).join());
      // Signing does not wait for the lost co-signer, but a refresh needs every co-signer.
      const later = new RefreshRun(key);
      for (let step = await later.step(crew); ; step = await later.step(crew)) {
        if (step === null) continue;
        expect(step).toContain('unreachable');
        break;
      }
      const [one, other] = await epochsOf(survivors, key);
      expect(one?.[0]).toBe(other?.[0]);
      expect(await signingGroups(survivors, key)).toEqual([survivors.map(({ index }) => index).join('+')]);
      await new RefreshRun(key).finish(cosigners.all);
    }
    // When co-signer 2 is lost, at least one interruption leaves the two survivors at different
    // epochs.
    if (lost === 2) expect(changed).toContain('same,other');
  },
);

test('a co-signer that forges statements of the others does not keep an honest co-signer from the newest shares', async () => {
  const key = await keyOf('frost-ed25519');
  const run = new RefreshRun(key);
  const dying = cosigners.all.map((cosigner) => ({
    index: cosigner.index,
    call: async (path: string, body: unknown) => {
      if (path.endsWith('/activate') && cosigner.index === 2) throw new Cut();
      return cosigner.call(path, body);
    },
  }));
  await expect(run.finish(dying)).rejects.toThrow(Cut);
  expect(await epochsOf(cosigners.all, key)).toEqual([[2], [1, 2], [1, 2]]);
  // Co-signer 3 claims to use shares of an epoch that does not exist, and presents forged receipts
  // of all co-signers for the second epoch.
  const liar = cosigners.all.map((cosigner) => ({
    index: cosigner.index,
    call: async (path: string, body: unknown) => {
      const answer = await cosigner.call(path, body);
      if (cosigner.index !== 3 || !path.endsWith('/shares') || !answer.ok) return answer;
      const held = answer.value as readonly { readonly epoch: number }[];
      const receipts = { '1': '00'.repeat(64), '2': '00'.repeat(64), '3': '00'.repeat(64) };
      const lies = held.map((share) => ({ ...share, isActive: true, receipts }));
      return { ok: true as const, value: [...lies, { ...lies[0], epoch: 60_000 }] };
    },
  }));
  await new RefreshRun(key).step([present(liar[2]), present(liar[0]), present(liar[1])]);
  expect((await epochsOf(cosigners.all, key)).slice(0, 2)).toEqual([[2], [2]]);
  expect(await signingGroups(cosigners.some(1, 2), key)).toEqual(['1+2']);
  await new RefreshRun(key).finish(cosigners.all);
  expect(await signingGroups(cosigners.all, key)).toEqual(EVERYBODY);
});
