import { x25519 } from '@noble/curves/ed25519.js';
import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, hexToBytes, randomBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { isUsableKey, newEphemeralKey, type EphemeralKey, openChannel } from '#mpc/channel.ts';
import { importPeer, importPrivate } from '#mpc/envelope.ts';
import { party } from './dealt-key.ts';

/**
 * Every spelling of a point of small order that X25519 reads as one (RFC 7748, section 7; RFC 8422,
 * section 5.11).
 */
const SMALL_ORDER = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
  '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '0000000000000000000000000000000000000000000000000000000000000080',
  '0100000000000000000000000000000000000000000000000000000000000080',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff',
];

const signing = randomBytes(32);

/**
 * Returns one side with private keys that the test knows, so that the channel can be compared with
 * noble's X25519.
 */
async function side(index: number) {
  const [fixed, fresh] = [randomBytes(32), randomBytes(32)];
  const secret = await importPrivate('X25519', fresh, ['deriveBits']);
  const ephemeral: EphemeralKey = { secret, publicKey: x25519.getPublicKey(fresh) };
  const asPeer = await importPeer(party(index), { signing, exchange: x25519.getPublicKey(fixed) });
  const own = { index: party(index), exchange: await importPrivate('X25519', fixed, ['deriveBits']) };
  return { own, asPeer, ephemeral, fixed, fresh };
}

const [alice, bob] = [await side(1), await side(2)];
const sid = randomBytes(32);
type Side = typeof alice;

function channel(own: Side, peer: Side, ephemeral = own.ephemeral, peerKey = peer.ephemeral.publicKey) {
  return openChannel(own.own, peer.asPeer, { sid, ephemeral, peerKey });
}

/** Reports whether a ciphertext of one key decrypts with the other. */
async function fits(encrypting: CryptoKey, decrypting: CryptoKey): Promise<boolean> {
  const parameters = { name: 'AES-GCM', iv: new Uint8Array(12) };
  const sealed = await crypto.subtle.encrypt(parameters, encrypting, new Uint8Array(32));
  return crypto.subtle.decrypt(parameters, decrypting, sealed).then(
    () => true,
    () => false,
  );
}

test('both sides have the same keys, one for each direction, and cannot use them in the other direction', async () => {
  const [ofAlice, ofBob] = [await channel(alice, bob), await channel(bob, alice)];
  if (ofAlice === null || ofBob === null) throw new Error('the keys agree');
  expect(await fits(ofAlice.outgoing, ofBob.incoming)).toBe(true);
  expect(await fits(ofBob.outgoing, ofAlice.incoming)).toBe(true);
  expect(await fits(ofAlice.outgoing, ofAlice.incoming)).toBe(false);
  expect([ofAlice.outgoing.usages, ofAlice.incoming.usages]).toEqual([['encrypt'], ['decrypt']]);
});

test('the channel key is HKDF over the ephemeral and the static secret, with the sid as salt and the direction as info', async () => {
  const made = await channel(alice, bob);
  if (made === null) throw new Error('the keys agree');
  const fresh = x25519.getSharedSecret(bob.fresh, alice.ephemeral.publicKey);
  const fixed = x25519.getSharedSecret(bob.fixed, x25519.getPublicKey(alice.fixed));
  const keyFrom = async (input: Uint8Array, info: Uint8Array, salt = sid) => {
    const raw = Uint8Array.from(hkdf(sha256, input, salt, info, 32));
    return crypto.subtle.importKey('raw', raw, 'AES-GCM', false, ['decrypt']);
  };
  const name = (from: number, to: number) => concatBytes(utf8ToBytes('conclave/envelope/v2'), Uint8Array.of(from, to));
  const both = concatBytes(fresh, fixed);
  expect(await fits(made.outgoing, await keyFrom(both, name(1, 2)))).toBe(true);
  for (const [input, info, salt] of [
    [fixed, name(1, 2), sid],
    [fresh, name(1, 2), sid],
    [concatBytes(fixed, fresh), name(1, 2), sid],
    [both, name(2, 1), sid],
    [both, name(1, 2), randomBytes(32)],
  ] as const) {
    expect(await fits(made.outgoing, await keyFrom(input, info, salt))).toBe(false);
  }
});

test("an ephemeral or static key that is not the peer's gives another channel", async () => {
  const [carol, ofBob] = [await side(1), await channel(bob, alice)];
  if (ofBob === null) throw new Error('the keys agree');
  for (const posing of [
    { ...alice, own: carol.own },
    { ...alice, ephemeral: carol.ephemeral },
  ]) {
    const made = await channel(posing, bob);
    expect(made === null ? null : await fits(made.outgoing, ofBob.incoming)).toBe(false);
  }
});

test('an ephemeral secret is not extractable, and each handshake has a new one', async () => {
  const [first, second] = [await newEphemeralKey(), await newEphemeralKey()];
  expect([first.secret.extractable, first.publicKey.length]).toEqual([false, 32]);
  await expect(crypto.subtle.exportKey('pkcs8', first.secret)).rejects.toThrow();
  expect(first.publicKey).not.toEqual(second.publicKey);
});

test.each(SMALL_ORDER)('a public key of small order gives no channel: %s', async (hex) => {
  expect(await channel(alice, bob, alice.ephemeral, hexToBytes(hex))).toBeNull();
  const pinned = await importPeer(party(2), { signing, exchange: hexToBytes(hex) });
  expect([await isUsableKey(alice.own, pinned), await isUsableKey(alice.own, bob.asPeer)]).toEqual([false, true]);
  const session = { sid, ephemeral: alice.ephemeral, peerKey: bob.ephemeral.publicKey };
  await expect(openChannel(alice.own, pinned, session)).rejects.toThrow('co-signer 2 must not have a small order');
});
