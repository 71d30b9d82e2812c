import { randomBytes } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { SECRETS } from '#mpc/secp256k1.ts';
import type { KeyEncryptionSecret, KeyShare, SealContext } from '#mpc/share.ts';
import { decodeKeyShare, encodeKeyShare, seal, unseal } from '#mpc/share.ts';
import { dealKey, party } from './dealt-key.ts';

const secret = (id: string): KeyEncryptionSecret => ({ id, secret: Buffer.from(randomBytes(32)).toString('hex') });
const [current, old] = [secret('2026-11'), secret('2025-11')];
const position: SealContext = { kind: 'share', node: party(1), name: 'a'.repeat(26), epoch: 1, madeAtMs: 1000 };
const plaintext = new TextEncoder().encode('thirty-two bytes of a secret ...');

function share(): KeyShare {
  const parties = [party(1), party(2), party(3)];
  const key = dealKey(2, parties);
  return {
    scheme: 'ecdsa-secp256k1',
    keyId: 'a'.repeat(26),
    epoch: 300,
    self: party(2),
    threshold: 2,
    secret: key.shares.get(party(2)) ?? SECRETS.of(0n),
    publicKey: key.publicKey,
    publicShares: key.publicShares,
  };
}

test('a sealed record opens in its context under its secret', async () => {
  const record = await seal([current], position, plaintext);
  expect(await unseal([current], position, record)).toEqual(plaintext);
});

test('after a rotation the old secret still opens records, and the new one seals them', async () => {
  const before = await seal([old], position, plaintext);
  expect(await unseal([current, old], position, before)).toEqual(plaintext);
  expect((await seal([current, old], position, plaintext)).kekId).toBe('2026-11');
  expect(await unseal([current], position, before)).toBeNull();
});

test.each<[string, Partial<SealContext>]>([
  ['another kind', { kind: 'pair' }],
  ['another node', { node: party(2) }],
  ['another name', { name: 'b'.repeat(26) }],
  ['another epoch', { epoch: 2 }],
  ['another time', { madeAtMs: 1001 }],
])('a sealed record does not open in the context of %s', async (_name, change) => {
  const record = await seal([current], position, plaintext);
  expect(await unseal([current], { ...position, ...change }, record)).toBeNull();
});

test('a record with any changed byte does not open', async () => {
  const record = await seal([current], position, plaintext);
  for (const field of ['salt', 'iv', 'ciphertext'] as const) {
    for (let i = 0; i < record[field].length; i++) {
      const changed = Uint8Array.from(record[field]);
      changed[i] = (changed[i] ?? 0) ^ 1;
      expect([field, i, await unseal([current], position, { ...record, [field]: changed })]).toEqual([field, i, null]);
    }
  }
  const renamed = { ...current, id: 'renamed' };
  expect(await unseal([renamed], position, { ...record, kekId: 'renamed' })).toBeNull();
});

test('sealing one share twice gives two different records, and neither contains the share', async () => {
  const [first, second] = [await seal([current], position, plaintext), await seal([current], position, plaintext)];
  expect(first.ciphertext).not.toEqual(second.ciphertext);
  expect(Buffer.from(first.ciphertext).includes(Buffer.from(plaintext))).toBe(false);
});

test('a share is decoded unchanged from its encoding', () => {
  const before = share();
  expect(decodeKeyShare(before.keyId, encodeKeyShare(before))).toEqual(before);
});

test("bytes that are not a share, or not the co-signer's own share, are refused before they sign", () => {
  const before = share();
  const bytes = encodeKeyShare(before);
  const changed = (position_: number, values: Uint8Array) => {
    const copy = Uint8Array.from(bytes);
    copy.set(values, position_);
    return copy;
  };
  const bad = [
    new Uint8Array(0),
    bytes.slice(1),
    Uint8Array.of(...bytes, 0),
    changed(0, Uint8Array.of(1)),
    // Another scheme, whose points have another length, and a scheme that does not exist.
    changed(1, Uint8Array.of(1)),
    changed(1, Uint8Array.of(3)),
    changed(2, Uint8Array.of(9)),
    changed(2, Uint8Array.of(3)),
    changed(7, new Uint8Array(32)),
    changed(7, new Uint8Array(32).fill(0xff)),
    changed(7, SECRETS.reveal(SECRETS.random())),
    changed(39, new Uint8Array(33)),
  ];
  for (const [i, one] of bad.entries()) {
    let outcome = 'taken';
    try {
      decodeKeyShare(before.keyId, one);
    } catch {
      outcome = 'refused';
    }
    expect([i, outcome]).toEqual([i, 'refused']);
  }
});
