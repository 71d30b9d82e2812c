import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import type { Point } from '#mpc/secp256k1.ts';
import { SECRETS } from '#mpc/secp256k1.ts';

const PROJECT = resolve(import.meta.dirname, '../..');

/** Returns the files under src/ and cli/ whose text has this word. */
function filesWith(word: RegExp): readonly string[] {
  const own = ['src', 'cli'].flatMap((folder) =>
    readdirSync(resolve(PROJECT, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  );
  return own
    .filter((file) => file.endsWith('.ts') && word.test(readFileSync(resolve(PROJECT, file), 'utf8')))
    .toSorted();
}

test('only the arithmetic of the groups reads the bytes of a secret scalar', () => {
  expect(filesWith(/\.secretBytes\b|\{ secretBytes \}/)).toEqual([
    'src/mpc/ecdsa/scalar-words.ts',
    'src/mpc/ed25519.ts',
    'src/mpc/secp256k1.ts',
  ]);
});

test('a secret scalar is revealed only to be sealed, or when it is public from then on', () => {
  expect(filesWith(/\b(?:secrets|SECRETS)\.reveal\b/)).toEqual([
    // The key of a wallet, on the offline machine of a recovery.
    'cli/recovery/open.ts',
    // The same key where it signs, and the scalar of a signature.
    'cli/recovery/whole-key.ts',
    // psi, eta, and the parts of a signature.
    'src/mpc/ecdsa/messages.ts',
    // The share is hashed into each nonce.
    'src/mpc/frost/commit.ts',
    // The share of a signature.
    'src/mpc/frost/sign.ts',
    // The value for another co-signer, which the channel encrypts.
    'src/mpc/keygen/distribute.ts',
    // The response of a proof.
    'src/mpc/keygen/proof-of-knowledge.ts',
    'src/mpc/recovery/package.ts',
    'src/mpc/share.ts',
  ]);
});

test('a secret scalar fits no function of public scalars, and no public scalar one of secrets', () => {
  const calls = (point: Point) => [
    // @ts-expect-error -- the time of this product depends on the scalar
    () => point.multiplyPublic(SECRETS.random()),
    // @ts-expect-error -- the same
    () => point.combine(SECRETS.random(), 1n),
    // @ts-expect-error -- a number is no secret scalar
    () => point.multiply(1n),
  ];
  expect(calls.length).toBe(1);
});
