import { randomBytes } from '@noble/hashes/utils.js';
import { describe, expect, test } from 'vitest';
import type { KeyScheme } from '#domain/asset/chain.ts';
import { inGroupOf } from '#mpc/scheme-group.ts';
import { commit } from '#mpc/keygen/commit.ts';
import { partsOf } from '#mpc/keygen/resharing.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { SECP256K1 } from '#mpc/secp256k1.ts';
import type { KeyShare } from '#mpc/share.ts';
import { decodeKeyShare, encodeKeyShare } from '#mpc/share.ts';
import { party } from '../dealt-key.ts';
import type { Handover, Round, Tampering } from './keygen-room.ts';
import { generate, groups, interpolated } from './keygen-room.ts';

/** Tests the refresh of a key: the key is unchanged, and old and new shares do not combine. */

const [one, two, three] = [party(1), party(2), party(3)];

/** Returns the shares without those of the parties that have lost theirs. */
function without(shares: ReadonlyMap<PartyIndex, KeyShare>, ...lost: PartyIndex[]): ReadonlyMap<PartyIndex, KeyShare> {
  return new Map([...shares].filter(([self]) => !lost.includes(self)));
}

describe.each<[number, number, KeyScheme]>([
  [3, 2, 'ecdsa-secp256k1'],
  [5, 3, 'ecdsa-secp256k1'],
  [5, 5, 'ecdsa-secp256k1'],
  [3, 2, 'frost-ed25519'],
  [5, 3, 'frost-ed25519'],
  [3, 2, 'frost-secp256k1-tr'],
])('among %i parties with threshold %i, for %s', (n, threshold, scheme) => {
  const before = generate(n, threshold, { scheme }).shares;
  const key = before.get(one)?.publicKey ?? new Uint8Array();

  test('any dealers give every group of threshold size the same key as before, and a smaller group does not have it', () => {
    for (const dealers of groups([...before.keys()], threshold)) {
      const { shares, aborts } = generate(n, threshold, { scheme, handover: { old: before, dealers, epoch: 2 } });
      expect([aborts.size, shares.size]).toEqual([0, n]);
      const all = [...shares.values()];
      for (const some of groups(all, threshold)) expect(interpolated(some)).toEqual(key);
      for (const some of groups(all, threshold - 1)) expect(interpolated(some)).not.toEqual(key);
      for (const share of all) {
        expect([share.publicKey, share.keyId, share.epoch]).toEqual([key, before.get(one)?.keyId, 2]);
        expect(share.secret).not.toBe(before.get(share.self)?.secret);
        expect(decodeKeyShare(share.keyId, encodeKeyShare(share))).toEqual(share);
      }
    }
  });

  test('no mixture of old and new shares gives the key', () => {
    const dealers = [...before.keys()].slice(0, threshold);
    const after = generate(n, threshold, { scheme, handover: { old: before, dealers, epoch: 2 } }).shares;
    for (const some of groups([...before.keys()], threshold)) {
      for (let old = 1; old < threshold; old++) {
        const mixed = some
          .map((self, i) => (i < old ? before : after).get(self))
          .filter((share) => share !== undefined);
        expect(interpolated(mixed)).not.toEqual(key);
      }
    }
  });

  test('a party that has lost its share gets one that works like the shares of the others', () => {
    const lost = [...before.keys()].slice(threshold);
    const dealers = [...before.keys()].slice(0, threshold);
    const old = without(before, ...lost);
    const { shares } = generate(n, threshold, { scheme, handover: { old, dealers, epoch: 2 } });
    for (const some of groups([...shares.values()], threshold)) expect(interpolated(some)).toEqual(key);
  });

  test('a key can be refreshed many times', () => {
    let shares: ReadonlyMap<PartyIndex, KeyShare> = before;
    for (let epoch = 2; epoch < 6; epoch++) {
      const dealers = [...shares.keys()].slice(-threshold);
      ({ shares } = generate(n, threshold, { scheme, handover: { old: shares, dealers, epoch } }));
    }
    expect([...shares.values()].map(({ epoch }) => epoch)).toEqual(Array.from({ length: n }, () => 5));
    expect(interpolated([...shares.values()].slice(0, threshold))).toEqual(key);
  });
});

const old = generate(3, 2).shares;
const handover: Handover = { old, dealers: [one, two], epoch: 2 };

const flip = (position: number) => (message: Uint8Array) => {
  message[position] = (message[position] ?? 0) ^ 1;
  return message;
};

test.each<[string, Round, PartyIndex, Tampering['change'], string]>([
  ['a dealer’s missing commitment', 'commit', one, () => null, 'keygen-reveal/commitment'],
  ['a changed commitment', 'commit', one, flip(0), 'keygen-distribute/commitment'],
  ['a changed opening', 'reveal', one, flip(40), 'keygen-distribute/commitment'],
  ['a share for another party', 'distribute', one, flip(31), 'keygen-confirm/share'],
  ['a missing share', 'distribute', two, () => null, 'keygen-confirm/share'],
  ['a commitment of a party that does not deal', 'commit', three, () => new Uint8Array(32), 'keygen-reveal/commitment'],
])('a refresh with %s fails, and the sender is named', (_name, at, from, change, step) => {
  const to = from === three ? one : three;
  const { aborts } = generate(3, 2, { handover, tampering: { at, from, to, change } });
  expect(aborts.get(to)).toEqual({ culprit: from, step, ban: false });
});

test('every party detects and names a dealer that deals anything but its own share', () => {
  // The dealer's share differs from the old public share against which the others verify.
  const other = generate(3, 2).shares.get(one);
  if (other === undefined) throw new Error('there is a share');
  const liar = { ...other, publicShares: old.get(one)?.publicShares ?? new Map() };
  const { aborts } = generate(3, 2, { handover: { ...handover, old: new Map([...old, [one, liar]]) } });
  for (const honest of [two, three]) {
    expect(aborts.get(honest)).toEqual({ culprit: one, step: 'keygen-distribute/part', ban: false });
  }
});

test('a party without a valid public share cannot deal', () => {
  const shares = old.get(one)?.publicShares ?? new Map<PartyIndex, Uint8Array>();
  expect(partsOf(SECP256K1, shares, [one, party(4)])).toBeNull();
  expect(partsOf(SECP256K1, new Map([...shares, [two, new Uint8Array(33)]]), [one, two])).toBeNull();
});

test.each<[string, Partial<Handover>, string]>([
  ['fewer dealers than the threshold', { dealers: [one] }, 'dealers are not'],
  ['more of them', { dealers: [one, two, three] }, 'dealers are not'],
  ['dealers in disorder', { dealers: [two, one] }, 'dealers are not'],
  ['one of them twice', { dealers: [one, one] }, 'dealers are not'],
  ['a dealer without a share', { old: without(old, one) }, 'part'],
])('a co-signer throws rather than take part in a refresh with %s', (_name, change, word) => {
  expect(() => generate(3, 2, { handover: { ...handover, ...change } })).toThrow(word);
});

test('a party that does not deal sends nothing', () => {
  inGroupOf('ecdsa-secp256k1', () => {
    const points = partsOf(SECP256K1, old.get(one)?.publicShares ?? new Map(), [one, two]);
    if (points === null) throw new Error('there are points');
    const resharing = { dealers: [one, two], epoch: 2, part: null, points };
    const parties = [one, two, three];
    const session = { group: SECP256K1, sid: randomBytes(32), self: three, parties, threshold: 2, resharing };
    expect(commit({ ...session, scheme: 'ecdsa-secp256k1' }).message).toHaveLength(0);
  });
});
