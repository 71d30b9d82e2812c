import { expect, test } from 'vitest';
import { cosignersInMemory } from '../../cosigner/cosigners-in-memory.ts';
import { epochsOf, EVERYBODY, frostKey, RefreshRun, signingGroups } from '../../cosigner/key/refresh-scene.ts';

/**
 * Covers what a key refresh must record so that an operator can safely give it up. The first key
 * pairs the co-signers in this process, which takes seconds.
 */

const { all, watch } = cosignersInMemory();

test('shares that wait since a refresh was given up are never used, and the next refresh deals a newer epoch', async () => {
  const key = await frostKey(all);
  const former = new RefreshRun(key);
  // The first step records the shares in use, and the second one deals.
  expect([await former.step(all), await former.step(all)]).toEqual([null, null]);
  expect(await epochsOf(all, key)).toEqual([
    [1, 2],
    [1, 2],
    [1, 2],
  ]);
  await new RefreshRun(key).finish(all);
  expect(await epochsOf(all, key)).toEqual([[3], [3], [3]]);
  expect(await signingGroups(all, key)).toEqual(EVERYBODY);
});

test('the same refresh uses the shares that it has dealt', async () => {
  const key = await frostKey(all);
  await new RefreshRun(key).finish(all);
  expect(await epochsOf(all, key)).toEqual([[2], [2], [2]]);
});

test('a refresh records that it activates shares before a co-signer is instructed, and not before all groups proved them', async () => {
  const key = await frostKey(all);
  const run = new RefreshRun(key);
  const recorded: (number | undefined)[] = [];
  watch(({ path }) => {
    if (path.endsWith('/activate')) recorded.push(run.refresh.activating);
  });
  while (run.refresh.activating === undefined) expect(await run.step(all)).toBeNull();
  expect([run.refresh.activating, run.refresh.provenBy, recorded]).toEqual([2, EVERYBODY.map((one) => `2:${one}`), []]);
  await run.finish(all);
  watch(() => {});
  expect(recorded).toEqual([2, 2, 2]);
});
