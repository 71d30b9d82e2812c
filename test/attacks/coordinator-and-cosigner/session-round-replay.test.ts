/**
 * Attack: the coordinator requests a round again: at the same moment, later, out of order, or
 *   from a copy of the memory.
 * Attacker: coordinator-and-cosigner
 * Co-signers: 1
 * Finding: 3
 * Defence: The ledger moves a session on before a round is computed, and the state of a round
 *   works once.
 */
import { expect, test } from 'vitest';
import { CosignerStorage } from '#cosigner/storage.ts';
import { ecdsaKey, signatureOf } from '../../cosigner/signing/ecdsa-scene.ts';
import type { Begun, Pair } from '../../cosigner/session/sessions-scene.ts';
import { begin, goOn, MALLORY, nextFor, twoCosigners, writtenRound } from '../../cosigner/session/sessions-scene.ts';

/**
 * Round 3 of DKLs23 (eprint 2023/765, Protocol 3.6), computed twice on one state for two digests,
 * gives the key away.
 */

const key = ecdsaKey();

/** The answers of the honest co-signer to requests that arrive at one moment. */
async function atOnce({ honest }: Pair, requests: readonly ReturnType<typeof nextFor>[]) {
  const answers = await Promise.all(requests.map((request) => honest.sessions.round(request)));
  return answers.map((answer) => (answer.ok ? 'answered' : answer.refusal.code));
}

/** A signature that has come to the given round. */
async function comeTo(pair: Pair, round: number): Promise<Begun> {
  const begun = await begin(pair, signatureOf(key));
  while (begun.round < round) await goOn(pair, begun);
  return begun;
}

test.each([1, 2])('of five requests for the round after %i at one moment one is answered', async (round) => {
  const pair = await twoCosigners();
  const begun = await comeTo(pair, round);
  const request = nextFor(pair.honest, begun);
  const codes = await atOnce(pair, [request, request, request, request, request]);
  expect(codes.toSorted()).toEqual(['answered', ...Array.from({ length: 4 }, () => 'session-over')]);
});

test('an earlier round is not computed again, and a later one not before its turn', async () => {
  const pair = await twoCosigners();
  const begun = await begin(pair, signatureOf(key));
  const second = nextFor(pair.honest, begun);
  await goOn(pair, begun);
  await goOn(pair, begun);
  expect(await atOnce(pair, [second])).toEqual(['session-over']);
  const another = await begin(pair, signatureOf(key));
  const early = { ...nextFor(pair.honest, another), round: 3 };
  // The envelope is of round 1, so this one already fails to open.
  expect(await atOnce(pair, [early])).toEqual(['envelope-refused']);
});

test('the last answer is given again byte for byte, and to another message there is none', async () => {
  const pair = await twoCosigners();
  const begun = await comeTo(pair, 2);
  const request = nextFor(pair.honest, begun);
  const [first, again] = [await pair.honest.sessions.round(request), await pair.honest.sessions.round(request)];
  expect(again).toEqual(first);
  expect(again).toMatchObject({ ok: true, value: { result: {} } });
  const other = await begin(pair, signatureOf(key));
  const moved = { ...request, envelopes: nextFor(pair.honest, other).envelopes };
  // With its result a session gives up the keys of its envelopes: nothing more can be opened in it.
  expect(await atOnce(pair, [moved])).toEqual(['session-over']);
  const empty = { ...request, envelopes: new Map([[MALLORY, new Uint8Array()]]) };
  expect(await atOnce(pair, [empty])).toEqual(['session-over']);
});

test.each([1, 2])('a copy of the memory after round %i answers nothing once the other copy has', async (round) => {
  const pair = await twoCosigners();
  const begun = await comeTo(pair, round);
  // A host that resumes one snapshot of the process twice runs two of them over one storage. The
  // first one answers the next round, and all that this one can see of it is the ledger.
  expect(new CosignerStorage(pair.honest.sql).advance(begun.sid, round + 1)).toBe(true);
  expect(await atOnce(pair, [nextFor(pair.honest, begun)])).toEqual(['session-over']);
  expect(writtenRound(pair.honest, begun)).toBe(round + 1);
});
