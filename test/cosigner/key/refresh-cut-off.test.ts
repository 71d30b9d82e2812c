import { expect, test } from 'vitest';
import { Cut, cutAt, cutsOf } from '../session/interrupted-client.ts';
import { inTurn } from '../../setup/turns.ts';
import { present, startCosigners } from '../cosigners.ts';
import { cosignersInMemory } from '../cosigners-in-memory.ts';
import { epochsOf, EVERYBODY, frostKey, RefreshRun, signingGroups } from './refresh-scene.ts';

type Scene = Pick<ReturnType<typeof cosignersInMemory>, 'all' | 'watch' | 'restart'>;

/**
 * Cuts refreshes of one key off at a selection of all calls. Checks that the key signs after each
 * cut, and that the refresh can be completed.
 */
async function cutOff({ all, watch, restart }: Scene, part: <T>(cuts: readonly T[]) => readonly T[]): Promise<void> {
  const key = await frostKey(all);
  let calls = 0;
  watch(() => void (calls += 1));
  await new RefreshRun(key).finish(all);
  watch(() => {});
  expect(calls).toBeGreaterThan(40);
  for (const cut of part(cutsOf(calls))) {
    const run = new RefreshRun(key);
    await expect(run.finish(cutAt(all, cut)), JSON.stringify(cut)).rejects.toThrow(Cut);
    await restart();
    const able = await signingGroups(all, key);
    expect([cut, able.length]).not.toEqual([cut, 0]);
    await run.finish(all);
    const epochs = await epochsOf(all, key);
    expect([cut, new Set(epochs.flat()).size]).toEqual([cut, 1]);
    expect([cut, await signingGroups(all, key)]).toEqual([cut, EVERYBODY]);
  }
}

test('a refresh that is cut off at any call, with all memory lost, leaves a key that signs, and is completed', async () => {
  await cutOff(cosignersInMemory(), (cuts) => inTurn(cuts, 36));
});

test('a refresh that is cut off by a real restart of workerd leaves a key that signs, and is completed', async () => {
  const cosigners = await startCosigners();
  // One cut is while the shares are dealt, the other while the co-signers activate them.
  const positions = (count: number) => inTurn([Math.floor(count / 3), count - 3], 2);
  await cutOff(cosigners, (cuts) => positions(cuts.length).map((at) => present(cuts[at])));
  await cosigners.stop();
});
