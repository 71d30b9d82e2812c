/**
 * Attack: the thief records all traffic between co-signers, and later steals the identity secrets
 *   of some or all of them.
 * Attacker: thief-of-secrets
 * Co-signers: f
 * Finding: 2.6
 * Defence: envelopes are sealed under ephemeral keys of both sides, whose secrets are deleted at
 *   the end of the session.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ed25519, x25519 } from '@noble/curves/ed25519.js';
import { hkdf } from '@noble/hashes/hkdf.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes, randomBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { thresholdSign } from '../../cosigner/threshold-sign.ts';
import { identitySecrets } from '#mpc/identity.ts';
import { modOrder } from '#curve/scalar.ts';
import { encodePoint, GENERATOR, invertScalar, SECP256K1 } from '#mpc/secp256k1.ts';
import type { Cosigners } from '../../cosigner/cosigners.ts';
import { approvedTransfer, newKey, present, startCosigners } from '../../cosigner/cosigners.ts';
import { RefreshRun } from '../../cosigner/key/refresh-scene.ts';

/** The positions of the parts of an envelope. This layout is public. */
const [SID, ROUND, FROM, TO, IV, CIPHERTEXT, SIGNATURE_BYTES] = [1, 33, 34, 35, 36, 48, 64] as const;
const COSIGNERS = [1, 2, 3] as const;
/** The round of a dealing whose message is the value of a polynomial, in 32 bytes. */
const DEALING_ROUND = 3;

let all: Cosigners;
/** The recorded traffic: every request body and every answer, parsed. */
let recorded: readonly unknown[];
/** Every public share of every epoch, in hex. */
const publicShares = new Set<string>();

beforeAll(async () => {
  all = await startCosigners();
  const key = await newKey(all.all);
  const refreshed = await new RefreshRun(key).finish(all.all);
  const signed = await thresholdSign(all.some(1, 2), approvedTransfer({ key: refreshed }));
  if (!signed.ok) throw new Error(signed.reason);
  recorded = all.seen.map((text) => JSON.parse(text) as unknown);
  for (const { publicShares: points } of [key, refreshed])
    for (const point of Object.values(points)) publicShares.add(point);
});
afterAll(() => all.stop());

/** Returns the X25519 secrets of the co-signers whose identity secrets the thief has. */
type Loot = ReadonlyMap<number, Uint8Array>;

function lootOf(...indices: readonly number[]): Loot {
  const { cosigners }: { cosigners: readonly { identity: string }[] } = JSON.parse(
    readFileSync(join(all.folder, 'secrets.json'), 'utf8'),
  );
  return new Map(indices.map((i) => [i, identitySecrets(present(cosigners[i - 1]).identity).exchange]));
}

/** Returns the pinned X25519 key of every co-signer. These keys are public. */
function pinned(): ReadonlyMap<number, Uint8Array> {
  return new Map([...lootOf(...COSIGNERS)].map(([i, secret]) => [i, x25519.getPublicKey(secret)]));
}

/** Returns every value under this name anywhere in the traffic. */
function everyValueOf(name: string, within: unknown = recorded): unknown[] {
  if (typeof within !== 'object' || within === null) return [];
  const here = Array.isArray(within) ? [] : [(within as Record<string, unknown>)[name]];
  return [...here, ...Object.values(within).flatMap((one) => everyValueOf(name, one))].filter(
    (one) => one !== undefined,
  );
}

function recordedEnvelopes(): readonly Uint8Array[] {
  const texts = everyValueOf('envelopes').flatMap((one) => Object.values(one as Record<string, string>));
  return [...new Set(texts)].map((text) => Uint8Array.from(Buffer.from(text, 'base64')));
}

/**
 * Returns the first 32 bytes of each opening, which are an ephemeral public key if there is one.
 */
function recordedEphemeralKeys(): readonly Uint8Array[] {
  const texts = everyValueOf('opening').map(String);
  return [...new Set(texts)].map((text) => Uint8Array.from(Buffer.from(text, 'base64')).slice(0, 32));
}

/**
 * Yields the channel secrets that the thief can compute: from static with static keys, and from
 * static with ephemeral keys.
 */
function* secretsOf(loot: Loot, from: number, to: number, ephemeral: readonly Uint8Array[]): Generator<Uint8Array> {
  const keys = pinned();
  for (const [mine, theirs] of [
    [from, to],
    [to, from],
  ] as const) {
    const secret = loot.get(mine);
    if (secret === undefined) continue;
    const fixed = x25519.getSharedSecret(secret, present(keys.get(theirs)));
    yield fixed;
    yield concatBytes(new Uint8Array(32), fixed);
    for (const key of ephemeral) yield concatBytes(x25519.getSharedSecret(secret, key), fixed);
  }
}

/**
 * Opens an envelope with the secrets of the thief. Returns null if no secret fits. The thief need
 * not verify the signature.
 */
async function read(bytes: Uint8Array, loot: Loot, ephemeral: readonly Uint8Array[] = []): Promise<Uint8Array | null> {
  const [from, to] = [bytes[FROM] ?? 0, bytes[TO] ?? 0];
  for (const secret of secretsOf(loot, from, to, ephemeral)) {
    for (const name of ['conclave/envelope/v1', 'conclave/envelope/v2']) {
      const info = concatBytes(utf8ToBytes(name), Uint8Array.of(from, to));
      const raw = hkdf(sha256, secret, bytes.slice(SID, ROUND), info, 32);
      const key = await crypto.subtle.importKey('raw', Uint8Array.from(raw), 'AES-GCM', false, ['decrypt']);
      const parameters = { name: 'AES-GCM', iv: bytes.slice(IV, CIPHERTEXT), additionalData: bytes.slice(0, IV) };
      const sealed = bytes.slice(CIPHERTEXT, -SIGNATURE_BYTES);
      const opened = await crypto.subtle.decrypt(parameters, key, sealed).catch(() => null);
      if (opened !== null) return new Uint8Array(opened);
    }
  }
  return null;
}

/**
 * Returns the value of the line through two points. The share that a dealer keeps follows in this
 * way from the shares it sent.
 */
function onLine(
  x: number,
  [[a, fa], [b, fb]]: readonly [readonly [number, bigint], readonly [number, bigint]],
): bigint {
  const at = (i: number, k: number) => modOrder(BigInt(x - k) * invertScalar(modOrder(BigInt(i - k))));
  return modOrder(fa * at(a, b) + fb * at(b, a));
}

/** Returns every share that follows from the opened dealing messages and matches a public share. */
async function sharesStolenWith(loot: Loot): Promise<readonly string[]> {
  const dealings = new Map<string, Map<string, bigint>>();
  for (const bytes of recordedEnvelopes()) {
    const body = bytes[ROUND] === DEALING_ROUND ? await read(bytes, loot) : null;
    const value = body === null ? null : SECP256K1.parseScalar(body);
    if (value === null) continue;
    const sid = bytesToHex(bytes.slice(SID, ROUND));
    const dealing = dealings.get(sid) ?? new Map<string, bigint>();
    dealings.set(sid, dealing.set(`${bytes[FROM]} ${bytes[TO]}`, value));
  }
  const stolen: string[] = [];
  for (const dealt of dealings.values()) {
    for (const cosigner of COSIGNERS) {
      const [j, k] = COSIGNERS.filter((one) => one !== cosigner) as [number, number];
      const [toJ, toK] = [dealt.get(`${cosigner} ${j}`), dealt.get(`${cosigner} ${k}`)];
      const own =
        toJ === undefined || toK === undefined
          ? 0n
          : onLine(cosigner, [
              [j, toJ],
              [k, toK],
            ]);
      const share = modOrder(own + (dealt.get(`${j} ${cosigner}`) ?? 0n) + (dealt.get(`${k} ${cosigner}`) ?? 0n));
      const point = share === 0n ? '' : bytesToHex(encodePoint(GENERATOR.multiplyPublic(share)));
      if (publicShares.has(point)) stolen.push(point);
    }
  }
  return stolen;
}

test('the identity secret of one co-signer, stolen later, gives no share of any epoch', async () => {
  expect(publicShares.size).toBe(6);
  for (const cosigner of COSIGNERS)
    expect([cosigner, await sharesStolenWith(lootOf(cosigner))]).toEqual([cosigner, []]);
});

test('the identity secrets of all co-signers, stolen later, open no recorded envelope', async () => {
  const [envelopes, ephemeral] = [recordedEnvelopes(), recordedEphemeralKeys()];
  // The traffic has three pairings, a key with its proofs, three pairings, a refresh with its
  // proofs, and a signature.
  expect(envelopes.length).toBeGreaterThan(80);
  let opened = 0;
  for (const bytes of envelopes) if ((await read(bytes, lootOf(...COSIGNERS))) !== null) opened += 1;
  expect(opened).toBe(0);
  expect(await sharesStolenWith(lootOf(...COSIGNERS))).toEqual([]);
  // No static key with any ephemeral key opens an envelope either. One dealing is enough to show
  // this.
  const dealt = present(
    envelopes.find((bytes) => bytes[ROUND] === DEALING_ROUND && bytes.length === IV + 12 + 32 + 16 + 64),
  );
  expect(ephemeral.length).toBeGreaterThan(20);
  expect(await read(dealt, lootOf(...COSIGNERS), ephemeral)).toBeNull();
});

test('the thief can read an envelope that is sealed under static keys alone', async () => {
  const [loot, sid, iv, body] = [lootOf(1), randomBytes(32), randomBytes(12), randomBytes(32)];
  const header = concatBytes(Uint8Array.of(2), sid, Uint8Array.of(DEALING_ROUND, 2, 1));
  const secret = x25519.getSharedSecret(present(loot.get(1)), present(pinned().get(2)));
  const raw = hkdf(sha256, secret, sid, concatBytes(utf8ToBytes('conclave/envelope/v1'), Uint8Array.of(2, 1)), 32);
  const key = await crypto.subtle.importKey('raw', Uint8Array.from(raw), 'AES-GCM', false, ['encrypt']);
  const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv, additionalData: header }, key, body);
  const signed = concatBytes(header, iv, new Uint8Array(sealed));
  const envelope = concatBytes(signed, ed25519.sign(signed, randomBytes(32)));
  expect(await read(envelope, loot)).toEqual(body);
  expect(await read(envelope, lootOf(3))).toBeNull();
});
