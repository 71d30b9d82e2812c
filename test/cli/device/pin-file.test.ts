import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PinFile } from '#cli/device/pin-file.ts';

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'conclave-pins-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const pinned = {
  cosigners: [1, 2, 3].map((index) => ({ index, signing: `${index}f`.repeat(32) })),
  threshold: 2,
  policy: { version: 3, hash: 'ab'.repeat(32) },
  keyIds: ['k'],
};

test('the pins of a vault are stored beside the device key, and pins of other vaults are kept', async () => {
  const file = new PinFile(join(folder, 'alice.pem'));
  expect(file.read(7)).toBeNull();
  file.write(7, pinned);
  file.write(8, { ...pinned, threshold: 3 });
  const again = new PinFile(join(folder, 'alice.pem'));
  expect([again.read(7), again.read(8)?.threshold, again.read(9)]).toEqual([pinned, 3, null]);
  expect(await readdir(folder)).toEqual(['alice.pem.pins.json']);
  expect((await stat(join(folder, 'alice.pem.pins.json'))).mode & 0o777).toBe(0o600);
});

test('a damaged pin file is an error, and is never read as a file without pins', async () => {
  const file = new PinFile(join(folder, 'bob.pem'));
  const swapped = pinned.cosigners.toReversed();
  const damaged = [
    '',
    '{}',
    JSON.stringify({ version: 3, vaults: {} }),
    JSON.stringify({ version: 2, vaults: { 7: { ...pinned, threshold: 1 } } }),
    JSON.stringify({ version: 2, vaults: { 7: { ...pinned, threshold: undefined } } }),
    JSON.stringify({ version: 2, vaults: { 7: { ...pinned, cosigners: swapped } } }),
    JSON.stringify({ version: 1, vaults: { 7: pinned } }),
  ];
  for (const text of damaged) {
    await writeFile(join(folder, 'bob.pem.pins.json'), text);
    expect(() => file.read(7)).toThrow();
    expect(() => file.write(7, pinned)).toThrow();
  }
});
