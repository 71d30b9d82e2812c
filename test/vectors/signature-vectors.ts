import { p256 } from '@noble/curves/nist.js';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { keyHashOf, witnessOf } from '#chains/bitcoin/rules/witness.ts';
import { parseDevice } from '#devices/device-key.ts';
import { verifyDeviceSignature } from '#devices/verify-signature.ts';
import { assertionFault } from '#devices/webauthn.ts';
import type { Passkey } from '#domain/access/device.ts';
import { verifyEd25519 } from '#mpc/ed25519.ts';
import { ORDER } from '#curve/scalar.ts';
import { alice, DIGEST } from '../domain/cast.ts';
import ecdsaP256 from './ecdsa-p256.json' with { type: 'json' };
import ecdsaSecp256k1 from './ecdsa-secp256k1.json' with { type: 'json' };
import ed25519 from './ed25519.json' with { type: 'json' };
import { casesOf, type WycheproofCase } from './wycheproof.ts';

/** The names of the cases on which a function disagrees with Wycheproof. */
async function mismatches(
  cases: readonly WycheproofCase[],
  verify: (one: WycheproofCase) => boolean | Promise<boolean>,
): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const one of cases) if ((await verify(one)) !== one.isValid) wrong.push(one.name);
  return wrong;
}

export function testSignatureVectors(): void {
  test('Ed25519 of Wycheproof: the signatures that RFC 8032 accepts in its strict reading are accepted, and no others', async () => {
    const cases = casesOf(ed25519);
    expect(cases.length).toBe(ed25519.kept);
    const wrong = await mismatches(cases, ({ signature, message, publicKey }) =>
      verifyEd25519(hexToBytes(signature), hexToBytes(message), hexToBytes(publicKey)),
    );
    expect(wrong).toEqual([]);
  });

  test('ECDSA secp256k1 of Wycheproof: every valid signature with a low s is a witness, and no other', async () => {
    const cases = casesOf(ecdsaSecp256k1);
    expect(cases.length).toBe(ecdsaSecp256k1.kept);
    const [recoverable, beyond] = [cases.filter((one) => !isBeyondParity(one)), cases.filter(isBeyondParity)];
    expect(await mismatches(recoverable, (one) => isWitness(lowered(one)))).toEqual([]);
    // The other half of s is the malleable form (BIP-146). The same signature is refused with it.
    const high = recoverable.filter((one) => one.isValid && lowered(one) !== one);
    expect(high.length).toBeGreaterThan(0);
    expect(high.filter(isWitness).map(({ name }) => name)).toEqual([]);
    // A value r whose R has x above the order is found under neither parity. `combinePartials`
    // never produces one.
    expect(beyond.map(({ flags, isValid }) => [flags, isValid]).length).toBeGreaterThan(0);
    expect(beyond.filter((one) => isWitness(lowered(one)))).toEqual([]);
  });

  test('ECDSA P-256 of Wycheproof: `verifies` accepts what a strict DER decoder and FIPS 186 accept', async () => {
    const cases = casesOf(ecdsaP256);
    expect(cases.length).toBe(ecdsaP256.kept);
    const wrong = await mismatches(cases, async ({ publicKey, signature, message }) => {
      const compact = strictDer(hexToBytes(signature));
      return compact !== null && verifyDeviceSignature(passkeyOf(publicKey), compact, hexToBytes(message));
    });
    expect(wrong).toEqual([]);
  });

  test('ECDSA P-256 of Wycheproof: an assertion with a malformed signature is malformed', async () => {
    const faults = new Map<string, Set<string>>();
    for (const { publicKey, signature, isValid, flags } of casesOf(ecdsaP256)) {
      const passkey = passkeyOf(publicKey);
      const fault = await assertionFault(passkey, DIGEST, assertionOf(passkey, hexToBytes(signature)));
      const kind = isValid ? 'valid' : flags;
      faults.set(kind, (faults.get(kind) ?? new Set()).add(String(fault)));
    }
    // No signature here signs this assertion, so each decoded signature must fail as wrong.
    expect(faults.get('valid')).toEqual(new Set(['wrong-signature']));
    for (const kind of ['BerEncodedSignature', 'InvalidTypesInSignature', 'MissingZero', 'InvalidEncoding']) {
      expect([kind, faults.get(kind)]).toEqual([kind, new Set(['malformed'])]);
    }
    for (const [kind, seen] of faults) expect([kind, seen.has('null')]).toEqual([kind, false]);
  });
}

/**
 * Reports whether R of a valid signature is at r + n, so that one bit of parity does not find it.
 */
function isBeyondParity({ isValid, signature, message, publicKey }: WycheproofCase): boolean {
  if (!isValid) return false;
  const [r = 0n, s = 0n] = [signature.slice(0, 64), signature.slice(64)].map((hex) => BigInt(`0x${hex}`));
  const { Point } = secp256k1;
  const inverse = Point.Fn.inv(s);
  const e = BigInt(`0x${Buffer.from(sha256(hexToBytes(message))).toString('hex')}`) % ORDER;
  const key = Point.fromHex(publicKey);
  const nonce = Point.BASE.multiplyUnsafe(Point.Fn.mul(e, inverse)).add(key.multiplyUnsafe(Point.Fn.mul(r, inverse)));
  return nonce.toAffine().x >= ORDER;
}

/** Returns the signature with the lower half of s. Wycheproof accepts both halves. */
function lowered(one: WycheproofCase): WycheproofCase {
  if (!one.isValid) return one;
  const s = BigInt(`0x${one.signature.slice(64)}`);
  if (s <= ORDER >> 1n) return one;
  return { ...one, signature: one.signature.slice(0, 64) + (ORDER - s).toString(16).padStart(64, '0') };
}

/** Reports whether a wallet with this key accepts the signature under one of both parities. */
function isWitness({ publicKey, message, signature }: WycheproofCase): boolean {
  const keyHash = keyHashOf(secp256k1.Point.fromHex(publicKey).toBytes(true));
  const bytes = hexToBytes(signature);
  const [r, s] = [bytes.slice(0, 32), bytes.slice(32)];
  return ([0, 1] as const).some((yParity) => {
    const witness = witnessOf({ type: 'p2wpkh', keyHash }, sha256(hexToBytes(message)), { r, s, yParity });
    return witness.ok;
  });
}

function strictDer(signature: Uint8Array): Uint8Array | null {
  try {
    return p256.Signature.fromBytes(signature, 'der').toBytes('compact');
  } catch {
    return null;
  }
}

function passkeyOf(publicKey: string): Passkey {
  const site = { credentialId: 'A'.repeat(22), rpId: 'vaults.example.com', origin: 'https://vaults.example.com' };
  const device = parseDevice({ userId: alice.userId, algorithm: 'webauthn-p256', publicKey, ...site });
  if (typeof device === 'string' || device.algorithm !== 'webauthn-p256') throw new Error('the key is on the curve');
  return device;
}

/** Returns an assertion about a digest whose signature is of another key. */
function assertionOf({ keyId, origin, rpId }: Passkey, signature: Uint8Array) {
  const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');
  const challenge = base64url(hexToBytes(DIGEST));
  const client = utf8ToBytes(JSON.stringify({ type: 'webauthn.get', challenge, origin, crossOrigin: false }));
  const data = concatBytes(sha256(utf8ToBytes(rpId)), Uint8Array.of(0b101, 0, 0, 0, 0));
  const assertion = { authenticatorData: base64url(data), clientDataJson: base64url(client) };
  return { keyId, signature: base64url(signature), assertion };
}
