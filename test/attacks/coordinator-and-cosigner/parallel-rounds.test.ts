/**
 * Attack: a co-signer probes the choice bits of its peer in many simultaneous sessions, before the
 *   first ban is stored.
 * Attacker: coordinator-and-cosigner
 * Co-signers: 1
 * Finding: 3
 * Defence: each round needs one of 16 permits of the pair, for all keys together, and a banned peer
 *   gets no permit.
 */
import { expect, test } from 'vitest';
import { ecdsaKey, type Lie, signatureOf } from '../../cosigner/signing/ecdsa-scene.ts';
import type { Begun, Pair } from '../../cosigner/session/sessions-scene.ts';
import { begin, nextFor, twoCosigners } from '../../cosigner/session/sessions-scene.ts';

/**
 * Each answer reveals one of 128 choice bits, which all sessions of the pair have in common. The
 * permits limit this to 16 bits.
 */

const SESSIONS = 40;
const MAX_ANSWERS = 16;

/**
 * The position of the first word of the OT extension, after a context of 32 bytes and a commitment
 * of 32 bytes.
 */
const OT_EXTENSION = 64;

/** Mallory's choice differs in every column of these instances, so each session fails the check. */
const probe: Lie = (message, round) => {
  if (round === 1) for (let at = OT_EXTENSION; at < OT_EXTENSION + 16; at++) message[at] = (message[at] ?? 0) ^ 0xff;
};

/** Returns simultaneous sessions that mallory has begun under two keys of the vault. */
async function probes(pair: Pair): Promise<readonly Begun[]> {
  const keys = [ecdsaKey('first'), ecdsaKey('second')];
  const all: Begun[] = [];
  for (let i = 0; i < SESSIONS; i++) all.push(await begin(pair, signatureOf(keys[i % 2]!, { lie: probe })));
  return all;
}

test('at most sixteen simultaneous probes are answered, and all others are refused', async () => {
  const pair = await twoCosigners();
  const all = await probes(pair);
  const requested = () => pair.honest.log.filter((entry) => entry.endsWith('permit')).length;
  const gate = Promise.withResolvers<void>();
  // No round is computed before the last one has requested its permit.
  pair.waitAfterPermit = () => {
    if (requested() === SESSIONS) gate.resolve();
    return gate.promise;
  };
  const answers = await Promise.all(all.map((begun) => pair.honest.sessions.round(nextFor(pair.honest, begun))));
  const codes = answers.map((answer) => (answer.ok ? 'answered' : `${answer.refusal.code} ${answer.refusal.detail}`));
  const probed = codes.filter((code) => code !== 'peer-banned null');
  expect(probed).toEqual(Array.from({ length: MAX_ANSWERS }, () => 'aborted sign-2/ot-extension'));
  expect(requested()).toBe(SESSIONS);
});

test('after a probe is caught, its permit admits no further probe', async () => {
  const pair = await twoCosigners();
  const [first, ...others] = await probes(pair);
  const caught = await pair.honest.sessions.round(nextFor(pair.honest, first!));
  expect(caught).toMatchObject({ ok: false, refusal: { code: 'aborted', detail: 'sign-2/ot-extension' } });
  const answers = await Promise.all(others.map((one) => pair.honest.sessions.round(nextFor(pair.honest, one))));
  expect(new Set(answers.map((answer) => (answer.ok ? 'answered' : answer.refusal.code)))).toEqual(
    new Set(['peer-banned']),
  );
});

test('an honest peer is not slowed down: forty consecutive signatures are all begun and answered', async () => {
  const pair = await twoCosigners();
  const key = ecdsaKey();
  for (let i = 0; i < SESSIONS; i++) {
    const begun = await begin(pair, signatureOf(key));
    expect((await pair.honest.sessions.round(nextFor(pair.honest, begun))).ok).toBe(true);
  }
});
