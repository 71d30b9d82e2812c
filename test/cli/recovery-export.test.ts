import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ed25519 } from '@noble/curves/ed25519.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { groupsOf, termFaults } from '#cli/recovery/terms.ts';
import { isRecoveryKey } from '#mpc/recovery/package.ts';
import type { RecoveryPackage } from '#mpc/recovery/package.ts';
import { party } from '../mpc/dealt-key.ts';
import type { Recovery } from '../attacks/recovery-scene.ts';
import { addressesIn, addressOf, CHAIN, startRecovery } from '../attacks/recovery-scene.ts';

/** Covers what `recover verify` and `recover open` read, and the faults that they name. */

let recovery: Recovery;
let packages: readonly RecoveryPackage[];
beforeAll(async () => {
  recovery = await startRecovery(4, 3);
  packages = await recovery.exported(recovery.deal());
});
afterAll(() => recovery.stop());

const first = (): RecoveryPackage => {
  const [one] = packages;
  if (one === undefined) throw new Error('co-signer 1 gave a package');
  return one;
};

test('honest packages have no fault, in any order', async () => {
  const verified = await recovery.verify('--chain', CHAIN, await recovery.file(packages.toReversed()));
  expect(verified).toMatchObject({ code: 0, errors: '' });
  expect(verified.output).toContain('Verified 4 packages of 1 keys.\n');
  expect(verified.output).toContain(`${first().keyId}: ecdsa-secp256k1, epoch 1, 3 of 4 co-signers\n  ${CHAIN} 0x`);
});

test('a public share that does not belong to the key is named', () => {
  const other = recovery.deal().publicShares;
  const replaced = (...nodes: readonly number[]) => ({
    ...first(),
    publicShares: Object.fromEntries(
      Object.entries(first().publicShares).map(([node, point]) => [
        node,
        nodes.includes(Number.parseInt(node, 10)) ? bytesToHex(other.get(party(Number.parseInt(node, 10)))!) : point,
      ]),
    ),
  });
  expect(termFaults(first())).toEqual([]);
  for (const node of [1, 2, 3, 4])
    expect(termFaults(replaced(node))).toEqual([`the public share of co-signer ${node} does not belong to the key`]);
  // Of three with two true ones nothing shows which are true.
  expect(termFaults(replaced(1, 2))).toEqual(['the public shares do not give the key']);
  expect(termFaults({ ...first(), publicShares: { ...first().publicShares, '2': `02${'00'.repeat(32)}` } })).toEqual([
    'the public share of co-signer 2 is no point',
  ]);
});

test('a threshold outside of its bounds, and a key of another id, are faults', () => {
  for (const threshold of [0, 1, 2, 5]) expect(termFaults({ ...first(), threshold })).toHaveLength(1);
  // More shares than are needed give the key as well.
  expect(termFaults({ ...first(), threshold: 4 })).toEqual([]);
  expect(termFaults({ ...first(), publicKey: first().publicShares['1'] ?? '' })).toEqual([
    'the key id is not that of the public key',
  ]);
});

test('shares under terms with one false public share still rebuild the key', async () => {
  const dealt = recovery.deal();
  const other = recovery.deal();
  const point = other.publicShares.get(party(2));
  if (point === undefined) throw new Error('co-signer 2 has a share');
  const publicShares = new Map(dealt.publicShares).set(party(2), point);
  const shares = new Map(dealt.shares).set(party(2), recovery.shareOf(other, 2).secret);
  const file = await recovery.file(await recovery.exported({ ...dealt, publicShares, shares }));
  const opened = await recovery.open(file);
  expect([opened.code, addressesIn(opened.output)]).toEqual([0, [addressOf(dealt)]]);
  expect(opened.errors).toContain('the public share of co-signer 2 does not belong to the key');
  expect((await recovery.verify(file)).errors).toContain('co-signer 2 does not belong to the key');
});

test('packages that too few co-signers signed rebuild a key only for an expected address', async () => {
  const dealt = recovery.deal();
  const exported = await recovery.exported(dealt);
  // Two identities were rotated since the export.
  const rotated = exported.map((one) => (one.node > 2 ? { ...one, signature: '00'.repeat(64) } : one));
  const file = await recovery.file(rotated);
  const opened = await recovery.open(file);
  expect([opened.code, addressesIn(opened.output)]).toEqual([1, []]);
  expect(opened.errors).toContain('fewer co-signers signed it than sign together');
  const expected = await recovery.open('--address', addressOf(dealt), file);
  expect([expected.code, addressesIn(expected.output)]).toEqual([0, [addressOf(dealt)]]);
  const other = addressOf(recovery.deal());
  const part = await recovery.open('--address', other, '--address', addressOf(dealt), file);
  expect([part.code, addressesIn(part.output)]).toEqual([1, [addressOf(dealt)]]);
  expect(part.errors).toContain(`${other}: no key has this address`);
  expect((await recovery.verify(file)).code).toBe(1);
});

test('a co-signer without a package, and one that PEERS does not name, are faults', async () => {
  const missing = await recovery.verify(await recovery.file(packages.slice(1)));
  expect(missing.errors).toBe(`${first().keyId}, co-signer 1: no package\n`);
  const stranger = { ...first(), node: 5 };
  const { secretKey } = ed25519.keygen();
  const signature = bytesToHex(ed25519.sign(new Uint8Array(), secretKey));
  const added = await recovery.verify(await recovery.file([...packages, { ...stranger, signature }]));
  expect(added.errors).toContain('co-signer 5: it has no public share');
  expect(added.errors).toContain('co-signer 5: not signed by the co-signer');
});

test('entries that are no packages, and files that are no exports, are named', async () => {
  const { signature, ...unsigned } = first();
  const entries: readonly unknown[] = [
    null,
    [],
    unsigned,
    { ...first(), signature: signature.slice(2) },
    { ...first(), node: 6 },
    { ...first(), epoch: 0 },
    { ...first(), epoch: 1.5 },
    { ...first(), version: 'conclave/recovery/v2' },
    { ...first(), keyId: `${first().keyId}\u001b` },
    { ...first(), publicShares: { ...first().publicShares, '01': first().publicKey } },
    { ...first(), recoveryKey: first().recoveryKey.toUpperCase() },
    { ...first(), extra: 1 },
  ];
  for (const entry of entries) {
    const verified = await recovery.verify(await recovery.file([entry, ...packages]));
    expect([entry, verified.code, verified.output]).toEqual([entry, 1, '']);
    expect(verified.errors).toMatch(/^\S+, package 1/);
  }
  const file = join(dirname(recovery.peersFile), 'broken.json');
  for (const text of [
    '',
    '[]',
    '{"packages":{}}',
    '{"packages":[],"more":1}',
    JSON.stringify({ packages: Array(1001) }),
  ]) {
    await writeFile(file, text);
    const verified = await recovery.verify(file);
    expect([text.slice(0, 30), verified.code, verified.output]).toEqual([text.slice(0, 30), 1, '']);
    expect(verified.errors).toMatch(/^\S+broken\.json is not/);
  }
  await writeFile(file, ' '.repeat(16 * 1024 * 1024 + 1));
  expect((await recovery.verify(file)).errors).toContain('has more than 16777216 bytes');
  // A recovery key that is named as a file by mistake is not printed.
  const secret = await recovery.verify(recovery.keyFiles[0] ?? '');
  expect([secret.code, secret.errors]).toEqual([1, `${recovery.keyFiles[0]} is not JSON.\n`]);
});

test('wrong options end with exit code 2', async () => {
  const file = await recovery.file(packages);
  for (const words of [
    ['--recovery-key', 'ab'],
    ['--recovery-key', `6=${'ab'.repeat(32)}`],
    ['--recovery-key', `1=${'ab'.repeat(32)}`, '--recovery-key', `1=${'cd'.repeat(32)}`],
    ['--chain', 'eip155'],
    ['--address', '0x0000000000000000000000000000000000000001'],
    ['--chain', CHAIN, '--address', '0xABCD'],
    ['--key', recovery.keyFiles[0] ?? ''],
  ]) {
    expect([words, (await recovery.verify(...words, file)).code]).toEqual([words, 2]);
  }
});

test('a recovery key of small order, or in another form than the canonical one, is none', () => {
  const littleEndian = (value: bigint) =>
    bytesToHex(Uint8Array.from({ length: 32 }, (_, i) => Number((value >> BigInt(8 * i)) & 255n)));
  const order = 2n ** 255n - 19n;
  const orderEight = [
    325606250916557431795983626356110631294008115727848805560023387167927233504n,
    39382357235489614581723060781553021112529911719440698176882885853963445705823n,
  ];
  for (const value of [0n, 1n, order - 1n, order, order + 1n, ...orderEight, 9n + 2n ** 255n])
    expect([value, isRecoveryKey(littleEndian(value))]).toEqual([value, false]);
  expect(isRecoveryKey(littleEndian(9n))).toBe(true);
  for (const recoveryKey of recovery.recoveryKeys) expect(isRecoveryKey(recoveryKey)).toBe(true);
});

test('every group of a size is tried once', () => {
  expect(groupsOf([1, 2, 3], 2)).toEqual([
    [1, 2],
    [1, 3],
    [2, 3],
  ]);
  expect(groupsOf([1], 2)).toEqual([]);
  expect(groupsOf([1, 2, 3, 4, 5], 3)).toHaveLength(10);
});
