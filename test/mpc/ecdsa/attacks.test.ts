import { randomBytes } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { wordsOf } from '#mpc/ecdsa/scalar-words.ts';
import { bitAt } from '#mpc/ecdsa/bit-matrix.ts';
import { wireBytes } from '#mpc/ecdsa/byte-reader.ts';
import { combine, type Challenges } from '#mpc/ecdsa/gf208.ts';
import { gadget } from '#mpc/ecdsa/gadget.ts';
import { decodeRound1, decodeRound2, encodeRound1, encodeRound2 } from '#mpc/ecdsa/messages.ts';
import {
  extendAsReceiver,
  extendAsSender,
  type ExtensionMessage,
  otherChoice,
  padsOf,
  type ReceiverSeeds,
  type SenderSeeds,
} from '#mpc/ecdsa/ot-extension.ts';
import { OT_INSTANCES } from '#mpc/ecdsa/parameters.ts';
import { checkSession, voleSid } from '#mpc/ecdsa/session.ts';
import { signRound2 } from '#mpc/ecdsa/sign-round2.ts';
import { signRound3 } from '#mpc/ecdsa/sign-round3.ts';
import { answerAsAlice, type Reply } from '#mpc/ecdsa/vole.ts';
import { modOrder } from '#curve/scalar.ts';
import { encodePoint, invertScalar, scalarFromDigest, SECRETS } from '#mpc/secp256k1.ts';
import { taggedHash } from '#mpc/transcript.ts';
import { dealPair, party } from '../dealt-key.ts';
import { freshTerms, inboxOf, openRoom, playRound1, playRound2, post } from './signing-room.ts';
import { randomScalar, scalarAt, valueOf } from '../secret-values.ts';

const alice = party(1);
const mallory = party(2);
const carol = party(3);
const dave = party(4);
const signers = [alice, mallory];
const room = openRoom(2, signers);

// ---- Attack 1: with two digests signed on one state, the difference of the partials reveals the
// key. ----

test('a second round 3 on one state is refused, with the same digest or another', () => {
  const { states, mail } = playRound2(playRound1(room, signers, freshTerms()));
  const [state, inbox, digest] = [states.get(alice)!, inboxOf(mail, alice), randomBytes(32)];
  expect(signRound3(state, inbox, digest).ok).toBe(true);
  expect(() => signRound3(state, inbox, randomBytes(32))).toThrow('already used');
  expect(() => signRound3(state, inbox, digest)).toThrow('already used');
});

test('of two concurrent calls on one state exactly one gets a partial', async () => {
  const { states, mail } = playRound2(playRound1(room, signers, freshTerms()));
  const attempt = async (): Promise<boolean> =>
    signRound3(states.get(alice)!, inboxOf(mail, alice), randomBytes(32)).ok;
  const outcomes = await Promise.allSettled([attempt(), attempt(), attempt()]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
});

test('a copy of a state by structuredClone, spread, JSON or Object.assign cannot sign', () => {
  const { states, mail } = playRound2(playRound1(room, signers, freshTerms()));
  const state = states.get(alice)!;
  expect(JSON.stringify({ state })).toBe('{"state":"[secret]"}');
  const copies = [
    structuredClone(state),
    { ...state },
    Object.assign(Object.create(Object.getPrototypeOf(state)), state),
  ];
  for (const copy of copies) expect(() => signRound3(copy, inboxOf(mail, alice), randomBytes(32))).toThrow();
  expect(signRound3(state, inboxOf(mail, alice), randomBytes(32)).ok).toBe(true);
});

test('a refused round uses up its state, so the peer gets no second try with a better message', () => {
  const { states, mail } = playRound2(playRound1(room, signers, freshTerms()));
  expect(signRound3(states.get(alice)!, new Map(), randomBytes(32)).ok).toBe(false);
  expect(() => signRound3(states.get(alice)!, inboxOf(mail, alice), randomBytes(32))).toThrow('already used');
  const first = playRound1(room, signers, freshTerms());
  expect(signRound2(first.states.get(alice)!, new Map()).ok).toBe(false);
  expect(() => signRound2(first.states.get(alice)!, inboxOf(first.mail, alice))).toThrow('already used');
});

// ---- Attack 2: selective failure in the OT extension. One column of u is wrong: the check passes
// exactly when Delta has a 0 there. ----

function challenges(sid: Uint8Array, u: Int32Array): Challenges {
  const bound = taggedHash('ecdsa/ot-extension/u', sid, wireBytes(u));
  return {
    first: taggedHash('ecdsa/ot-extension/chi-1', bound).subarray(0, 26),
    second: taggedHash('ecdsa/ot-extension/chi-2', bound).subarray(0, 26),
  };
}

/**
 * Returns the message of a cheating receiver who wants to learn bit `column` of Delta: her choice
 * differs in that column of instance 0 alone.
 */
function probe(sid: Uint8Array, seeds: ReceiverSeeds, column: number): ExtensionMessage {
  const { message, choices, vectors } = extendAsReceiver(sid, seeds);
  const u = message.u.slice();
  u[column >> 5]! ^= 1 << (column & 31);
  const bits = Int32Array.from({ length: 624 }, (_, j) => bitAt(choices, j));
  const sum = combine(bits, 1, challenges(sid, u));
  const x = new Uint8Array(26);
  for (let i = 0; i < 208; i++) x[i >> 3]! |= sum[i]! << (i & 7);
  return { u, x, t: combine(vectors, 4, challenges(sid, u)) };
}

function bitOf(words: Int32Array, i: number): number {
  return (words[i >> 5]! >>> (i & 31)) & 1;
}

test('WITHOUT a ban, 128 probes read all of Delta, and one good session then reads the nonce share and the key share', () => {
  const [bob, victim] = dealPair(mallory, alice);
  const { delta } = victim.asAlice;
  const learnt = new Int32Array(4);
  let failures = 0;
  for (let i = 0; i < 128; i++) {
    const sid = randomBytes(32);
    const failed = extendAsSender(sid, victim.asAlice, probe(sid, bob.asBob, i)) === null;
    if (failed) learnt[i >> 5]! |= 1 << (i & 31);
    failures += failed ? 1 : 0;
  }
  expect(learnt).toEqual(delta);
  expect(failures).toBeGreaterThan(0);

  const sid = randomBytes(32);
  const inputs = [SECRETS.random(), SECRETS.random()] as const;
  const { message, choices, vectors } = extendAsReceiver(sid, bob.asBob);
  const extension = extendAsSender(sid, victim.asAlice, message)!;
  const { reply } = answerAsAlice(sid, victim.asAlice, { inputs, extension });
  const q = vectors.map((word, at) => word ^ (learnt[at & 3]! & -bitAt(choices, at >> 2)));
  const [zeros, ones] = [q, q.map((word, at) => word ^ learnt[at & 3]!)].map((rows) => padsOf(sid, rows));
  const stolen = [0, 1].map((i) =>
    modOrder(scalarAt(reply.tau, 8 * i) - scalarAt(zeros!, 8 * i) + scalarAt(ones!, 8 * i)),
  );
  expect(stolen).toEqual(inputs.map(valueOf));
});

test('WITH the ban the first probe of a 1 bit is the last, because the signer names mallory and requires a ban', () => {
  const { delta } = room.sessionFor(alice, signers, freshTerms()).pairs.get(mallory)!.asAlice;
  let probes = 0;
  for (let column = 0; column < 128; column++) {
    const terms = freshTerms();
    const { states, mail } = playRound1(room, signers, terms);
    const session = checkSession(room.sessionFor(mallory, signers, terms));
    const forged = probe(voleSid(session, [mallory, alice]), session.pairs.get(alice)!.asBob, column);
    const honest = decodeRound1(mail.get(mallory)!.get(alice)!)!;
    const result = signRound2(states.get(alice)!, new Map([[mallory, encodeRound1({ ...honest, extension: forged })]]));
    probes += 1;
    expect(result.ok).toBe(bitOf(delta, column) === 0);
    if (result.ok) continue;
    expect(result.abort).toEqual({ culprit: mallory, step: 'sign-2/ot-extension', ban: true });
    break;
  }
  const firstOne = Array.from({ length: 128 }, (_, i) => bitOf(delta, i)).indexOf(1);
  expect(probes).toBe(firstOne + 1);
});

// ---- Attack 3: products of zero. Arithmetic on them must not throw, or the cheater would stay
// unnamed and the victim would appear unreachable. ----

/**
 * Returns an answer of Alice in the vector OLE that makes d^u zero when Bob's first choice bit is
 * 1, and both products zero when `both` is true: an input of 0, one entry of a~ shifted by the sum
 * of her pads, and mu for this guess.
 */
function nothingIfGuessed(
  sid: Uint8Array,
  seeds: SenderSeeds,
  { message, both }: { readonly message: ExtensionMessage; readonly both: boolean },
): Reply {
  const { vectors, transcript } = extendAsSender(sid, seeds, message)!;
  const [zeros, ones] = [vectors, otherChoice(vectors, seeds.delta)].map((rows) => padsOf(sid, rows));
  const pad = (words: typeof zeros, j: number, i: number) => scalarAt(words!, 8 * (4 * j + i));
  const values = [0n, both ? 0n : randomScalar(), randomScalar(), randomScalar()];
  const all = Array.from({ length: OT_INSTANCES }, (_, j) => j);
  const off = [0, 1].map((i) => {
    const sum = all.reduce((total, j) => total + gadget()[j]! * pad(zeros, j, i), 0n);
    return i === 0 || both ? modOrder(-sum * invertScalar(gadget()[0]!)) : 0n;
  });
  const tau = new Uint32Array(OT_INSTANCES * 4 * 8);
  const put = (words: Uint32Array, at: number, value: bigint) => words.set(wordsOf(modOrder(value)), 8 * at);
  for (const j of all)
    for (let i = 0; i < 4; i++) {
      const shift = j === 0 && i < 2 ? off[i]! : 0n;
      put(tau, 4 * j + i, pad(zeros, j, i) - pad(ones, j, i) + values[i]! + shift);
    }
  const bound = taggedHash('ecdsa/vole/tau', sid, transcript, new Uint8Array(tau.buffer));
  const theta = (i: number, k: number) => scalarFromDigest(taggedHash('ecdsa/vole/theta', bound, Uint8Array.of(i, k)));
  const eta = [0, 1].map((k) => modOrder(values[2 + k]! + theta(0, k) * values[0]! + theta(1, k) * values[1]!));
  const checks = new Uint32Array(OT_INSTANCES * 2 * 8);
  for (const j of all)
    for (let k = 0; k < 2; k++) {
      const shares = [0, 1].map((i) => pad(zeros, j, i) + (j === 0 ? off[i]! : 0n));
      put(checks, 2 * j + k, pad(zeros, j, 2 + k) + theta(0, k) * shares[0]! + theta(1, k) * shares[1]!);
    }
  return { tau, eta: eta.map(SECRETS.of), mu: taggedHash('ecdsa/vole/mu', sid, new Uint8Array(checks.buffer)) };
}

test.each([false, true])(
  'an answer that makes the products zero (both: %s) ends in a ban, whether the guess was right or not',
  (both) => {
    const steps = new Set<string>();
    for (let tries = 0; tries < 60 && steps.size < 2; tries++) {
      const terms = freshTerms();
      const { states, mail } = playRound1(room, signers, terms);
      const [alice2, mallory2] = [alice, mallory].map((self) => signRound2(states.get(self)!, inboxOf(mail, self)));
      if (!alice2?.ok || !mallory2?.ok) throw new Error('round 2 is honest');
      const session = checkSession(room.sessionFor(mallory, signers, terms));
      const { extension } = decodeRound1(mail.get(alice)!.get(mallory)!)!;
      const seeds = session.pairs.get(alice)!.asAlice;
      const reply = nothingIfGuessed(voleSid(session, [alice, mallory]), seeds, { message: extension, both });
      const honest = decodeRound2(mallory2.value.messages.get(alice)!)!;
      const points = [honest.R, honest.gammaU, honest.gammaV, honest.publicShare].map(encodePoint);
      const forged = encodeRound2({ ...honest, points, reply });
      const result = signRound3(alice2.value.state, new Map([[mallory, forged]]), randomBytes(32));
      if (result.ok) throw new Error('a forged answer was taken');
      expect(result.abort).toMatchObject({ culprit: mallory, ban: true });
      steps.add(result.abort.step);
    }
    expect(steps).toEqual(new Set(['sign-3/vole', 'sign-3/gamma-u']));
  },
);

// ---- More than two signers: a cheater may send different peers different values. ----

test('a signer who commits to different nonces towards different peers is detected before a nonce is used', () => {
  const five = openRoom(3, [alice, mallory, carol, dave]);
  const three = [alice, mallory, carol];
  const terms = freshTerms();
  const { states, mail } = playRound1(five, three, terms);
  const again = playRound1(five, three, terms);
  post(
    mail,
    mallory,
    new Map([
      [alice, mail.get(mallory)!.get(alice)!],
      [carol, again.mail.get(mallory)!.get(carol)!],
    ]),
  );
  const second = new Map([alice, carol].map((self) => [self, signRound2(states.get(self)!, inboxOf(mail, self))]));
  const [forAlice, forCarol] = [second.get(alice)!, second.get(carol)!];
  const mallory2 = signRound2(states.get(mallory)!, inboxOf(mail, mallory));
  if (!forAlice.ok || !forCarol.ok || !mallory2.ok) throw new Error('round 2 cannot see it yet');
  const inbox = new Map([
    [mallory, mallory2.value.messages.get(alice)!],
    [carol, forCarol.value.messages.get(alice)!],
  ]);
  const result = signRound3(forAlice.value.state, inbox, randomBytes(32));
  // Carol's echo differs from alice's: mallory equivocated or carol misreports, and alice cannot
  // decide which. No signer is banned.
  expect(result).toEqual({
    ok: false,
    abort: { culprit: carol, step: 'sign-3/echo', ban: false, suspects: [carol, mallory] },
  });
});
