/**
 * Attack: one co-signer reports an epoch close to the last one, or public shares without those of
 *   the others, so that a key can never be refreshed again, or signs nothing after a refresh.
 * Attacker: coordinator and co-signer
 * Co-signers: 1
 * Finding: F8, F9
 * Defence: the coordinator uses only what t co-signers report alike, and a co-signer accepts an
 *   epoch at most 16 above its newest. Nothing remains when the liar is gone.
 */
import { nameOf } from '#devices/policy-succession.ts';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { CosignerClient } from '#cosigner-client/client.ts';
import type { HeldShares } from '#cosigner-client/held-shares.ts';
import { accepted } from '#domain/result.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import { relay } from '#jobs/signing/relay.ts';
import { policy } from '../../domain/cast.ts';
import type { Cosigners } from '../../cosigner/cosigners.ts';
import { present, startCosigners } from '../../cosigner/cosigners.ts';
import { epochsOf, frostKey, RefreshRun, signingGroups, EVERYBODY } from '../../cosigner/key/refresh-scene.ts';

let cosigners: Cosigners;
beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  cosigners = await startCosigners();
});
afterAll(() => cosigners.stop());

/** The co-signers, of which one changes what it reports about its shares. */
function withLiar(liar: number, lie: (shares: HeldShares) => unknown): readonly CosignerClient[] {
  return cosigners.all.map((cosigner) => ({
    index: cosigner.index,
    call: async (path, body) => {
      const answer = await cosigner.call(path, body);
      const isLie = cosigner.index === liar && path.endsWith('/shares') && answer.ok;
      return isLie ? accepted(lie(answer.value as HeldShares)) : answer;
    },
  }));
}

async function refreshed(key: VaultKey, by: readonly CosignerClient[]): Promise<VaultKey> {
  return new RefreshRun(key).finish(by);
}

const far = { epoch: 65_534, isActive: false, statement: 'ab', publicShares: {}, receipts: {} };

test.each<[string, (shares: HeldShares) => unknown]>([
  ['a waiting share of a far epoch', (shares) => [...shares, far]],
  ['a share of a far epoch in use', (shares) => [...shares, { ...far, isActive: true }]],
  [
    'a step of far epochs',
    (shares) => [...shares, ...Array.from({ length: 90 }, (_, i) => ({ ...far, epoch: 16 * (i + 1) }))],
  ],
])('%s that one co-signer reports uses up no epochs', async (_name, lie) => {
  const key = await frostKey(cosigners.all);
  const run = new RefreshRun(key);
  // The liar can stop a refresh, in which all co-signers take part.
  for (let i = 0; i < 4; i++) await run.step(withLiar(2, lie));
  const after = await run.finish(cosigners.all);
  expect(Math.max(...(await epochsOf(cosigners.all, key)).map(([active]) => active ?? 0))).toBeLessThanOrEqual(20);
  expect(await signingGroups(cosigners.all, after)).toEqual(EVERYBODY);
  expect(await signingGroups(cosigners.all, await refreshed(after, cosigners.all))).toEqual(EVERYBODY);
});

test.each([1, 3])('public shares that co-signer %i leaves out are those of the other co-signers', async (liar) => {
  const key = await frostKey(cosigners.all);
  const onlyOwn = (shares: HeldShares) =>
    shares.map((share) => ({ ...share, publicShares: { [liar]: share.publicShares[liar] ?? '' } }));
  const after = await refreshed(key, withLiar(liar, onlyOwn));
  expect(Object.keys(after.publicShares)).toEqual(['1', '2', '3']);
  expect(after.publicShares).not.toEqual(key.publicShares);
  expect(await signingGroups(cosigners.all, after)).toEqual(EVERYBODY);
});

test('a coordinator cannot have shares dealt for an epoch that leaves none for later', async () => {
  const key = await frostKey(cosigners.all);
  const terms = { scheme: key.scheme, baseEpoch: 1, dealers: [1, 2], publicKey: key.publicKey };
  const dealtAt = async (epoch: number) => {
    const request = { ...terms, epoch, publicShares: key.publicShares, policy: nameOf(policy) };
    const dealt = await relay({
      cosigners: cosigners.all,
      path: () => `reshare/${key.keyId}`,
      request: () => request,
    });
    return dealt.ok ? 'dealt' : `${dealt.refusal.code} ${dealt.refusal.detail}`;
  };
  for (const epoch of [0xffff_ffff, 65_535, 18]) expect(await dealtAt(epoch)).toBe('malformed epoch');
  expect(await dealtAt(17)).toBe('dealt');
  expect(present(await epochsOf(cosigners.all, key))[0]).toEqual([1, 17]);
});
