import { randomBytes } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import type { Abort, RoundResult } from '#mpc/abort.ts';
import { combinePartials } from '#mpc/ecdsa/combine.ts';
import { encodePartial, PARTIAL_BYTES, ROUND1_BYTES, ROUND2_BYTES } from '#mpc/ecdsa/messages.ts';
import type { SignSession } from '#mpc/ecdsa/session.ts';
import { signRound1 } from '#mpc/ecdsa/sign-round1.ts';
import { signRound2 } from '#mpc/ecdsa/sign-round2.ts';
import { signRound3 } from '#mpc/ecdsa/sign-round3.ts';
import { encodeScalar, modOrder, ORDER } from '#curve/scalar.ts';
import {
  encodePoint,
  GENERATOR,
  invertScalar,
  LAMBDA,
  parsePoint,
  type Point,
  scalarFromDigest,
  SECRETS,
} from '#mpc/secp256k1.ts';
import { party } from '../dealt-key.ts';
import { freshTerms, inboxOf, openRoom, playRound1, playRound2, playRound3, type Terms } from './signing-room.ts';
import { randomScalar } from '../secret-values.ts';

/**
 * Mallory is party 2. Alice must detect each change and name mallory, and must ban her exactly when
 * only a cheater can cause the failure.
 */
const alice = party(1);
const mallory = party(2);
const carol = party(3);
const signers = [alice, mallory];
const room = openRoom(2, [alice, mallory, carol]);
const digest = randomBytes(32);

interface Field {
  readonly name: string;
  readonly length: number;
  /** The step and the ban of every way in which a changed byte may be detected. */
  readonly found: readonly (readonly [string, boolean])[];
}

const ROUND1_FIELDS: readonly Field[] = [
  { name: 'context', length: 32, found: [['sign-2/context', false]] },
  { name: 'commitment', length: 32, found: [['sign-3/echo', false]] },
  { name: 'u', length: 9984, found: [['sign-2/ot-extension', true]] },
  { name: 'x', length: 26, found: [['sign-2/ot-extension', true]] },
  { name: 't', length: 3328, found: [['sign-2/ot-extension', true]] },
];

const malformed = ['sign-3/malformed', false] as const;
const vole = ['sign-3/vole', true] as const;
const ROUND2_FIELDS: readonly Field[] = [
  { name: 'context', length: 32, found: [['sign-3/context', false]] },
  { name: 'echo', length: 32, found: [['sign-3/echo', false]] },
  { name: 'salt', length: 32, found: [['sign-3/commitment', false]] },
  { name: 'R', length: 33, found: [['sign-3/commitment', false], malformed] },
  { name: 'Gamma_u', length: 33, found: [['sign-3/gamma-u', true], malformed] },
  { name: 'Gamma_v', length: 33, found: [['sign-3/gamma-v', true], malformed] },
  { name: 'pk', length: 33, found: [['sign-3/gamma-v', true], malformed] },
  { name: 'psi', length: 32, found: [['combine/signature', false]] },
  { name: 'tau', length: 53_248, found: [vole] },
  { name: 'eta_0', length: 32, found: [vole] },
  { name: 'eta_1', length: 32, found: [vole] },
  { name: 'mu', length: 32, found: [vole] },
];

const PARTIAL_FIELDS: readonly Field[] = [
  {
    name: 'R',
    length: 33,
    found: [
      ['combine/nonce', false],
      ['combine/malformed', false],
    ],
  },
  { name: 'u', length: 32, found: [['combine/signature', false]] },
  { name: 'w', length: 32, found: [['combine/signature', false]] },
];

function offsetOf(fields: readonly Field[], name: string): number {
  let offset = 0;
  for (const field of fields) {
    if (field.name === name) return offset;
    offset += field.length;
  }
  throw new Error(`no field ${name}`);
}

function bytesIn(fields: readonly Field[], field: Field): readonly number[] {
  const start = offsetOf(fields, field.name);
  return [start, start + field.length - 1, start + Math.floor(Math.random() * field.length)];
}

type Change = (bytes: Uint8Array) => Uint8Array;
const flip =
  (at: number): Change =>
  (bytes) =>
    bytes.map((byte, i) => (i === at ? byte ^ 1 : byte));
const put =
  (at: number, value: Uint8Array): Change =>
  (bytes) => {
    const changed = bytes.slice();
    changed.set(value, at);
    return changed;
  };

interface Script {
  readonly round1?: Change;
  readonly round2?: Change;
  readonly partial?: Change;
  readonly terms?: Terms;
}

const unchanged: Change = (bytes) => bytes;

/**
 * Runs a whole signature in which the script changes mallory's messages to alice. Returns the first
 * abort, or null.
 */
function play({
  round1 = unchanged,
  round2 = unchanged,
  partial = unchanged,
  terms = freshTerms(),
}: Script): Abort | null {
  const first = playRound1(room, signers, terms);
  const toAlice1 = round1(first.mail.get(mallory)!.get(alice)!);
  const alice2 = signRound2(first.states.get(alice)!, new Map([[mallory, toAlice1]]));
  if (!alice2.ok) return alice2.abort;
  const mallory2 = signRound2(first.states.get(mallory)!, inboxOf(first.mail, mallory));
  if (!mallory2.ok) return mallory2.abort;
  const toAlice2 = round2(mallory2.value.messages.get(alice)!.slice());
  const alice3 = signRound3(alice2.value.state, new Map([[mallory, toAlice2]]), digest);
  if (!alice3.ok) return alice3.abort;
  const mallory3 = signRound3(mallory2.value.state, new Map([[alice, alice2.value.messages.get(mallory)!]]), digest);
  if (!mallory3.ok) return mallory3.abort;
  const partials = new Map([
    [alice, alice3.value],
    [mallory, partial(mallory3.value.slice())],
  ]);
  const combined = combinePartials({ publicKey: room.key.publicKey, digest, partials });
  return combined.ok ? null : combined.abort;
}

function expectFound(abort: Abort | null, field: Field): void {
  expect(abort).not.toBeNull();
  const { step, ban, culprit, suspects } = abort!;
  expect(field.found).toContainEqual([step, ban]);
  // The coordinator cannot determine which signer caused a wrong sum: both are suspects, and no
  // signer is banned. In a round the culprit is named.
  if (suspects === undefined) expect(culprit).toBe(mallory);
  else expect([step.startsWith('combine/'), suspects]).toEqual([true, [alice, mallory]]);
}

test('the listed fields cover the messages to the last byte', () => {
  const total = (fields: readonly Field[]): number => fields.reduce((sum, field) => sum + field.length, 0);
  expect([ROUND1_FIELDS, ROUND2_FIELDS, PARTIAL_FIELDS].map(total)).toEqual([
    ROUND1_BYTES,
    ROUND2_BYTES,
    PARTIAL_BYTES,
  ]);
});

test('no signer is blamed when no message is changed', () => {
  expect(play({})).toBeNull();
});

test.each(ROUND1_FIELDS)('a changed byte of $name in round 1 is detected', (field) => {
  for (const at of bytesIn(ROUND1_FIELDS, field)) expectFound(play({ round1: flip(at) }), field);
});

test.each(ROUND2_FIELDS)('a changed byte of $name in round 2 is detected', (field) => {
  for (const at of bytesIn(ROUND2_FIELDS, field)) expectFound(play({ round2: flip(at) }), field);
});

test.each(PARTIAL_FIELDS)('a changed byte of $name in round 3 is detected', (field) => {
  for (const at of bytesIn(PARTIAL_FIELDS, field)) expectFound(play({ partial: flip(at) }), field);
});

test('a truncated, extended, empty or missing message is refused without a ban', () => {
  const lengths: readonly Change[] = [
    (bytes) => bytes.slice(0, -1),
    (bytes) => bytes.slice(1),
    (bytes) => Uint8Array.of(...bytes, 0),
    () => new Uint8Array(0),
  ];
  for (const change of lengths) {
    expect(play({ round1: change })).toEqual({ culprit: mallory, step: 'sign-2/malformed', ban: false });
    expect(play({ round2: change })).toEqual({ culprit: mallory, step: 'sign-3/malformed', ban: false });
    expect(play({ partial: change })).toEqual({ culprit: mallory, step: 'combine/malformed', ban: false });
  }
  const { states, mail } = playRound1(room, signers, freshTerms());
  expect(signRound2(states.get(alice)!, new Map())).toEqual({
    ok: false,
    abort: { culprit: mallory, step: 'sign-2/missing', ban: false },
  });
  expect(mail.size).toBe(2);
  const second = playRound2(playRound1(room, signers, freshTerms()));
  expect(signRound3(second.states.get(alice)!, new Map(), digest)).toEqual({
    ok: false,
    abort: { culprit: mallory, step: 'sign-3/missing', ban: false },
  });
});

test.each([
  ['1', 1n],
  ['-1', ORDER - 1n],
  ['lambda', LAMBDA],
  ['-lambda', ORDER - LAMBDA],
])('two wrong Gammas that cancel under a weight of %s are both detected, one after the other', (_name, w) => {
  const changes = (bytes: Uint8Array): Uint8Array => {
    const at = { u: offsetOf(ROUND2_FIELDS, 'Gamma_u'), v: offsetOf(ROUND2_FIELDS, 'Gamma_v') };
    const moved = (start: number, by: Point) => encodePoint(parsePoint(bytes.slice(start, start + 33))!.add(by));
    const off = GENERATOR.multiplyPublic(7n);
    return put(at.v, moved(at.v, off))(put(at.u, moved(at.u, off.multiplyPublic(w).negate()))(bytes));
  };
  expect(play({ round2: changes })).toEqual({ culprit: mallory, step: 'sign-3/gamma-u', ban: true });
});

test('points off the curve, the identity and other encodings are refused in every point field', () => {
  const offCurve = Array.from({ length: 200 }, (_, x) => Uint8Array.of(2, ...encodeScalar(BigInt(x + 1)))).find(
    (bytes) => parsePoint(bytes) === null,
  )!;
  const beyondField = Uint8Array.of(2, ...new Uint8Array(32).fill(0xff));
  const hybrid = Uint8Array.of(6, ...encodePoint(GENERATOR).slice(1));
  for (const point of [offCurve, new Uint8Array(33), beyondField, hybrid]) {
    expect(parsePoint(point)).toBeNull();
    for (const name of ['R', 'Gamma_u', 'Gamma_v', 'pk']) {
      expect(play({ round2: put(offsetOf(ROUND2_FIELDS, name), point) })).toEqual({
        culprit: mallory,
        step: 'sign-3/malformed',
        ban: false,
      });
    }
    expect(play({ partial: put(0, point) })).toEqual({ culprit: mallory, step: 'combine/malformed', ban: false });
  }
});

test('scalars from n up are refused in every scalar field', () => {
  for (const scalar of [ORDER, (1n << 256n) - 1n]) {
    const bigEndian = Uint8Array.from(Buffer.from(scalar.toString(16).padStart(64, '0'), 'hex'));
    const tau = offsetOf(ROUND2_FIELDS, 'tau');
    const changes = [
      ...['psi', 'eta_0', 'eta_1'].map((name) => put(offsetOf(ROUND2_FIELDS, name), bigEndian)),
      ...[0, 7 * 32, 53_248 - 32].map((at) => put(tau + at, bigEndian.toReversed())),
    ];
    for (const round2 of changes)
      expect(play({ round2 })).toEqual({ culprit: mallory, step: 'sign-3/malformed', ban: false });
    for (const at of [33, 65])
      expect(play({ partial: put(at, bigEndian) })).toEqual({
        culprit: mallory,
        step: 'combine/malformed',
        ban: false,
      });
  }
});

test('messages of another session, another direction or another round are refused without a ban', () => {
  const other = playRound1(room, signers, freshTerms());
  const fromOther = other.mail.get(mallory)!.get(alice)!;
  const reflected = other.mail.get(alice)!.get(mallory)!;
  for (const message of [fromOther, reflected]) {
    expect(play({ round1: () => message })).toEqual({ culprit: mallory, step: 'sign-2/context', ban: false });
  }
  const otherRound2 = playRound2(other).mail.get(mallory)!.get(alice)!;
  expect(play({ round2: () => otherRound2 })).toEqual({ culprit: mallory, step: 'sign-3/context', ban: false });
});

test('a message that is reflected to its own sender is refused without a ban', () => {
  const { states, mail } = playRound1(room, signers, freshTerms());
  const own = mail.get(alice)!.get(mallory)!;
  const result = signRound2(states.get(alice)!, new Map([[mallory, own]]));
  expect(result).toEqual({ ok: false, abort: { culprit: mallory, step: 'sign-2/context', ban: false } });
});

test('co-signers that received different terms stop without a ban, so a coordinator cannot make them ban each other', () => {
  const terms = freshTerms();
  const ours = room.sessionFor(mallory, signers, terms);
  const otherPoint = encodePoint(GENERATOR);
  const reported: readonly SignSession[] = [
    { ...ours, sid: randomBytes(32) },
    { ...ours, tweak: 7n },
    { ...ours, publicKey: otherPoint },
    { ...ours, publicShares: new Map([...ours.publicShares, [alice, otherPoint]]) },
    { ...ours, signers: [alice, mallory, carol] },
    { ...ours, pairs: new Map([[alice, { ...ours.pairs.get(alice)!, setupId: randomBytes(32) }]]) },
  ];
  for (const session of reported) {
    const { state } = signRound1(room.sessionFor(alice, signers, terms));
    const result = signRound2(state, new Map([[mallory, signRound1(session).messages.get(alice)!]]));
    expect(result).toEqual({ ok: false, abort: { culprit: mallory, step: 'sign-2/context', ban: false } });
  }
  const { state } = signRound1(room.sessionFor(alice, signers, terms));
  expect(signRound2(state, new Map([[mallory, signRound1(ours).messages.get(alice)!]])).ok).toBe(true);
});

test("a copied commitment cannot be opened with the victim's own opening, because the opener is in the hash", () => {
  const { states, mail } = playRound1(room, signers, freshTerms());
  const [fromAlice, fromMallory] = [mail.get(alice)!.get(mallory)!, mail.get(mallory)!.get(alice)!];
  const copied = put(32, fromAlice.slice(32, 64))(fromMallory);
  const alice2 = signRound2(states.get(alice)!, new Map([[mallory, copied]]));
  const mallory2 = signRound2(states.get(mallory)!, new Map([[alice, fromAlice]]));
  if (!alice2.ok || !mallory2.ok) throw new Error('round 2 cannot see it yet');
  // The echo, salt and R that alice sent.
  const opening = alice2.value.messages.get(mallory)!.slice(32, 129);
  const message = put(32, opening)(mallory2.value.messages.get(alice)!);
  const result = signRound3(alice2.value.state, new Map([[mallory, message]]), digest);
  expect(result).toEqual({ ok: false, abort: { culprit: mallory, step: 'sign-3/commitment', ban: false } });
});

test('parties that sign different digests produce no signature, and each has used its one state', () => {
  const second = playRound2(playRound1(room, signers, freshTerms()));
  const theirs = randomBytes(32);
  const sign = (self: typeof alice, bytes: Uint8Array): RoundResult<Uint8Array> =>
    signRound3(second.states.get(self)!, inboxOf(second.mail, self), bytes);
  const [mine, hers] = [sign(alice, digest), sign(mallory, theirs)];
  if (!mine.ok || !hers.ok) throw new Error('round 3 does not see the other digest');
  const partials = new Map([
    [alice, mine.value],
    [mallory, hers.value],
  ]);
  for (const claimed of [digest, theirs]) {
    const combined = combinePartials({ publicKey: room.key.publicKey, digest: claimed, partials });
    expect(combined).toEqual({
      ok: false,
      abort: { culprit: alice, step: 'combine/signature', ban: false, suspects: signers },
    });
  }
  expect(() => sign(alice, theirs)).toThrow('already used');
  expect(() => sign(mallory, digest)).toThrow('already used');
});

test('a valid signature for another key or digest is not returned', () => {
  const partials = playRound3(playRound2(playRound1(room, signers, freshTerms())), digest);
  const otherKey = encodePoint(GENERATOR);
  expect(combinePartials({ publicKey: otherKey, digest, partials }).ok).toBe(false);
  expect(combinePartials({ publicKey: room.key.publicKey, digest: randomBytes(32), partials }).ok).toBe(false);
  expect(combinePartials({ publicKey: room.key.publicKey, digest, partials }).ok).toBe(true);
});

test('a signer who uses a share that is not hers is detected by the sum of the key shares', () => {
  const terms = freshTerms();
  const first = playRound1(room, signers, terms);
  const forged = { ...room.sessionFor(mallory, signers, terms), secretShare: SECRETS.of(12345n) };
  const malloryStates = playRound1(
    { ...room, sessionFor: (self, all, t) => (self === mallory ? forged : room.sessionFor(self, all, t)) },
    signers,
    terms,
  );
  const alice2 = signRound2(
    first.states.get(alice)!,
    new Map([[mallory, malloryStates.mail.get(mallory)!.get(alice)!]]),
  );
  const mallory2 = signRound2(
    malloryStates.states.get(mallory)!,
    new Map([[alice, first.mail.get(alice)!.get(mallory)!]]),
  );
  if (!alice2.ok || !mallory2.ok) throw new Error('round 2 cannot see it yet');
  const result = signRound3(alice2.value.state, new Map([[mallory, mallory2.value.messages.get(alice)!]]), digest);
  expect(result).toEqual({ ok: false, abort: { culprit: mallory, step: 'sign-3/key-shares', ban: false } });
  // Mallory sees the same wrong sum, but her own record is wrong, so her code must not blame alice.
  const toMallory = new Map([[alice, alice2.value.messages.get(mallory)!]]);
  expect(() => signRound3(mallory2.value.state, toMallory, digest)).toThrow('our own share');
});

test('signers who know their nonce cannot make the coordinator throw with a key that is not a point', () => {
  // With s = e / k, s R - e G is the identity, so the recovered key would be the identity.
  const k = randomScalar();
  const w = modOrder(scalarFromDigest(digest) * invertScalar(k));
  const R = encodePoint(GENERATOR.multiplyPublic(k));
  const partials = new Map([
    [alice, encodePartial(R, SECRETS.of(1n), SECRETS.of(w))],
    [mallory, encodePartial(R, SECRETS.of(0n), SECRETS.of(0n))],
  ]);
  expect(combinePartials({ publicKey: room.key.publicKey, digest, partials })).toMatchObject({
    ok: false,
    abort: { step: 'combine/signature', suspects: signers },
  });
});
