import { createPublicKey, verify } from 'node:crypto';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, randomBytes } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import type { EcdsaSignature } from '#mpc/ecdsa/combine.ts';
import { checkSession, zeroShare } from '#mpc/ecdsa/session.ts';
import type { SignSession } from '#mpc/ecdsa/session.ts';
import { signRound1 } from '#mpc/ecdsa/sign-round1.ts';
import { signRound3 } from '#mpc/ecdsa/sign-round3.ts';
import { encodeScalar, modOrder, ORDER } from '#curve/scalar.ts';
import { SECRETS } from '#mpc/secp256k1.ts';
import { SingleUse } from '#mpc/single-use.ts';
import { party } from '../dealt-key.ts';
import { accepted, freshTerms, inboxOf, openRoom, playRound1, playRound2, sign, tweakedKey } from './signing-room.ts';
import { randomScalar, valueOf } from '../secret-values.ts';

const alice = party(1);
const bob = party(2);
const carol = party(3);
const dave = party(4);
const erin = party(5);
const room = openRoom(2, [alice, bob, carol]);

/**
 * Verifies with two libraries that share no code and require low s, and recovers the key to check
 * the parity.
 */
function expectGood(signature: EcdsaSignature, message: Uint8Array, publicKey: Uint8Array): void {
  const compact = concatBytes(signature.r, signature.s);
  expect(secp256k1.verify(compact, sha256(message), publicKey, { prehash: false, lowS: true })).toBe(true);
  const point = secp256k1.Point.fromBytes(publicKey).toBytes(false);
  const [x, y] = [point.slice(1, 33), point.slice(33)].map((bytes) => Buffer.from(bytes).toString('base64url'));
  const key = createPublicKey({ key: { kty: 'EC', crv: 'secp256k1', x: x!, y: y! }, format: 'jwk' });
  expect(verify('sha256', message, { key, dsaEncoding: 'ieee-p1363' }, compact)).toBe(true);
  const recovered = secp256k1.Signature.fromBytes(compact)
    .addRecoveryBit(signature.yParity)
    .recoverPublicKey(sha256(message));
  expect(recovered.toBytes(true)).toEqual(publicKey);
}

test.each([[[alice, bob]], [[alice, carol]], [[bob, carol]]])(
  'parties %j of three sign, and two verifiers agree',
  (signers) => {
    for (let i = 0; i < 4; i++) {
      const message = randomBytes(40);
      expectGood(accepted(sign(room, signers, { digest: sha256(message) })), message, room.key.publicKey);
    }
  },
);

test('three of five sign', () => {
  const five = openRoom(3, [alice, bob, carol, dave, erin]);
  const message = randomBytes(40);
  expectGood(accepted(sign(five, [alice, carol, erin], { digest: sha256(message) })), message, five.key.publicKey);
});

test('five of five sign', () => {
  const five = openRoom(5, [alice, bob, carol, dave, erin]);
  const message = randomBytes(40);
  expectGood(
    accepted(sign(five, [alice, bob, carol, dave, erin], { digest: sha256(message) })),
    message,
    five.key.publicKey,
  );
});

test('a derived key signs under publicKey + tweak G, and not under the group key', () => {
  for (const tweak of [1n, ORDER - 1n, randomScalar()]) {
    const message = randomBytes(40);
    const signature = accepted(sign(room, [alice, carol], { digest: sha256(message), tweak }));
    expectGood(signature, message, tweakedKey(room.key, tweak));
    const compact = concatBytes(signature.r, signature.s);
    expect(secp256k1.verify(compact, sha256(message), room.key.publicKey, { prehash: false })).toBe(false);
  }
});

test('digests at the edges sign: zero, n, and all ones', () => {
  for (const digest of [new Uint8Array(32), encodeScalar(ORDER - 1n), new Uint8Array(32).fill(0xff)]) {
    const { r, s } = accepted(sign(room, [alice, bob], { digest }));
    expect(secp256k1.verify(concatBytes(r, s), digest, room.key.publicKey, { prehash: false, lowS: true })).toBe(true);
  }
});

test('signatures of one digest all differ, have both parities, and never have a high s', () => {
  const digest = randomBytes(32);
  const nonces = new Set<string>();
  const parities = new Set<number>();
  let count = 0;
  for (; count < 8 || (parities.size < 2 && count < 64); count++) {
    const { r, s, yParity } = accepted(sign(room, [bob, carol], { digest }));
    expect(secp256k1.Signature.fromBytes(concatBytes(r, s)).hasHighS()).toBe(false);
    nonces.add(Buffer.from(r).toString('hex'));
    parities.add(yParity);
  }
  expect([nonces.size, parities.size]).toEqual([count, 2]);
});

test('zero shares sum to zero, differ between sessions, and hide the key shares', () => {
  const five = openRoom(3, [alice, bob, carol, dave, erin]);
  const signers = [bob, dave, erin];
  const [first, second] = [freshTerms(), freshTerms()].map((terms) =>
    signers.map((self) => valueOf(zeroShare(checkSession(five.sessionFor(self, signers, terms))))),
  );
  expect(modOrder(first!.reduce((sum, zeta) => sum + zeta))).toBe(0n);
  expect(modOrder(second!.reduce((sum, zeta) => sum + zeta))).toBe(0n);
  first!.forEach((zeta, i) => expect(zeta).not.toBe(second![i]));
});

test('the nonces and masks of a signature are wiped from memory, whether it succeeds or not', () => {
  for (const isComplete of [true, false]) {
    const { states, mail } = playRound2(playRound1(room, [alice, bob], freshTerms()));
    const held = states.get(alice)!.take();
    const inbox = isComplete ? inboxOf(mail, alice) : new Map();
    const { chi, c } = held.withPeer.get(bob)!;
    const secrets = [held.r, held.phi, held.keyShare, chi, ...c];
    expect(secrets.every(({ secretBytes }) => secretBytes.some((byte) => byte !== 0))).toBe(true);
    expect(signRound3(new SingleUse(held), inbox, randomBytes(32)).ok).toBe(isComplete);
    expect(secrets.map(({ secretBytes }) => secretBytes.every((byte) => byte === 0))).toEqual(secrets.map(() => true));
  }
});

test('messages have the lengths that the codec documents', () => {
  const round1 = playRound1(room, [alice, bob], freshTerms());
  expect(round1.mail.get(alice)!.get(bob)!.length).toBe(13_402);
  expect(playRound2(round1).mail.get(alice)!.get(bob)!.length).toBe(53_604);
});

test('an invalid session is a bug of the co-signer itself, and throws', () => {
  const sound = room.sessionFor(alice, [alice, bob], freshTerms());
  const wrong: readonly (readonly [Partial<SignSession>, string])[] = [
    [{ sid: randomBytes(31) }, '32 bytes'],
    [{ signers: [bob, alice] }, 'sorted'],
    [{ signers: [alice, alice] }, 'sorted'],
    [{ signers: [bob, carol] }, 'include self'],
    [{ signers: [alice] }, 'fewer than two'],
    [{ secretShare: SECRETS.of(0n) }, 'secret share'],
    [{ tweak: -1n }, 'tweak'],
    [{ tweak: ORDER }, 'tweak'],
    [{ pairs: new Map() }, 'no set-up'],
    [{ pairs: new Map([[bob, sound.pairs.get(carol)!]]) }, 'no set-up'],
    [{ publicKey: new Uint8Array(33) }, 'not a point'],
    [{ publicShares: new Map() }, 'public share'],
    [{ tweak: modOrder(-room.key.secretKey) }, 'identity'],
  ];
  for (const [change, message] of wrong) expect(() => signRound1({ ...sound, ...change })).toThrow(message);
});
