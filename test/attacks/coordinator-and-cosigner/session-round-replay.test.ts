/**
 * Attack: the coordinator requests a round again: simultaneously, later, out of order, or from a
 *   copy of the memory.
 * Attacker: coordinator-and-cosigner
 * Co-signers: 1
 * Finding: 3
 * Defence: storage advances the session before a round is computed, and the state of a round can be
 *   used once.
 */
import { expect, test } from 'vitest';
import { CosignerStorage } from '#cosigner/tables/storage.ts';
import { ecdsaKey, signatureOf } from '../../cosigner/signing/ecdsa-scene.ts';
import type { Begun, Pair } from '../../cosigner/session/sessions-scene.ts';
import { begin, goOn, MALLORY, nextFor, twoCosigners, writtenRound } from '../../cosigner/session/sessions-scene.ts';

/**
 * If a co-signer computes round 3 of DKLs23 (eprint 2023/765, Protocol 3.6) twice from one state
 * for two digests, the answers reveal its key share.
 */

const key = ecdsaKey();

/** Returns the outcomes of simultaneous requests to the honest co-signer. */
async function atOnce({ honest }: Pair, requests: readonly ReturnType<typeof nextFor>[]) {
  const answers = await Promise.all(requests.map((request) => honest.sessions.round(request)));
  return answers.map((answer) => (answer.ok ? 'answered' : answer.refusal.code));
}

/** Returns a signature that has reached the given round. */
async function comeTo(pair: Pair, round: number): Promise<Begun> {
  const begun = await begin(pair, signatureOf(key));
  while (begun.round < round) await goOn(pair, begun);
  return begun;
}

test.each([1, 2])('of five simultaneous requests for the round after %i one is answered', async (round) => {
  const pair = await twoCosigners();
  const begun = await comeTo(pair, round);
  const request = nextFor(pair.honest, begun);
  const codes = await atOnce(pair, [request, request, request, request, request]);
  expect(codes.toSorted()).toEqual(['answered', ...Array.from({ length: 4 }, () => 'session-over')]);
});

test('an earlier round is not computed again, and a later round is not computed before its turn', async () => {
  const pair = await twoCosigners();
  const begun = await begin(pair, signatureOf(key));
  const second = nextFor(pair.honest, begun);
  await goOn(pair, begun);
  await goOn(pair, begun);
  expect(await atOnce(pair, [second])).toEqual(['session-over']);
  const another = await begin(pair, signatureOf(key));
  const early = { ...nextFor(pair.honest, another), round: 3 };
  // The envelope is for round 1, so it does not open in round 3.
  expect(await atOnce(pair, [early])).toEqual(['envelope-refused']);
});

test('the last answer is repeated byte for byte, and another message gets no answer', async () => {
  const pair = await twoCosigners();
  const begun = await comeTo(pair, 2);
  const request = nextFor(pair.honest, begun);
  const [first, again] = [await pair.honest.sessions.round(request), await pair.honest.sessions.round(request)];
  expect(again).toEqual(first);
  expect(again).toMatchObject({ ok: true, value: { result: {} } });
  const other = await begin(pair, signatureOf(key));
  const moved = { ...request, envelopes: nextFor(pair.honest, other).envelopes };
  // A session deletes its envelope keys when it has its result, so it cannot open another envelope.
  expect(await atOnce(pair, [moved])).toEqual(['session-over']);
  const empty = { ...request, envelopes: new Map([[MALLORY, new Uint8Array()]]) };
  expect(await atOnce(pair, [empty])).toEqual(['session-over']);
});

test.each([1, 2])(
  'a copy of the memory after round %i cannot answer once the other copy has answered',
  async (round) => {
    const pair = await twoCosigners();
    const begun = await comeTo(pair, round);
    // A host that resumes one process snapshot twice runs two processes on one storage. When the
    // other process answers the next round, this process sees only the new round in storage.
    expect(new CosignerStorage(pair.honest.sql).advance(begun.sid, round + 1)).toBe(true);
    expect(await atOnce(pair, [nextFor(pair.honest, begun)])).toEqual(['session-over']);
    expect(writtenRound(pair.honest, begun)).toBe(round + 1);
  },
);
