import { ed25519 } from '@noble/curves/ed25519.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { addressOn } from '#chains/inspect/address-on.ts';
import type { KeyScheme } from '#domain/asset/chain.ts';
import { walletKey } from '#mpc/derivation/derivation.ts';
import { keyIdOf } from '#mpc/keygen/confirm.ts';
import { keyFault } from '#review/statement-keys.ts';

const ANVIL = 'eip155:31337';
const BITCOIN = 'bip122:000000000019d6689c085ae165831e93';
const SOLANA = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
const SOLANA_DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';

function keyOf(scheme: KeyScheme) {
  const publicKey = scheme === 'frost-ed25519' ? ed25519.keygen().publicKey : secp256k1.keygen().publicKey;
  return { keyId: keyIdOf(scheme, publicKey), scheme, publicKey };
}

const named = ({ publicKey, ...key }: ReturnType<typeof keyOf>) => ({ ...key, publicKey: bytesToHex(publicKey) });

const walletOf = (key: ReturnType<typeof keyOf>, chain: string) => ({
  chain,
  address: addressOn(chain, key.scheme, walletKey(key, chain)) ?? '',
});

test.each<[KeyScheme, string]>([
  ['ecdsa-secp256k1', ANVIL],
  ['ecdsa-secp256k1', BITCOIN],
  ['frost-secp256k1-tr', BITCOIN],
  ['frost-ed25519', SOLANA],
])('a wallet of a key of %s on %s belongs to that key alone', (scheme, chain) => {
  const [key, other] = [keyOf(scheme), keyOf(scheme)];
  expect(keyFault([named(key)], walletOf(key, chain))).toBe(null);
  expect(keyFault([named(other)], walletOf(key, chain))).toBe('other-wallet');
  expect(keyFault([named(key)], walletOf(other, chain))).toBe('other-wallet');
});

test('a wallet on another network, or of another scheme, is not the wallet of the key', () => {
  const key = keyOf('frost-ed25519');
  const { address } = walletOf(key, SOLANA_DEVNET);
  expect(keyFault([named(key)], { chain: SOLANA, address })).toBe('other-wallet');
  expect(keyFault([named(key)], { chain: ANVIL, address })).toBe('other-wallet');
  expect(keyFault([named(key)], { chain: 'unknown:1', address })).toBe('other-wallet');
});

test('bytes that are no key are a fault, and throw nothing', () => {
  for (const bytes of ['ff'.repeat(33), 'ff'.repeat(32), '00', '0', 'zz']) {
    const keyId = /^(?:[0-9a-f]{2})+$/.test(bytes) ? keyIdOf('ecdsa-secp256k1', Buffer.from(bytes, 'hex')) : 'none';
    const key = { keyId, scheme: 'ecdsa-secp256k1', publicKey: bytes } as const;
    expect(keyFault([key], { chain: ANVIL, address: '0x' })).toBe('malformed-key');
  }
});

test('a request about a whole vault names any number of keys, each with the id of its public key', () => {
  const [key, other] = [named(keyOf('ecdsa-secp256k1')), named(keyOf('frost-ed25519'))];
  expect(keyFault([], null)).toBe(null);
  expect(keyFault([key, other], null)).toBe(null);
  expect(keyFault([key, { ...other, keyId: key.keyId }], null)).toBe('other-key-id');
  // The id names the scheme, so a key cannot be shown as one of another scheme.
  expect(keyFault([{ ...key, scheme: 'frost-secp256k1-tr' }], null)).toBe('other-key-id');
});
