import { expect, test } from 'vitest';
import { pairSetups } from '#jobs/keys/pair-cosigners.ts';
import { proofFault } from '#jobs/keys/prove-key.ts';
import { pairEvery } from '../../setup/paired-cosigners.ts';
import { inTurn } from '../../setup/turns.ts';
import { cosignersInMemory } from '../cosigners-in-memory.ts';
import { Cut, cutAt, cutsOf } from '../session/interrupted-client.ts';
import { generateKey, twoOfThree } from './generate-key.ts';

/** Co-signers pair in several messages, and a pairing that was cut off anywhere is begun again. */

const cosigners = cosignersInMemory();

const REQUEST = twoOfThree('ecdsa-secp256k1');

/** It has no factor in common with the six turns of the files, so every part has its turn. */
const CUT_PARTS = 7;

test('wherever two co-signers are cut off while they pair anew, they pair in the end, and sign', async () => {
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
}, 240_000);

test('two co-signers of which one was replaced while they paired pair in the end, and sign', async () => {
  await cosigners.replace(2);
  const cut = cutAt(cosigners.all, { lastCall: 13, isAnswerLost: false });
  await expect(generateKey(cut, REQUEST)).rejects.toThrow(Cut);
  await cosigners.restart();
  // Every pair of co-signers proves that it can sign: that is part of it.
  expect(await generateKey(cosigners.all, REQUEST)).toMatchObject({ ok: true });
}, 60_000);
