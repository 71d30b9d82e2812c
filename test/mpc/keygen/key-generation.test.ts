import { randomBytes } from '@noble/hashes/utils.js';
import { describe, expect, test } from 'vitest';
import type { Abort } from '#mpc/abort.ts';
import { commit } from '#mpc/keygen/commit.ts';
import { confirm } from '#mpc/keygen/confirm.ts';
import { distribute } from '#mpc/keygen/distribute.ts';
import { knows, proveKnowledge } from '#mpc/keygen/proof-of-knowledge.ts';
import { reveal } from '#mpc/keygen/reveal.ts';
import { commitToPackage } from '#mpc/keygen/session.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { encodePoint, encodeScalar, GENERATOR, modOrder, ORDER, parsePoint, randomScalar } from '#mpc/secp256k1.ts';
import type { KeyShare } from '#mpc/share.ts';
import { party } from '../dealt-key.ts';

type Mail = Map<PartyIndex, Map<PartyIndex, Uint8Array>>;
type Round = 'commit' | 'reveal' | 'distribute';

interface Tampering {
  /** Changes one message on its way; the message is a copy. */
  readonly at: Round;
  readonly from: PartyIndex;
  readonly to: PartyIndex;
  readonly change: (message: Uint8Array, mail: Mail) => Uint8Array | null;
}

interface Outcome {
  readonly shares: ReadonlyMap<PartyIndex, KeyShare>;
  readonly statements: ReadonlyMap<PartyIndex, Uint8Array>;
  readonly aborts: ReadonlyMap<PartyIndex, Abort>;
  /** Everything that was sent in clear to everybody: what a relay without keys could see at most. */
  readonly published: readonly Uint8Array[];
}

/** A whole key generation among honest code, with one message changed where that is wanted. */
function generate(n: number, threshold: number, tampering: Tampering | null = null, sid = randomBytes(32)): Outcome {
  const parties = Array.from({ length: n }, (_, i) => party(i + 1));
  const aborts = new Map<PartyIndex, Abort>();
  const published: Uint8Array[] = [];

  const deliver = (round: Round, mail: Mail): Mail => {
    for (const messages of mail.values()) for (const message of messages.values()) published.push(message);
    if (tampering?.at !== round) return mail;
    const sent = mail.get(tampering.from)?.get(tampering.to);
    if (sent === undefined) throw new Error('there is no such message');
    const changed = tampering.change(Uint8Array.from(sent), mail);
    if (changed === null) mail.get(tampering.from)?.delete(tampering.to);
    else mail.get(tampering.from)?.set(tampering.to, changed);
    return mail;
  };
  const inboxOf = (self: PartyIndex, mail: Mail) =>
    new Map(
      [...mail].flatMap(([from, messages]) => {
        const message = messages.get(self);
        return message === undefined ? [] : [[from, message] as const];
      }),
    );
  const toAll = (self: PartyIndex, message: Uint8Array) =>
    new Map(parties.filter((one) => one !== self).map((peer) => [peer, message]));

  const first = new Map(parties.map((self) => [self, commit({ sid, self, parties, threshold })]));
  const commitments = deliver('commit', new Map([...first].map(([self, { message }]) => [self, toAll(self, message)])));

  const second = new Map(
    [...first].flatMap(([self, { state }]) => {
      const round = reveal(state, inboxOf(self, commitments));
      if (!round.ok) aborts.set(self, round.abort);
      return round.ok ? [[self, round.value] as const] : [];
    }),
  );
  const openings = deliver('reveal', new Map([...second].map(([self, { message }]) => [self, toAll(self, message)])));

  const third = new Map(
    [...second].flatMap(([self, { state }]) => {
      const round = distribute(state, inboxOf(self, openings));
      if (!round.ok) aborts.set(self, round.abort);
      return round.ok ? [[self, round.value] as const] : [];
    }),
  );
  published.length = commitments.size * (n - 1) + openings.size * (n - 1);
  const values = deliver('distribute', new Map([...third].map(([self, { messages }]) => [self, new Map(messages)])));
  published.length = commitments.size * (n - 1) + openings.size * (n - 1);

  const shares = new Map<PartyIndex, KeyShare>();
  const statements = new Map<PartyIndex, Uint8Array>();
  for (const [self, { state }] of third) {
    const round = confirm(state, inboxOf(self, values));
    if (!round.ok) {
      aborts.set(self, round.abort);
      continue;
    }
    shares.set(self, round.value.state.take().share);
    statements.set(self, round.value.statement);
  }
  return { shares, statements, aborts, published };
}

/** The secret behind some shares, by Lagrange at zero. */
function interpolate(shares: readonly KeyShare[]): bigint {
  return shares.reduce((sum, { self, secret }) => {
    let [top, bottom] = [1n, 1n];
    for (const { self: other } of shares) {
      if (other === self) continue;
      top = modOrder(top * BigInt(other));
      bottom = modOrder(bottom * (BigInt(other) - BigInt(self) + ORDER));
    }
    return modOrder(sum + secret * top * inverse(bottom));
  }, 0n);
}

function inverse(value: bigint): bigint {
  let [result, base, exponent] = [1n, value, ORDER - 2n];
  for (; exponent > 0n; exponent >>= 1n, base = modOrder(base * base))
    if (exponent & 1n) result = modOrder(result * base);
  return result;
}

function groups<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  if (size === 0) return [[]];
  return items.flatMap((item, i) => groups(items.slice(i + 1), size - 1).map((rest) => [item, ...rest]));
}

const [one, two, three] = [party(1), party(2), party(3)];

describe.each([
  [2, 2],
  [3, 2],
  [3, 3],
  [5, 3],
  [5, 5],
])('among %i parties with threshold %i', (n, threshold) => {
  const { shares, statements, aborts } = generate(n, threshold);
  const all = [...shares.values()];
  const key = all[0]?.publicKey ?? new Uint8Array();

  test('everybody has the same key and states the same', () => {
    expect([aborts.size, shares.size]).toEqual([0, n]);
    for (const share of all) expect([share.publicKey, share.keyId]).toEqual([key, all[0]?.keyId]);
    for (const statement of statements.values()) expect(statement).toEqual(statements.get(one));
  });

  test('every group of the threshold has the secret of that key, and one party fewer does not', () => {
    for (const group of groups(all, threshold))
      expect(encodePoint(GENERATOR.multiply(interpolate(group)))).toEqual(key);
    for (const group of groups(all, threshold - 1)) {
      expect(encodePoint(GENERATOR.multiply(interpolate(group)))).not.toEqual(key);
    }
  });

  test('every share is behind its public share, as everybody knows it', () => {
    for (const { self, secret, publicShares } of all) {
      expect(encodePoint(GENERATOR.multiply(secret))).toEqual(publicShares.get(self));
      expect(publicShares).toEqual(all[0]?.publicShares);
    }
  });
});

test('the same session twice gives two different keys: nothing comes from the session alone', () => {
  const sid = randomBytes(32);
  expect(generate(3, 2, null, sid).shares.get(one)?.keyId).not.toBe(generate(3, 2, null, sid).shares.get(one)?.keyId);
});

const POINT = 33;
/** Two commitments, the proof (a point and a scalar), the salt. */
const OPENING = 2 * POINT + POINT + 32 + 32;

test('the opening has the fields that the next tests change', () => {
  expect(generate(3, 2).published.at(-1)?.length).toBe(OPENING);
});

const flip = (place: number) => (message: Uint8Array) => {
  message[place] = (message[place] ?? 0) ^ 1;
  return message;
};

const tampered: readonly (readonly [string, Round, Tampering['change'], string])[] = [
  ['a missing commitment', 'commit', () => null, 'keygen-reveal/commitment'],
  ['a short commitment', 'commit', (message) => message.slice(1), 'keygen-reveal/commitment'],
  ['a changed commitment', 'commit', flip(0), 'keygen-distribute/commitment'],
  ['a missing opening', 'reveal', () => null, 'keygen-distribute/length'],
  ['a long opening', 'reveal', (message) => Uint8Array.of(...message, 0), 'keygen-distribute/length'],
  ['another constant term', 'reveal', flip(5), 'keygen-distribute/commitment'],
  ['another slope', 'reveal', flip(POINT + 5), 'keygen-distribute/commitment'],
  ['another proof point', 'reveal', flip(2 * POINT + 5), 'keygen-distribute/commitment'],
  ['another proof scalar', 'reveal', flip(3 * POINT + 5), 'keygen-distribute/commitment'],
  ['another salt', 'reveal', flip(OPENING - 1), 'keygen-distribute/commitment'],
  ['a missing share', 'distribute', () => null, 'keygen-confirm/share'],
  ['a changed share', 'distribute', flip(31), 'keygen-confirm/share'],
  ['a zero share', 'distribute', () => new Uint8Array(32), 'keygen-confirm/share'],
  ['a share past the order', 'distribute', () => new Uint8Array(32).fill(0xff), 'keygen-confirm/share'],
  ['a random share', 'distribute', () => encodeScalar(randomScalar()), 'keygen-confirm/share'],
];

test.each(tampered)('%s is found by its receiver, who names the sender', (_name, at, change, step) => {
  const { aborts, shares } = generate(3, 2, { at, from: two, to: three, change });
  expect(aborts.get(three)).toEqual({ culprit: two, step, ban: false });
  expect(shares.has(three)).toBe(false);
});

test('a commitment of somebody else cannot be passed on as the own one', () => {
  const steal: Tampering['change'] = (_message, mail) => mail.get(one)?.get(three) ?? null;
  const copied = generate(3, 2, { at: 'commit', from: two, to: three, change: steal });
  expect(copied.aborts.get(three)).toMatchObject({ culprit: two, step: 'keygen-distribute/commitment' });
});

test('an opening of somebody else does not open the own commitment', () => {
  const steal: Tampering['change'] = (_message, mail) => mail.get(one)?.get(three) ?? null;
  const copied = generate(3, 2, { at: 'reveal', from: two, to: three, change: steal });
  expect(copied.aborts.get(three)).toMatchObject({ culprit: two, step: 'keygen-distribute/commitment' });
});

test('a dealer who tells two parties two things, each in itself well made, leaves them with two statements', () => {
  const sid = randomBytes(32);
  const parties = [one, two, three];
  const session = (self: PartyIndex) => ({ sid, self, parties, threshold: 2 });
  const [first, last] = [commit(session(one)), commit(session(three))];
  // Party 2 plays two honest parties, one for each of the others.
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
  // Neither will ever get the other's signature over its own statement, so neither stores its share.
  expect(hers.value.statement).not.toEqual(theirs.value.statement);
});

test('the rogue key: without knowing its logarithm, nobody can bring a constant term that cancels the others', () => {
  // Party 2 would have to prove that it knows the logarithm of X2 - X1; a proof over another point is none.
  const sid = randomBytes(32);
  const parties = [one, two, three];
  const honest = commit({ sid, self: one, parties, threshold: 2 });
  const victim = honest.state.take();
  const rogueTerm = GENERATOR.multiply(randomScalar()).add(parsePoint(victim.encoded.subarray(0, POINT))!.negate());
  const own = commit({ sid, self: two, parties, threshold: 2 }).state.take();
  const forged = Uint8Array.from(own.encoded);
  forged.set(encodePoint(rogueTerm), 0);
  const mine = commit({ sid, self: three, parties, threshold: 2 });
  const salt = randomBytes(32);
  const { commitment } = rogueOpening({ sid, forged, salt, parties });
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

/** The commitment that party 2 would send for an opening of its own making. */
function rogueOpening(attack: {
  sid: Uint8Array;
  forged: Uint8Array;
  salt: Uint8Array;
  parties: readonly PartyIndex[];
}) {
  const { sid, forged, salt, parties } = attack;
  return { commitment: commitToPackage({ sid, self: two, parties, threshold: 2 }, two, { encoded: forged, salt }) };
}

test('a proof from another session or of another party is worth nothing', () => {
  const [sid, otherSid] = [randomBytes(32), randomBytes(32)];
  const secret = randomScalar();
  const point = GENERATOR.multiply(secret);
  const proof = proveKnowledge({ sid, prover: two }, secret);
  expect(knows({ sid, prover: two }, point, proof)).toBe(true);
  expect(knows({ sid: otherSid, prover: two }, point, proof)).toBe(false);
  expect(knows({ sid, prover: three }, point, proof)).toBe(false);
  expect(knows({ sid, prover: two }, GENERATOR.multiply(randomScalar()), proof)).toBe(false);
  for (let place = 0; place < proof.length; place++) {
    expect([place, knows({ sid, prover: two }, point, flip(place)(Uint8Array.from(proof)))]).toEqual([place, false]);
  }
});

test('what everybody may read holds no share and no secret', () => {
  const { shares, published } = generate(3, 2);
  const secrets = [...shares.values()].map(({ secret }) => encodeScalar(secret));
  const text = published.map((bytes) => Buffer.from(bytes).toString('hex')).join('|');
  for (const secret of secrets) expect(text).not.toContain(Buffer.from(secret).toString('hex'));
});

test('a state is used once: the same round cannot be run again with other messages', () => {
  const parties = [one, two];
  const { state } = commit({ sid: randomBytes(32), self: one, parties, threshold: 2 });
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
])('our own node never asks for %j', (change, word) => {
  const session = { sid: new Uint8Array(32), self: one, parties: [one, two, three], threshold: 2 };
  expect(() => commit({ ...session, ...change })).toThrow(word);
});
