import { expect, test } from 'vitest';
import { pairSetups } from '#jobs/keys/pair-cosigners.ts';
import { proofFault } from '#jobs/keys/prove-key.ts';
import { pairEvery } from '../../setup/paired-cosigners.ts';
import { inTurn } from '../../setup/turns.ts';
import { cosignersInMemory } from '../cosigners-in-memory.ts';
import { Cut, cutAt, cutsOf } from '../session/interrupted-client.ts';
import { generateKey, twoOfThree } from './generate-key.ts';

/** Tests that co-signers restart a pairing that was cut off at any of its messages. */

const cosigners = cosignersInMemory();

const REQUEST = twoOfThree('ecdsa-secp256k1');

/**
 * The number of parts, of which each run tests one. It has no factor in common with the 6 groups of
 * test files that run in turn, so every part is tested.
 */
const CUT_PARTS = 7;

test('two co-signers that are cut off at any call of a new pairing pair at the next attempt, and sign', async () => {
  const made = await generateKey(cosigners.all, REQUEST);
  if (!made.ok) throw new Error(made.refusal.reason);
  const pair = cosigners.some(1, 2);
  const stale = async () => {
    const setups = await pairSetups(pair);
    return new Set(setups.ok ? setups.value : []);
  };
  let calls = 0;
  cosigners.watch(() => void (calls += 1));
  await pairEvery(pair, await stale());
  cosigners.watch(() => {});
  expect(calls).toBeGreaterThan(10);
  for (const cut of inTurn(cutsOf(calls - 2), CUT_PARTS)) {
    const before = await stale();
    await expect(pairEvery(cutAt(pair, cut), before), JSON.stringify(cut)).rejects.toThrow(Cut);
    await cosigners.restart();
    await pairEvery(pair, before);
    const key = { ...made.value, threshold: 2, epoch: 1 };
    expect([cut, await proofFault(pair, key)]).toEqual([cut, null]);
  }
});

test('a pairing during which one of two co-signers was replaced succeeds at the next attempt', async () => {
  await cosigners.replace(2);
  const cut = cutAt(cosigners.all, { lastCall: 13, isAnswerLost: false });
  await expect(generateKey(cut, REQUEST)).rejects.toThrow(Cut);
  await cosigners.restart();
  // A key generation includes a test signature of every pair of co-signers.
  expect(await generateKey(cosigners.all, REQUEST)).toMatchObject({ ok: true });
});
