import { bytesToNumberLE, numberToBytesLE } from '@noble/curves/utils.js';
import { ed25519 } from '@noble/curves/ed25519.js';
import { concatBytes } from '@noble/hashes/utils.js';
import { getAddressDecoder } from '@solana/kit';
import type { Address } from '@solana/kit';
import { expect, test } from 'vitest';
import { solanaRules } from '#chains/solana/rules/chain-rules.ts';
import { localCluster, message, Wallet } from '../cast.ts';

const rules = solanaRules(localCluster());
const wallet = new Wallet();
const text = message(wallet.address, 'Sign in to example.com');
const { bytes } = wallet.sign(rules.composeMessage(text).payload);

const isTaken = (signature: Uint8Array, from: Address = wallet.address) =>
  rules.assembleMessage({ ...text, from }, { bytes: signature }).ok;

/** These tests run in workerd, whose Ed25519 verification is stricter than the one of Node.js. */
test('a signature by the wallet over these bytes is accepted', () => {
  expect(isTaken(bytes)).toBe(true);
});

test('a signature with any changed byte, or of another length, is refused', () => {
  for (let at = 0; at < bytes.length; at++) {
    const changed = bytes.slice();
    changed[at]! ^= 1;
    expect(isTaken(changed), `byte ${at}`).toBe(false);
  }
  expect([isTaken(bytes.slice(0, -1)), isTaken(concatBytes(bytes, Uint8Array.of(0)))]).toEqual([false, false]);
});

test("a signature with a non-canonical scalar is refused, because it would change the transaction's hash", () => {
  const scalar = bytesToNumberLE(bytes.subarray(32)) + ed25519.Point.Fn.ORDER;
  expect(isTaken(concatBytes(bytes.subarray(0, 32), numberToBytesLE(scalar, 32)))).toBe(false);
});

test('a signature that fits every message, by a key of small order, is refused', () => {
  // With the identity for both points and the scalar 0, the equation of RFC 8032 holds for any
  // message.
  const identity = ed25519.Point.ZERO.toBytes();
  const from = getAddressDecoder().decode(identity);
  expect(isTaken(concatBytes(identity, new Uint8Array(32)), from)).toBe(false);
});

test('a signature for a wallet that is not a point of the curve is refused', () => {
  const from = getAddressDecoder().decode(new Uint8Array(32).fill(2));
  expect(() => ed25519.Point.fromBytes(new Uint8Array(32).fill(2))).toThrow('bad');
  expect(isTaken(bytes, from)).toBe(false);
});
