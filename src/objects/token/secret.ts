import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, randomBytes, utf8ToBytes } from '@noble/hashes/utils.js';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The secret of a credential has 190 bits. */
export const SECRET_LENGTH = 32;

/** Returns the lower-case hex SHA-256 of a secret. Only this hash is stored. */
export function hashOfSecret(secret: string): string {
  return bytesToHex(sha256(utf8ToBytes(secret)));
}

/**
 * Returns the secret that replaces another one. The same seed gives another secret at the next
 * rotation, so no rotation restores a secret.
 *
 * @param seed 32 bytes that are uniform for every reader without them
 * @param before the hash of the replaced secret
 */
export function rotatedSecret(seed: Uint8Array, before: string): string {
  // 256 bits modulo 62^32: the first texts are favoured by less than 2^-65.
  return lastDigits(hmac(sha256, seed, utf8ToBytes(before)), SECRET_LENGTH);
}

/** Returns the last digits of a number, the bytes of which are big-endian, to base 62. */
export function lastDigits(bytes: Uint8Array, length: number): string {
  let number = BigInt(`0x${bytesToHex(bytes)}`);
  let text = '';
  for (let i = 0; i < length; i++) {
    text = ALPHABET.charAt(Number(number % 62n)) + text;
    number /= 62n;
  }
  return text;
}

/**
 * Returns uniform random text over the alphabet. Bytes from 248 on would favour its first letters,
 * so they are discarded.
 */
export function randomText(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < 248 && text.length < length) text += ALPHABET.charAt(byte % 62);
    }
  }
  return text;
}
