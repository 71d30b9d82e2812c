/**
 * Attack: a co-signer probes a choice bit in each session, while the coordinator overloads the
 *   object that keeps the bans of the pair, so that no ban is written there.
 * Attacker: coordinator and co-signer
 * Co-signers: 1
 * Finding: F11
 * Defence: the ban is written to the storage of the key before the answer leaves. It is shared with
 *   the object of the pair again at each later session.
 */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Round } from '#cosigner/session/protocol.ts';
import { aborted, sent } from '#cosigner/session/protocol.ts';
import { begin, HONEST, MALLORY, nextFor, twoCosigners } from '../../cosigner/session/sessions-scene.ts';
import type { Pair } from '../../cosigner/session/sessions-scene.ts';

beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}));
afterEach(() => vi.restoreAllMocks());

/**
 * Runs one session in which mallory's message is a probe. Returns the answer of the honest
 * co-signer.
 */
async function probe(pair: Pair): Promise<string> {
  const caught: Round['run'] = async () => aborted({ culprit: MALLORY, step: 'sign-2/ot-extension', ban: true });
  const begun = await begin(pair, (self) => {
    const peer = self === HONEST ? MALLORY : HONEST;
    const first: Round = { run: async () => sent(new Map([[peer, Uint8Array.of(1)]]), { run: caught }) };
    return {
      purpose: 'test',
      context: new Uint8Array(),
      participants: [HONEST, MALLORY],
      isRateLimited: true,
      opening: null,
      begin: () => first,
    };
  });
  const answer = await pair.honest.sessions.round(nextFor(pair.honest, begun));
  return answer.ok ? 'answered' : answer.refusal.code;
}

test('a cheater learns one bit although the object of the pair never takes the ban', async () => {
  const pair = await twoCosigners();
  pair.waitBeforeBan = () => Promise.reject(new Error('overloaded'));
  expect(await probe(pair)).toBe('aborted');
  for (let i = 0; i < 5; i++) expect(await probe(pair)).toBe('peer-banned');
  expect(pair.honest.pair.isBanned(MALLORY)).toBe(false);
  expect([await pair.honest.peers.isBanned(MALLORY), (await pair.honest.peers.state(MALLORY, null)).banned]).toEqual([
    true,
    true,
  ]);
  // The object of the pair answers again, and gets the ban with the next session of this key.
  pair.waitBeforeBan = async () => {};
  expect(await probe(pair)).toBe('peer-banned');
  await vi.waitFor(() => expect(pair.honest.pair.isBanned(MALLORY)).toBe(true));
});
