import { sha256 } from '@noble/hashes/sha2.js';
import { randomBytes } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import type { RoundResult } from '#mpc/abort.ts';
import { combinePartials } from '#mpc/ecdsa/combine.ts';
import {
  decodePairSetup,
  encodePairSetup,
  PAIR_ROUND1_BYTES,
  pairRound1,
  type PairRound1State,
  pairRound2,
  pairRound3,
  pairRound4,
  type PairSetup,
} from '#mpc/ecdsa/pair-setup.ts';
import { signRound1 } from '#mpc/ecdsa/sign-round1.ts';
import { signRound2 } from '#mpc/ecdsa/sign-round2.ts';
import { signRound3 } from '#mpc/ecdsa/sign-round3.ts';
import { encodePoint, GENERATOR } from '#mpc/secp256k1.ts';
import { dealKey, dealPair, party } from '../dealt-key.ts';
import { accepted } from './signing-room.ts';

const [alice, bob] = [party(1), party(3)];

/** Base OTs take seconds in Node, so all tests of this file share one honest run. */
const sid = randomBytes(32);
const a1 = accepted(pairRound1({ sid, self: alice, peer: bob }));
const b1 = accepted(pairRound1({ sid, self: bob, peer: alice }));
const a2 = accepted(pairRound2({ state: a1.state, message: b1.message.slice() }));
const b2 = accepted(pairRound2({ state: b1.state, message: a1.message.slice() }));
const a3 = accepted(pairRound3({ state: a2.state, message: b2.message.slice() }));
const b3 = accepted(pairRound3({ state: b2.state, message: a2.message.slice() }));
const forAlice = accepted(pairRound4({ state: a3.state, message: b3.message.slice() })).setup;
const forBob = accepted(pairRound4({ state: b3.state, message: a3.message.slice() })).setup;

function expectCorrelated(sender: PairSetup, receiver: PairSetup): void {
  const { delta, chosen } = receiver.asAlice;
  for (let i = 0; i < 128; i++) {
    const bit = (delta[i >> 5]! >>> (i & 31)) & 1;
    const [mine, other] = bit === 1 ? [sender.asBob.ones, sender.asBob.zeros] : [sender.asBob.zeros, sender.asBob.ones];
    expect(chosen.subarray(8 * i, 8 * i + 8)).toEqual(mine.subarray(8 * i, 8 * i + 8));
    expect(chosen.subarray(8 * i, 8 * i + 8)).not.toEqual(other.subarray(8 * i, 8 * i + 8));
  }
}

test('in both directions the receiver has the seed of its choice bit and not the other seed', () => {
  expectCorrelated(forAlice, forBob);
  expectCorrelated(forBob, forAlice);
  expect(forAlice.asAlice.delta).not.toEqual(forBob.asAlice.delta);
});

test('both sides agree on the set-up id and the zero seed, and each knows the role of the other', () => {
  expect(forAlice.setupId).toEqual(forBob.setupId);
  expect(forAlice.zeroSeed).toEqual(forBob.zeroSeed);
  expect([forAlice.self, forAlice.peer, forBob.self, forBob.peer]).toEqual([alice, bob, bob, alice]);
});

test('the choice bits are balanced, and so are the slots that hold the masked point', () => {
  const ones = forAlice.asAlice.delta.reduce(
    (sum, word) => sum + (word >>> 0).toString(2).replaceAll('0', '').length,
    0,
  );
  expect(ones).toBeGreaterThan(30);
  expect(ones).toBeLessThan(98);
});

test('a set-up is decoded unchanged from its storage encoding', () => {
  for (const setup of [forAlice, forBob]) expect(decodePairSetup(encodePairSetup(setup))).toEqual(setup);
});

test('a stored set-up of another length, version or party is not decoded', () => {
  const bytes = encodePairSetup(forAlice);
  const withByte = (at: number, value: number): Uint8Array => bytes.map((byte, i) => (i === at ? value : byte));
  for (const wrong of [
    bytes.slice(1),
    new Uint8Array(bytes.length + 1),
    withByte(0, 2),
    withByte(1, 0),
    withByte(2, 6),
    withByte(2, alice),
  ]) {
    expect(() => decodePairSetup(wrong)).toThrow();
  }
});

test('a pair signs with a set-up that was read back from storage', () => {
  const key = dealKey(2, [alice, bob]);
  const session = (setup: PairSetup) => ({
    sid: sha256(sid),
    self: setup.self,
    signers: [alice, bob],
    secretShare: key.shares.get(setup.self)!,
    publicKey: key.publicKey,
    publicShares: key.publicShares,
    tweak: 0n,
    pairs: new Map([[setup.peer, decodePairSetup(encodePairSetup(setup))]]),
  });
  const [x1, y1] = [signRound1(session(forAlice)), signRound1(session(forBob))];
  const x2 = accepted(signRound2(x1.state, new Map([[bob, y1.messages.get(alice)!]])));
  const y2 = accepted(signRound2(y1.state, new Map([[alice, x1.messages.get(bob)!]])));
  const digest = randomBytes(32);
  const partials = new Map([
    [alice, accepted(signRound3(x2.state, new Map([[bob, y2.messages.get(alice)!]]), digest))],
    [bob, accepted(signRound3(y2.state, new Map([[alice, x2.messages.get(bob)!]]), digest))],
  ]);
  expect(combinePartials({ publicKey: key.publicKey, digest, partials }).ok).toBe(true);
});

test('each round state of the set-up can be used once', () => {
  expect(() => pairRound2({ state: a1.state, message: b1.message })).toThrow('already used');
  expect(() => pairRound3({ state: a2.state, message: b2.message })).toThrow('already used');
  expect(() => pairRound4({ state: a3.state, message: b3.message })).toThrow('already used');
});

/**
 * Returns a round 1 state of alice without computing another 128 OTs, because refusals do not
 * depend on the inputs of the honest run.
 */
function aliceAfterRound1(): PairRound1State {
  return accepted(pairRound1({ sid, self: alice, peer: bob })).state;
}

function expectAbort(result: RoundResult<unknown>, step: string): void {
  expect(result).toEqual({ ok: false, abort: { culprit: bob, step, ban: false } });
}

test('round 1 of another session, direction or length is refused before any OT is computed', () => {
  const bump = (at: number): Uint8Array => b1.message.map((byte, i) => (i === at ? byte ^ 1 : byte));
  const own = a1.message;
  const cases: readonly (readonly [Uint8Array, string])[] = [
    [b1.message.slice(1), 'pair-2/length'],
    [new Uint8Array(PAIR_ROUND1_BYTES + 1), 'pair-2/length'],
    [new Uint8Array(0), 'pair-2/length'],
    [bump(0), 'pair-2/context'],
    [bump(31), 'pair-2/context'],
    [own, 'pair-2/context'],
    [b1.message.map((byte, i) => (i >= 64 && i < 97 ? 0 : byte)), 'pair-2/point'],
  ];
  for (const [message, step] of cases) expectAbort(pairRound2({ state: aliceAfterRound1(), message }), step);
});

test('a point off the curve among the OT choices is refused', () => {
  const message = b1.message.slice();
  message.set(new Uint8Array(33).fill(0xff), 64 + 33);
  expectAbort(pairRound2({ state: aliceAfterRound1(), message }), 'pair-2/point');
});

test('a relay that changes a commitment or an OT point is detected before a seed is opened to it', () => {
  const changed = b1.message.slice();
  changed[40]! ^= 1;
  const { state } = accepted(pairRound2({ state: aliceAfterRound1(), message: changed }));
  expectAbort(pairRound3({ state, message: b2.message }), 'pair-3/context');
});

test('an opening that was not committed to, and a wrong confirmation, are refused', () => {
  const other = randomBytes(32);
  const alice1 = accepted(pairRound1({ sid: other, self: alice, peer: bob }));
  const bob1 = accepted(pairRound1({ sid: other, self: bob, peer: alice }));
  const alice2 = accepted(pairRound2({ state: alice1.state, message: bob1.message }));
  const bob2 = accepted(pairRound2({ state: bob1.state, message: alice1.message }));

  const bob3 = accepted(pairRound3({ state: bob2.state, message: alice2.message }));
  const forged = bob2.message.map((byte, i) => (i === 40 ? byte ^ 1 : byte));
  expectAbort(pairRound3({ state: alice2.state, message: forged }), 'pair-3/commitment');

  // Alice's confirmation has the same form as bob's with the roles swapped, so bob's reflected
  // confirmation must be refused.
  const reflected = pairRound4({ state: bob3.state, message: bob3.message });
  expect(reflected).toEqual({ ok: false, abort: { culprit: alice, step: 'pair-4/confirmation', ban: false } });
});

test('the dealt set-ups that other tests use have the same shape as real ones', () => {
  const [dealt] = dealPair(alice, bob);
  expect(encodePairSetup(dealt).length).toBe(encodePairSetup(forAlice).length);
  expect(encodePoint(GENERATOR).length).toBe(33);
});
