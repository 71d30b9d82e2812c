/**
 * Attack: one co-signer reports the old epoch in use and the new one as waiting, and claims each
 *   activation or reverts it, so that every step of a refresh is progress and no log names it.
 * Attacker: coordinator and co-signer
 * Co-signers: 1
 * Finding: N7
 * Defence: only the next report of the shares counts as a change, and each change counts once. Any
 *   other claim stops the step, and the reason names the co-signer.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { CosignerClient } from '#cosigner-client/client.ts';
import type { HeldShares } from '#cosigner-client/held-shares.ts';
import { accepted } from '#domain/result.ts';
import type { Cosigners } from '../../cosigner/cosigners.ts';
import { startCosigners } from '../../cosigner/cosigners.ts';
import { EVERYBODY, frostKey, RefreshRun, signingGroups } from '../../cosigner/key/refresh-scene.ts';

let cosigners: Cosigners;
beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  cosigners = await startCosigners();
});
afterAll(() => cosigners.stop());

/**
 * Returns co-signers of which the second one reports epoch 1 in use and the present shares as
 * waiting.
 */
function liarAmong(
  { all }: Cosigners,
  liar: { readonly activates: () => boolean; readonly isActive?: () => boolean },
): readonly CosignerClient[] {
  return all.map((cosigner, i) => ({
    index: cosigner.index,
    call: async (path: string, body: unknown) => {
      if (i === 1 && path.endsWith('/activate')) {
        liar.activates();
        return accepted(null);
      }
      const answer = await cosigner.call(path, body);
      if (i !== 1 || !path.endsWith('/shares') || !answer.ok || liar.isActive?.() === true) return answer;
      const shares = answer.value as HeldShares;
      const old = shares.map((share) => ({ ...share, epoch: 1, statement: 'ab', isActive: true }));
      return accepted([...old, ...shares.map((share) => ({ ...share, isActive: false }))]);
    },
  }));
}

test('a step in which a co-signer claims a change that it does not report is a fault that names it', async () => {
  const key = await frostKey(cosigners.all);
  // Co-signers 1 and 3 use epoch 2; the second one has it as well, and reports epoch 1 in use.
  await new RefreshRun(key).finish(cosigners.all);
  const lying = liarAmong(cosigners, { activates: () => false });
  const run = new RefreshRun(key);
  for (let step = 0; step < 10; step++) {
    expect(await run.step(lying)).toBe('activation: node 2 claims to use epoch 2, and does not report it');
  }
  const after = await run.finish(cosigners.all);
  expect(await signingGroups(cosigners.all, after)).toEqual(EVERYBODY);
});

test('a co-signer that confirms a change and reverts it in the next step is named the second time', async () => {
  const key = await frostKey(cosigners.all);
  await new RefreshRun(key).finish(cosigners.all);
  let hasActivated = false;
  const lying = liarAmong(cosigners, {
    activates: () => (hasActivated = true),
    isActive: () => hasActivated,
  });
  const run = new RefreshRun(key);
  const steps: unknown[] = [];
  for (let step = 0; step < 10; step++) {
    // The report after the activation is true. The next step begins with the old one again.
    hasActivated = false;
    steps.push(await run.step(lying));
  }
  const reverted = 'activation: node 2 used epoch 2 before, and reports an older one';
  expect(steps).toEqual([null, ...Array.from({ length: 9 }, () => reverted)]);
  const after = await run.finish(cosigners.all);
  expect(await signingGroups(cosigners.all, after)).toEqual(EVERYBODY);
});
