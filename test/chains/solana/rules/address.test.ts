import { ed25519 } from '@noble/curves/ed25519.js';
import { randomBytes } from '@noble/hashes/utils.js';
import { createAddressWithSeed } from '@solana/kit';
import { SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system';
import { findAssociatedTokenPda, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import { expect, test } from 'vitest';
import { addressOfPublicKey, bytesOf, parseMint, parseWallet, tokenAccountOf } from '#chains/solana/rules/address.ts';
import { addressOn } from '#chains/inspect/address-on.ts';
import { nonceAccountOf, nonceSeed } from '#chains/solana/rules/payment-terms.ts';
import { CLUSTER, stranger } from '../cast.ts';

test('the address of a key is the key itself, and is parsed back to it', () => {
  const key = ed25519.getPublicKey(randomBytes(32));
  const address = addressOfPublicKey(key);
  expect(bytesOf(address)).toEqual(key);
  expect(parseWallet(address)).toEqual({ ok: true, value: address });
  expect(() => addressOfPublicKey(new Uint8Array(32).fill(0xff))).toThrow();
});

test('derived addresses equal those of the SDK', async () => {
  for (let i = 0; i < 20; i++) {
    const [owner, mint] = [stranger(), stranger()];
    const [theirs] = await findAssociatedTokenPda({ owner, mint, tokenProgram: TOKEN_PROGRAM_ADDRESS });
    expect(tokenAccountOf(owner, mint)).toBe(theirs);
    const seeded = { baseAddress: owner, seed: nonceSeed(i), programAddress: SYSTEM_PROGRAM_ADDRESS };
    expect(nonceAccountOf(owner, i)).toBe(await createAddressWithSeed(seeded));
  }
});

test.each<[string, string, string]>([
  ['nothing', '', 'malformed'],
  ['an address of Ethereum', '0x70997970C51812dc3A010C7d01b50e0d17dc79C8', 'malformed'],
  ['letters that base58 does not have', '0OIl'.repeat(11), 'malformed'],
  ['31 bytes', '4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziof', 'malformed'],
  ['a space at the end', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v ', 'malformed'],
  ['the system program', '11111111111111111111111111111111', 'zero-address'],
  ['a token account', tokenAccountOf(stranger(), stranger()), 'off-curve'],
])('%s is not a valid recipient', (_name, text, refusal) => {
  expect(parseWallet(text)).toEqual({ ok: false, refusal });
});

test('the address of a mint may be program-derived', () => {
  const derived = tokenAccountOf(stranger(), stranger());
  expect(parseMint(derived)).toEqual({ ok: true, value: derived });
  expect(parseMint('no')).toEqual({ ok: false, refusal: 'malformed' });
});

test('a chain has an address only for a key of its own scheme', () => {
  const key = ed25519.getPublicKey(randomBytes(32));
  expect(addressOn(CLUSTER, 'frost-ed25519', key)).toBe(addressOfPublicKey(key));
  expect(addressOn(CLUSTER, 'ecdsa-secp256k1', key)).toBeNull();
  expect(addressOn('eip155:1', 'frost-ed25519', key)).toBeNull();
  expect(addressOn('solana:short', 'frost-ed25519', key)).toBeNull();
  expect(addressOn('cosmos:hub', 'frost-ed25519', key)).toBeNull();
});
