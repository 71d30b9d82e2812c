import { ed25519 } from '@noble/curves/ed25519.js';
import { randomBytes } from '@noble/hashes/utils.js';
import { describe, expect, test } from 'vitest';
import type { KeyScheme } from '#domain/asset/chain.ts';
import { ED25519 } from '#mpc/ed25519.ts';
import { commit } from '#mpc/keygen/commit.ts';
import { confirm } from '#mpc/keygen/confirm.ts';
import { distribute } from '#mpc/keygen/distribute.ts';
import { verifyKnowledge, proveKnowledge } from '#mpc/keygen/proof-of-knowledge.ts';
import { reveal } from '#mpc/keygen/reveal.ts';
import { commitToPackage } from '#mpc/keygen/session.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { encodePoint, parsePoint, SECP256K1, SECRETS, Point } from '#mpc/secp256k1.ts';
import { decodeKeyShare, encodeKeyShare } from '#mpc/share.ts';
import { party } from '../dealt-key.ts';
import type { Round, Tampering } from './keygen-room.ts';
import { generate, groups, interpolated } from './keygen-room.ts';

const [one, two, three] = [party(1), party(2), party(3)];
const ECDSA = { scheme: 'ecdsa-secp256k1', group: SECP256K1 } as const;

describe.each<[number, number, KeyScheme]>([
  [2, 2, 'ecdsa-secp256k1'],
  [3, 2, 'ecdsa-secp256k1'],
  [3, 3, 'ecdsa-secp256k1'],
  [5, 3, 'ecdsa-secp256k1'],
  [5, 5, 'ecdsa-secp256k1'],
  [2, 2, 'frost-ed25519'],
  [3, 2, 'frost-ed25519'],
  [5, 3, 'frost-ed25519'],
  [3, 2, 'frost-secp256k1-tr'],
])('among %i parties with threshold %i, for %s', (n, threshold, scheme) => {
  const { shares, statements, aborts } = generate(n, threshold, { scheme });
  const all = [...shares.values()];
  const key = all[0]?.publicKey ?? new Uint8Array();

  test('every party has the same public key and the same statement about it', () => {
    expect([aborts.size, shares.size]).toEqual([0, n]);
    for (const share of all) expect([share.publicKey, share.keyId]).toEqual([key, all[0]?.keyId]);
    for (const statement of statements.values()) expect(statement).toEqual(statements.get(one));
  });

  test('every group of threshold size has the secret of the key, and one party fewer does not', () => {
    for (const some of groups(all, threshold)) expect(interpolated(some)).toEqual(key);
    for (const some of groups(all, threshold - 1)) expect(interpolated(some)).not.toEqual(key);
  });

  test('every share matches its public share, which every party has', () => {
    for (const share of all) {
      expect(decodeKeyShare(share.keyId, encodeKeyShare(share))).toEqual(share);
      expect(share.publicShares).toEqual(all[0]?.publicShares);
    }
  });
});

test('two key generations in one session id give different keys, because all randomness is drawn anew', () => {
  const sid = randomBytes(32);
  expect(generate(3, 2, { sid }).shares.get(one)?.keyId).not.toBe(generate(3, 2, { sid }).shares.get(one)?.keyId);
});

const POINT = 33;
/** The sizes of the two commitments, the proof (a point and a scalar), and the salt. */
const OPENING = 2 * POINT + POINT + 32 + 32;

test('the opening has the fields that the next tests change', () => {
  expect(generate(3, 2).published.at(-1)?.length).toBe(OPENING);
});

const flip = (position: number) => (message: Uint8Array) => {
  message[position] = (message[position] ?? 0) ^ 1;
  return message;
};

/** The expected steps depend on the length of a point. */
const tampered = (point: number): readonly (readonly [string, Round, Tampering['change'], string])[] => [
  ['a missing commitment', 'commit', () => null, 'keygen-reveal/commitment'],
  ['a short commitment', 'commit', (message) => message.slice(1), 'keygen-reveal/commitment'],
  ['a changed commitment', 'commit', flip(0), 'keygen-distribute/commitment'],
  ['a missing opening', 'reveal', () => null, 'keygen-distribute/length'],
  ['a long opening', 'reveal', (message) => Uint8Array.of(...message, 0), 'keygen-distribute/length'],
  ['another constant term', 'reveal', flip(5), 'keygen-distribute/commitment'],
  ['another slope', 'reveal', flip(point + 5), 'keygen-distribute/commitment'],
  ['another proof point', 'reveal', flip(2 * point + 5), 'keygen-distribute/commitment'],
  ['another proof scalar', 'reveal', flip(3 * point + 5), 'keygen-distribute/commitment'],
  ['another salt', 'reveal', flip(3 * point + 63), 'keygen-distribute/commitment'],
  ['a missing share', 'distribute', () => null, 'keygen-confirm/share'],
  ['a changed share', 'distribute', flip(31), 'keygen-confirm/share'],
  ['a zero share', 'distribute', () => new Uint8Array(32), 'keygen-confirm/share'],
  ['a share past the order', 'distribute', () => new Uint8Array(32).fill(0xff), 'keygen-confirm/share'],
  ['a random share', 'distribute', () => Uint8Array.of(...randomBytes(31), 0), 'keygen-confirm/share'],
];

test.each([
  ...tampered(33).map((row) => ['ecdsa-secp256k1', ...row] as const),
  ...tampered(32).map((row) => ['frost-ed25519', ...row] as const),
])('%s: the receiver detects %s and names the sender', (scheme, _name, at, change, step) => {
  const { aborts, shares } = generate(3, 2, { scheme, tampering: { at, from: two, to: three, change } });
  expect(aborts.get(three)).toEqual({ culprit: two, step, ban: false });
  expect(shares.has(three)).toBe(false);
});

test('a party cannot pass on the commitment of another party as its own', () => {
  const steal: Tampering['change'] = (_message, mail) => mail.get(one)?.get(three) ?? null;
  const copied = generate(3, 2, { tampering: { at: 'commit', from: two, to: three, change: steal } });
  expect(copied.aborts.get(three)).toMatchObject({ culprit: two, step: 'keygen-distribute/commitment' });
});

test("a party's commitment cannot be opened with the opening of another party", () => {
  const steal: Tampering['change'] = (_message, mail) => mail.get(one)?.get(three) ?? null;
  const copied = generate(3, 2, { tampering: { at: 'reveal', from: two, to: three, change: steal } });
  expect(copied.aborts.get(three)).toMatchObject({ culprit: two, step: 'keygen-distribute/commitment' });
});

test('a dealer that sends two parties different well-formed values causes two different statements', () => {
  const sid = randomBytes(32);
  const parties = [one, two, three];
  const session = (self: PartyIndex) => ({ ...ECDSA, sid, self, parties, threshold: 2 });
  const [first, last] = [commit(session(one)), commit(session(three))];
  // Party 2 plays two honest parties, one towards each of the others.
  const [toFirst, toLast] = [commit(session(two)), commit(session(two))];
  const side = (
    mine: typeof first,
    faced: typeof first,
    other: typeof first,
    [me, them]: readonly [PartyIndex, PartyIndex],
  ) => {
    const opened = reveal(
      mine.state,
      new Map([
        [two, faced.message],
        [them, other.message],
      ]),
    );
    if (!opened.ok) throw new Error(opened.abort.step);
    return { me, them, opened: opened.value };
  };
  const [a, b] = [side(first, toFirst, last, [one, three]), side(last, toLast, first, [three, one])];
  const play = (faced: typeof first, facing: PartyIndex) => {
    const inbox = new Map([
      [one, first.message],
      [three, last.message],
    ]);
    const opened = reveal(faced.state, inbox);
    if (!opened.ok) throw new Error(opened.abort.step);
    const given = distribute(
      opened.value.state,
      new Map([
        [one, a.opened.message],
        [three, b.opened.message],
      ]),
    );
    if (!given.ok) throw new Error(given.abort.step);
    return { opening: opened.value.message, value: given.value.messages.get(facing) ?? new Uint8Array() };
  };
  const [played, replayed] = [play(toFirst, one), play(toLast, three)];
  const give = (on: typeof a, faced: typeof played, other: typeof a) => {
    const given = distribute(
      on.opened.state,
      new Map([
        [two, faced.opening],
        [on.them, other.opened.message],
      ]),
    );
    if (!given.ok) throw new Error(given.abort.step);
    return given.value;
  };
  const [fromFirst, fromLast] = [give(a, played, b), give(b, replayed, a)];
  const confirmed = (
    on: typeof fromFirst,
    faced: typeof played,
    other: typeof fromFirst,
    [me, them]: readonly [PartyIndex, PartyIndex],
  ) =>
    confirm(
      on.state,
      new Map([
        [two, faced.value],
        [them, other.messages.get(me) ?? new Uint8Array()],
      ]),
    );
  const [hers, theirs] = [
    confirmed(fromFirst, played, fromLast, [one, three]),
    confirmed(fromLast, replayed, fromFirst, [three, one]),
  ];
  if (!hers.ok || !theirs.ok) throw new Error('each side is well made');
  // Neither party ever gets the other's signature over its own statement, so neither stores its
  // share.
  expect(hers.value.statement).not.toEqual(theirs.value.statement);
});

test('a rogue constant term that cancels the others is refused, because its proof needs its logarithm', () => {
  // Party 2 would have to prove that it knows the logarithm of X2 - X1. A proof over another point
  // is not accepted.
  const sid = randomBytes(32);
  const parties = [one, two, three];
  const honest = commit({ ...ECDSA, sid, self: one, parties, threshold: 2 });
  const victim = honest.state.take();
  const rogueTerm = Point.multiple(SECRETS.random()).add(parsePoint(victim.encoded.subarray(0, POINT))!.negate());
  const own = commit({ ...ECDSA, sid, self: two, parties, threshold: 2 }).state.take();
  const forged = Uint8Array.from(own.encoded);
  forged.set(encodePoint(rogueTerm), 0);
  const mine = commit({ ...ECDSA, sid, self: three, parties, threshold: 2 });
  const salt = randomBytes(32);
  const { commitment } = rogueOpening({ sid, forged, salt });
  const revealed = reveal(
    mine.state,
    new Map([
      [one, victim.commitment],
      [two, commitment],
    ]),
  );
  if (!revealed.ok) throw new Error('the commitments are well formed');
  const inbox = new Map([
    [one, Uint8Array.of(...victim.encoded, ...victim.salt)],
    [two, Uint8Array.of(...forged, ...salt)],
  ]);
  expect(distribute(revealed.value.state, inbox)).toEqual({
    ok: false,
    abort: { culprit: two, step: 'keygen-distribute/proof', ban: false },
  });
});

/** Returns the commitment that party 2 would send for a forged opening. */
function rogueOpening({ sid, forged, salt }: { sid: Uint8Array; forged: Uint8Array; salt: Uint8Array }) {
  return { commitment: commitToPackage({ sid }, two, { encoded: forged, salt }) };
}

test('a proof from another session or of another party is refused', () => {
  const [sid, otherSid] = [randomBytes(32), randomBytes(32)];
  const { group } = ECDSA;
  const secret = SECRETS.random();
  const point = Point.multiple(secret);
  const proof = proveKnowledge({ group, sid, prover: two }, secret);
  expect(verifyKnowledge({ group, sid, prover: two }, point, proof)).toBe(true);
  expect(verifyKnowledge({ group, sid: otherSid, prover: two }, point, proof)).toBe(false);
  expect(verifyKnowledge({ group, sid, prover: three }, point, proof)).toBe(false);
  expect(verifyKnowledge({ group, sid, prover: two }, Point.multiple(SECRETS.random()), proof)).toBe(false);
  for (let position = 0; position < proof.length; position++) {
    expect([
      position,
      verifyKnowledge({ group, sid, prover: two }, point, flip(position)(Uint8Array.from(proof))),
    ]).toEqual([position, false]);
  }
});

test('the public messages contain no share and no secret', () => {
  const { shares, published } = generate(3, 2);
  const secrets = [...shares.values()].map(({ secret }) => SECRETS.reveal(secret));
  const text = published.map((bytes) => Buffer.from(bytes).toString('hex')).join('|');
  for (const secret of secrets) expect(text).not.toContain(Buffer.from(secret).toString('hex'));
});

test('a state is used once, so no round can be run again with other messages', () => {
  const parties = [one, two];
  const { state } = commit({ ...ECDSA, sid: randomBytes(32), self: one, parties, threshold: 2 });
  reveal(state, new Map([[two, new Uint8Array(32)]]));
  expect(() => reveal(state, new Map([[two, new Uint8Array(32).fill(1)]]))).toThrow();
});

test.each([
  [{ threshold: 1 }, 'threshold'],
  [{ threshold: 4 }, 'threshold'],
  [{ threshold: 2.5 }, 'threshold'],
  [{ sid: new Uint8Array(31) }, 'sid'],
  [{ parties: [party(1), party(3)] }, 'parties'],
  [{ parties: [party(2), party(3)] }, 'parties'],
  [{ self: party(4) }, 'parties'],
])('a co-signer throws rather than start a key generation with %j', (change, word) => {
  const session = { ...ECDSA, sid: new Uint8Array(32), self: one, parties: [one, two, three], threshold: 2 };
  expect(() => commit({ ...session, ...change })).toThrow(word);
});

test('for Ed25519 a constant term with a component of small order is refused, even with a valid proof', () => {
  const torsion = ed25519.Point.fromHex('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a');
  const session = { scheme: 'frost-ed25519', group: ED25519, sid: randomBytes(32), parties: [one, two], threshold: 2 };
  const [mine, theirs] = [one, two].map((self) => commit({ ...session, scheme: 'frost-ed25519', self }));
  const twisted = theirs!.state.take();
  const encoded = Uint8Array.from(twisted.encoded);
  encoded.set(ed25519.Point.fromBytes(encoded.slice(0, 32)).add(torsion).toBytes(), 0);
  const commitment = commitToPackage(session, two, { encoded, salt: twisted.salt });
  const revealed = reveal(mine!.state, new Map([[two, commitment]]));
  if (!revealed.ok) throw new Error('the commitment is well formed');
  const inbox = new Map([[two, Uint8Array.of(...encoded, ...twisted.salt)]]);
  expect(distribute(revealed.value.state, inbox)).toMatchObject({
    ok: false,
    abort: { culprit: two, step: 'keygen-distribute/point' },
  });
});
