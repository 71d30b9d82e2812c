import { concatBytes, randomBytes } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { checkSession, messageContext, voleSid } from '#mpc/ecdsa/session.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { plainOracle } from '../plain-oracle.ts';
import { party } from '../dealt-key.ts';
import { openRoom } from './signing-room.ts';

/**
 * Tests the inputs of the identifiers in a signing session. Protocol 3.6 gives each vector OLE a
 * sid of its own.
 */

const [alice, bob] = [party(1), party(3)];
const room = openRoom(2, [alice, bob]);
const sid = randomBytes(32);

function sessionOf(self: PartyIndex) {
  const signers = [alice, bob];
  const { publicKey, publicShares } = room.key;
  const session = checkSession(room.sessionFor(self, signers, { sid, tweak: 7n }));
  const tweak = concatBytes(new Uint8Array(31), Uint8Array.of(7));
  const shares = signers.map((signer) => publicShares.get(signer)!);
  const digest = plainOracle('ecdsa/session', sid, publicKey, tweak, Uint8Array.from(signers), ...shares);
  const setupId = [...session.pairs.values()][0]!.setupId;
  return { session, digest, setupId };
}

test('the sid of a vector OLE names the session, the pair set-up and its direction, Bob first', () => {
  for (const self of [alice, bob]) {
    const { session, digest, setupId } = sessionOf(self);
    for (const [from, to] of [
      [alice, bob],
      [bob, alice],
    ] as const) {
      const known = plainOracle('ecdsa/vole', digest, setupId, Uint8Array.of(from, to));
      expect([self, from, voleSid(session, [from, to])]).toEqual([self, from, known]);
    }
  }
});

test('the two vector OLEs of a pair have different sids, and both parties compute the same sid for each', () => {
  const [ofAlice, ofBob] = [sessionOf(alice).session, sessionOf(bob).session];
  expect(voleSid(ofAlice, [alice, bob])).not.toEqual(voleSid(ofAlice, [bob, alice]));
  expect(voleSid(ofAlice, [alice, bob])).toEqual(voleSid(ofBob, [alice, bob]));
});

test('the context of a message names the session, the pair set-up, its round and its direction', () => {
  const { session, digest, setupId } = sessionOf(alice);
  for (const round of [1, 2]) {
    const known = plainOracle('ecdsa/message', digest, setupId, Uint8Array.of(round, bob, alice));
    expect(messageContext(session, round, [bob, alice])).toEqual(known);
  }
});
