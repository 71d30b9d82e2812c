import { verify } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { bytesToHex, concatBytes, hexToBytes, randomBytes } from '@noble/hashes/utils.js';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { nonceFrom } from '#mpc/frost/ciphersuite.ts';
import { commitToNonces } from '#mpc/frost/commit.ts';
import { signShare } from '#mpc/frost/sign.ts';
import type { FrostScheme } from '#mpc/frost/suite.ts';
import { identifierOf, suiteOf } from '#mpc/frost/suite.ts';
import { taprootOf, tweakPoint, tweakScalar } from '#mpc/derivation/taproot.ts';
import { ORDER } from '#curve/scalar.ts';
import { encodePoint, parsePoint, SECRETS, Point } from '#mpc/secp256k1.ts';
import { inGroupOf } from '#mpc/scheme-group.ts';
import { SingleUse } from '#mpc/single-use.ts';
import { ed25519Key } from '../ed25519-key.ts';
import { party } from '../dealt-key.ts';
import { verifiesBip340 } from './bip340.ts';
import type { Room } from './signing-room.ts';
import { dealt, onChain, sign } from './signing-room.ts';

afterEach(() => vi.restoreAllMocks());

const SCHEMES: readonly FrostScheme[] = ['frost-ed25519', 'frost-secp256k1-tr'];
const [one, two, three] = [party(1), party(2), party(3)];
const CHAIN = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';

/** Verifies without noble: with OpenSSL for Ed25519, with plain numbers for BIP-340. */
function isGood({ key }: Room, signature: Uint8Array, message: Uint8Array): boolean {
  if (key.scheme === 'frost-secp256k1-tr') return verifiesBip340(signature, message, key.publicKey.subarray(1));
  return verify(null, message, ed25519Key(key.publicKey), signature);
}

test('RFC 9591, appendix E.1: participants 1 and 3 make the expected signature over "test"', async () => {
  const scalar = (hex: string) => BigInt(`0x${bytesToHex(hexToBytes(hex).toReversed())}`);
  const room = dealt('frost-ed25519', 3, 2, [
    scalar('7b1c33d3f5291d85de664833beb1ad469f7fb6025a0ec78b3a790c6e13a98304'),
    scalar('178199860edd8c62f5212ee91eff1295d0d670ab4ed4506866bae57e7030b204'),
  ]);
  expect(bytesToHex(room.key.publicKey)).toBe('15d21ccd7ee42959562fc8aa63224c8851fb3ec85a3faf66040d380fb9738673');
  expect(room.shares.get(three)?.secret.secretBytes).toEqual(
    hexToBytes('d3cb090a075eb154e82fdb4b3cb507f110040905468bb9c46da8bdea643a9a02'),
  );
  const randomness = [
    '0fd2e39e111cdc266f6c0f4d0fd45c947761f1f5d3cb583dfcb9bbaf8d4c9fec',
    '69cd85f631d5f7f2721ed5e40519b1366f340a87c2f6856363dbdcda348a7501',
    '86d64a260059e495d0fb4fcc17ea3da7452391baa494d4b00321098ed2a0062f',
    '13e6b25afb2eba51716a9a7d44130c0dbae0004a9ef8d7b5550c8a0e07c61775',
  ];
  // The nonces take 32 random bytes each; noble's random blinding of multiplications does not
  // affect the result.
  const random = crypto.getRandomValues.bind(crypto);
  vi.spyOn(crypto, 'getRandomValues').mockImplementation((array) => {
    if (array.byteLength !== 32) return random(array);
    (array as unknown as Uint8Array).set(hexToBytes(randomness.shift() ?? ''));
    return array;
  });
  const signature = await sign(room, { message: Buffer.from('test'), signers: [one, three] });
  expect(randomness).toEqual([]);
  expect(signature.ok && bytesToHex(signature.value)).toBe(
    '36282629c383bb820a88b71cae937d41f2f2adfcc3d02e55507e2fb9e2dd3cbe' +
      'bd9d2b0844e49ae0f3fa935161e1419aab7b47d21a37ebeae1f17d4987b3160b',
  );
});

test('the first vector of BIP-341 without a script gives the expected tweak and output key', async () => {
  const internal = hexToBytes('02d6889cb081036e0faefa3a35157ad71086b123b2b144b649798b494c300a961d');
  const taproot = taprootOf(internal);
  expect(taproot.tweak.toString(16)).toBe('b86e7be8f39bab32a6f2c0443abbc210f0edac0e2c53d501b36b64437d9c6c70');
  const output = encodePoint(tweakPoint(taproot, parsePoint(internal)!));
  expect(bytesToHex(output.subarray(1))).toBe('53a1f6e454df1aa2776a2814a721372d6258050de330b3c6d10ee8f4e0dda343');
});

test('a taproot tweak of a secret is the secret of the tweaked key, of either parity', async () => {
  for (const secret of [1n, 2n, 3n, 6n, ORDER - 1n].map(SECRETS.of)) {
    const point = Point.multiple(secret);
    const taproot = taprootOf(encodePoint(point));
    expect(Point.multiple(tweakScalar(taproot, secret)).equals(tweakPoint(taproot, point))).toBe(true);
  }
});

describe.each(SCHEMES)('%s', (scheme) => {
  test('a nonce is that of noble for the same random bytes', () => {
    const suite = suiteOf(scheme);
    const random = randomBytes(32);
    inGroupOf(scheme, ({ secrets }) => {
      const signingShare = Uint8Array.from(secrets.reveal(secrets.random()));
      const { nonces } = suite.frost.commit({ identifier: identifierOf(suite, one), signingShare }, () => random);
      expect(secrets.reveal(nonceFrom(scheme, concatBytes(random, signingShare)))).toEqual(nonces.hiding);
    });
  });

  test('every two of three sign, and every three of five, and verifiers other than noble accept the signature', async () => {
    for (const [n, threshold, signers] of [
      [3, 2, [1, 2]],
      [3, 2, [1, 3]],
      [3, 2, [2, 3]],
      [5, 3, [1, 3, 5]],
      [5, 3, [2, 3, 4]],
      [3, 3, [1, 2, 3]],
    ] as const) {
      const room = dealt(scheme, n, threshold);
      const message = randomBytes(32 + n);
      const signature = await sign(room, { message, signers: signers.map(party) });
      expect(signature.ok && isGood(room, signature.value, message)).toBe(true);
      expect(signature.ok && isGood(room, signature.value, randomBytes(32))).toBe(false);
    }
  });

  test('a wallet has a key of its own on each chain, for which its shares sign, and for no other', async () => {
    // Ten keys cover both parities of the inner and of the outer key.
    for (let i = 0; i < 10; i++) {
      const root = dealt(scheme, 3, 2);
      const [main, trial] = [onChain(root, CHAIN), onChain(root, 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1')];
      const message = randomBytes(40);
      const signature = await sign(main, { message, signers: [one, three] });
      if (!signature.ok) throw new Error(signature.abort.step);
      expect(isGood(main, signature.value, message)).toBe(true);
      expect(isGood(trial, signature.value, message)).toBe(false);
      expect(isGood(root, signature.value, message)).toBe(false);
    }
  });

  const room = dealt(scheme, 3, 2);
  const width = scheme === 'frost-ed25519' ? 32 : 33;
  const message = randomBytes(50);
  const broken: readonly (readonly [string, (bytes: Uint8Array) => Uint8Array | null])[] = [
    ['none', () => null],
    ['too few bytes', (bytes) => bytes.slice(1)],
    ['too many bytes', (bytes) => Uint8Array.of(...bytes, 0)],
    ['no point', (bytes) => bytes.fill(0xff)],
    ['zeroes', (bytes) => bytes.fill(0)],
    // The identity as RFC 8032 encodes it. On the other curve these bytes are not a point.
    ['the identity', (bytes) => bytes.map((_, i) => (i % width === 0 ? 1 : 0))],
    ['a first point that is none', (bytes) => bytes.fill(0xff, 0, width)],
    ['a second point that is none', (bytes) => bytes.fill(0xff, width)],
  ];

  test.each(broken)('a signer whose commitments are %s is named as the culprit', async (_name, change) => {
    const spoilt = await sign(room, {
      message,
      signers: [one, two],
      tamper: (from, _to, bytes) => (from === two ? change(bytes) : bytes),
    });
    expect(spoilt).toEqual({ ok: false, abort: { culprit: two, step: 'frost-sign/commitments', ban: false } });
  });

  test('a signer whose signature share is wrong, not a scalar, or of another length is named as the culprit', async () => {
    const wrongs: readonly (readonly [string, (partial: Uint8Array) => Uint8Array])[] = [
      ['share', (partial) => partial.fill(7, 0, 31)],
      ['share', (partial) => partial.fill(0xff, 0, 32)],
      ['share', (partial) => partial.fill(0, 0, 32)],
      ['malformed', (partial) => partial.slice(1)],
      ['malformed', () => new Uint8Array()],
    ];
    for (const [step, change] of wrongs) {
      const given = await sign(room, {
        message,
        signers: [one, two],
        give: (from, partial) => (from === two ? change(partial) : partial),
      });
      expect(given).toEqual({ ok: false, abort: { culprit: two, step: `frost-aggregate/${step}`, ban: false } });
    }
  });

  test.each([
    ['another', (partial: Uint8Array) => partial.fill(7, 33, 63)],
    ['none', (partial: Uint8Array) => partial.fill(0xff, 32, 64)],
  ])("a signer that reports %s for the group's commitment cannot prevent the signature", async (_name, change) => {
    const given = await sign(room, {
      message,
      signers: [one, two],
      give: (from, partial) => (from === one ? change(partial) : partial),
    });
    expect(given.ok && isGood(room, given.value, message)).toBe(true);
  });

  test('a wrong share is blamed on its signer even when the other signer reports another group commitment', async () => {
    const given = await sign(room, {
      message,
      signers: [one, two],
      give: (from, partial) => (from === two ? partial.fill(7, 0, 31) : partial.fill(7, 33, 63)),
    });
    expect(given).toEqual({ ok: false, abort: { culprit: two, step: 'frost-aggregate/share', ban: false } });
  });

  test('invalid commitments that all signers report alike are blamed on the first signer', async () => {
    const given = await sign(room, {
      message,
      signers: [one, two],
      give: (_from, partial) => partial.fill(0xff, 32),
    });
    expect(given).toEqual({ ok: false, abort: { culprit: one, step: 'frost-aggregate/commitments', ban: false } });
  });

  test('a signer uses its own copy of its commitments, whatever the transport changes in them', () => {
    const session = { share: room.shares.get(one)!, signers: [one, two], message };
    const { state, message: sent } = commitToNonces(session);
    const before = Uint8Array.from(sent);
    sent.fill(7);
    expect(state.take().commitments).toEqual(before);
  });

  test('a cheater that sends two signers different values cannot make an honest signer look like the cheater', async () => {
    const other = commitToNonces({ share: room.shares.get(two)!, signers: [one, two], message }).message;
    const response = await sign(room, {
      message,
      signers: [one, two],
      tamper: (from, to, bytes) => (from === two && to === one ? Uint8Array.from(other) : bytes),
    });
    expect(response).toMatchObject({
      ok: false,
      abort: { step: 'frost-aggregate/commitments', suspects: [one, two] },
    });
  });

  test('a nonce signs once, and neither its state nor a copy of the state can be used again', async () => {
    const [mine, theirs] = [one, two].map((self) =>
      commitToNonces({ share: room.shares.get(self)!, signers: [one, two], message }),
    );
    const inbox = new Map([[two, theirs!.message]]);
    expect(signShare(mine!.state, inbox).ok).toBe(true);
    expect(() => signShare(mine!.state, inbox)).toThrow('already used');
    expect(JSON.stringify(mine!.state)).toBe('"[secret]"');
    expect(() => structuredClone(theirs!.state).take()).toThrow();
  });

  test('nonces are wiped from memory after they have signed, and after a failure', () => {
    for (const inbox of [new Map([[two, otherMessage()]]), new Map()]) {
      const session = { share: room.shares.get(one)!, signers: [one, two], message };
      const held = commitToNonces(session).state.take();
      expect(held.nonces.hiding.secretBytes.some((byte) => byte !== 0)).toBe(true);
      expect(signShare(new SingleUse(held), inbox).ok).toBe(inbox.size === 1);
      for (const nonce of [held.nonces.hiding, held.nonces.binding])
        expect(nonce.secretBytes).toEqual(new Uint8Array(32));
    }
  });

  const otherMessage = () => commitToNonces({ share: room.shares.get(two)!, signers: [one, two], message }).message;

  test('two sessions over one message share nothing but the key', async () => {
    const [first, second] = [
      await sign(room, { message, signers: [one, two] }),
      await sign(room, { message, signers: [one, two] }),
    ];
    expect(first).not.toEqual(second);
  });

  test('too few shares give no signature, whichever party combines them', async () => {
    const five = dealt(scheme, 5, 3);
    const few = { key: { ...five.key, threshold: 2 }, shares: new Map([...five.shares].map(lowered)) };
    const tried = await sign(few, { message, signers: [one, two] });
    expect(tried).toMatchObject({ ok: false, abort: { step: 'frost-aggregate/signature' } });
  });

  test.each([
    [[two, one], 'sorted'],
    [[one, one], 'sorted'],
    [[two, three], 'self'],
    [[one, two, three], 'threshold'],
    [[one], 'threshold'],
  ])('a co-signer throws rather than sign with %j', async (signers, word) => {
    expect(() => commitToNonces({ share: room.shares.get(one)!, signers, message })).toThrow(word);
  });
});

function lowered<K, V extends { readonly threshold: number }>([self, share]: readonly [K, V]) {
  return [self, { ...share, threshold: 2 }] as const;
}

test('commitments with a component of small order are refused, because they would reveal bits of their factor', async () => {
  const room = dealt('frost-ed25519', 3, 2);
  const torsion = ed25519.Point.fromHex('c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a');
  expect(torsion.isSmallOrder()).toBe(true);
  const twisted = (bytes: Uint8Array) => {
    bytes.set(ed25519.Point.fromBytes(bytes.slice(0, 32)).add(torsion).toBytes(), 0);
    return bytes;
  };
  const signed = await sign(room, {
    message: randomBytes(32),
    signers: [one, two],
    tamper: (from, _to, bytes) => (from === two ? twisted(bytes) : bytes),
  });
  expect(signed).toMatchObject({ ok: false, abort: { culprit: two, step: 'frost-sign/commitments' } });
});
