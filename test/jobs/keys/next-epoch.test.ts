import { expect, test } from 'vitest';
import type { CosignerClient } from '#cosigner-client/client.ts';
import type { HeldShares } from '#cosigner-client/held-shares.ts';
import { accepted, refused } from '#domain/result.ts';
import { MAX_EPOCH_STEP } from '#mpc/keygen/resharing.ts';
import { cosignersInMemory } from '../../cosigner/cosigners-in-memory.ts';
import { epochsOf, frostKey, RefreshRun } from '../../cosigner/key/refresh-scene.ts';

/**
 * Covers that interrupted dealings do not lead co-signers so far apart that no epoch is left which
 * all of them accept. The first key pairs the co-signers in this process, which takes seconds.
 */

const cosigners = cosignersInMemory();
const { all } = cosigners;

/** The last round of a dealing, in which each co-signer stores its share. */
const LAST_ROUND = 5;

const isLastRound = (path: string, body: unknown) =>
  path.startsWith('reshare/') && path.endsWith('/round') && (body as { readonly round: number }).round === LAST_ROUND;

/** The co-signers, of which the named ones are lost in the last round of each dealing. */
const lostInLastRound = (crew: readonly CosignerClient[], lost: ReadonlySet<number>): readonly CosignerClient[] =>
  crew.map((cosigner) => ({
    index: cosigner.index,
    call: async (path, body) => {
      const isLost = lost.has(cosigner.index) && isLastRound(path, body);
      const fault = { cosigner: cosigner.index, code: 'unreachable', detail: null, culprit: null };
      return isLost ? refused(fault) : cosigner.call(path, body);
    },
  }));

test.each([1, 2, 3])(
  'co-signer %i that fails in the last round of each dealing is not left behind, and a later dealing succeeds',
  async (failing) => {
    const key = await frostKey(all);
    const run = new RefreshRun(key);
    expect(await run.step(all)).toBeNull();
    const faulty = lostInLastRound(all, new Set([failing]));
    for (let i = 0; i <= MAX_EPOCH_STEP; i++) expect(await run.step(faulty)).toContain('unreachable');
    await run.finish(all);
    const [first, ...others] = (await epochsOf(all, key)).map(([active]) => active);
    expect(others).toEqual([first, first]);
  },
);

test('a co-signer that is replaced after many interrupted dealings joins the key', async () => {
  const key = await frostKey(all);
  const run = new RefreshRun(key);
  expect(await run.step(all)).toBeNull();
  const faulty = lostInLastRound(all, new Set([2]));
  for (let i = 0; i <= MAX_EPOCH_STEP + 2; i++) expect(await run.step(faulty)).toContain('unreachable');
  await cosigners.replace(3);
  await run.finish(all);
  const [first, ...others] = (await epochsOf(all, key)).map(([active]) => active);
  expect(others).toEqual([first, first]);
});

test('a far epoch that one co-signer names does not lead to an epoch that another one refuses', async () => {
  const key = await frostKey(all);
  const run = new RefreshRun(key);
  expect(await run.step(all)).toBeNull();
  // Co-signers 1 and 2 store a share, and co-signer 3 is lost before it has one.
  const [first, second, third] = all;
  await run.step(lostInLastRound([first, second, third], new Set([3])));
  const lies = (shares: HeldShares) => [
    ...shares,
    { epoch: MAX_EPOCH_STEP + 1, isActive: false, statement: 'ab', publicShares: {}, receipts: {} },
  ];
  const liar: CosignerClient = {
    index: first.index,
    call: async (path, body) => {
      const answer = await first.call(path, body);
      return answer.ok && path.endsWith('/shares') ? accepted(lies(answer.value as HeldShares)) : answer;
    },
  };
  expect(await epochsOf(all, key)).toEqual([[1, 2], [1, 2], [1]]);
  expect(await run.step([liar, second, third])).toBeNull();
  expect(await epochsOf(all, key)).toEqual([
    [1, 2, 3],
    [1, 2, 3],
    [1, 3],
  ]);
});
