import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { x25519 } from '@noble/curves/ed25519.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';

/** Creates a key file that only its owner can read. Returns the public key in hex. */
export function newRecoveryKey(file: string): string {
  const { privateKey, publicKey } = generateKeyPairSync('x25519');
  writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flag: 'wx' });
  return hexOf(publicKey.export({ format: 'jwk' }).x);
}

/** Returns the secret key in hex. */
export function recoverySecretOf(file: string): string {
  const key = createPrivateKey(readFileSync(file, 'utf8'));
  if (key.asymmetricKeyType !== 'x25519' || createPublicKey(key).asymmetricKeyType !== 'x25519') {
    throw new Error('The recovery key is not an X25519 key.');
  }
  return hexOf(key.export({ format: 'jwk' }).d);
}

/** Returns the recovery key of a secret, both in hex. */
export function publicHalf(recoverySecret: string): string {
  return bytesToHex(x25519.getPublicKey(hexToBytes(recoverySecret)));
}

function hexOf(text: string | undefined): string {
  return Buffer.from(text ?? '', 'base64url').toString('hex');
}
