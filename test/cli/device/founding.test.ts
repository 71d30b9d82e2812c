import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bytesToHex } from '@noble/hashes/utils.js';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { ScriptDevice } from '#cli/device/script-device.ts';
import { sortedByKeyId } from '#domain/access/device.ts';
import { runCommand } from '#cli/command-line.ts';
import { deviceCommand } from '#cli/device/device.ts';
import { fingerprintOf } from '#devices/pin-fingerprint.ts';
import { mandateBytes } from '#domain/policy/policy-change.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { policyBytes } from '#domain/policy/policy.ts';
import { byDevice, laptop } from '../../cosigner/policy/device-scene.ts';
import { hashOf, mandateFor } from '../../devices/policy-links-scene.ts';
import { paperCosigner } from '../../devices/statement-scene.ts';
import { alice, policy as byToken, vaultId } from '../../domain/cast.ts';
import type { Service } from './service-scene.ts';
import { serve } from './service-scene.ts';

/** Covers the founding of a vault with the device command, by a service that may lie. */

const pins = [1, 2, 3].map((index) => paperCosigner(index).pin);
const first: Policy = { ...byDevice, cosigners: pins };

let folder: string;
let service: Service;
let shownPolicy = first;
let decidedBy = first;
beforeAll(async () => {
  service = await serve(({ url = '' }) => {
    if (url.endsWith('/approve')) return { state: 'PENDING' };
    const { id, createdAtMs, expiresAtMs } = mandateFor(shownPolicy, [], Date.now());
    const canonical = mandateBytes({ id: idIn(url) ?? id, note: null, createdAtMs, expiresAtMs }, hashOf(shownPolicy));
    const shown = (one: Policy) => ({ canonical: bytesToHex(policyBytes(one)) });
    const delivered = { keys: [], statements: [] };
    return { canonical: bytesToHex(canonical), policy: shown(shownPolicy), decidedBy: shown(decidedBy), ...delivered };
  });
});
afterAll(() => service.stop());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'conclave-founding-'));
  writeFileSync(join(folder, 'alice.pem'), laptop.secretPem(), { mode: 0o600 });
  vi.stubEnv('CONCLAVE_URL', service.url);
  vi.stubEnv('CONCLAVE_TOKEN', 'token');
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  process.exitCode = 0;
  rmSync(folder, { recursive: true });
});

const { id: changeId } = mandateFor(first, [], Date.now());
function idIn(url: string): typeof changeId | null {
  return url.includes(changeId) ? changeId : null;
}

/** Runs the command. Returns what it printed, and whether it sent a signature. */
async function approved(policy: Policy, before: Policy, ...words: readonly string[]) {
  [shownPolicy, decidedBy] = [policy, before];
  const lines: string[] = [];
  vi.spyOn(console, 'error').mockImplementation((line: unknown) => void lines.push(String(line)));
  const result = vi.spyOn(console, 'log').mockImplementation(() => {});
  const named = ['--vault', String(vaultId), '--change', changeId, '--key', join(folder, 'alice.pem')];
  await runCommand(deviceCommand, ['approve-policy', ...named, '--yes', ...words, '--bundled-node']);
  return { shown: lines.join('\n'), hasSigned: result.mock.calls.length > 0 };
}

const confirmed = ['--threshold', '2', '--fingerprint', fingerprintOf(pins)];
const pinned = () => existsSync(join(folder, 'alice.pem.pins.json'));

test('a founder reads every device, threshold and rule, and the device stores what it approved', async () => {
  const { shown, hasSigned } = await approved(first, first, ...confirmed);
  expect(hasSigned).toBe(true);
  const text = shown.replaceAll(/\s+/g, ' ');
  for (const { userId } of first.devices) expect(text).toContain(userId);
  for (const { keyId } of first.devices) expect(text.replaceAll(' ', '')).toContain(keyId);
  for (const part of ['Approval threshold: 2', 'Recipients: anyone', 'Found the vault with this policy']) {
    expect(text).toContain(part);
  }
  const { vaults } = JSON.parse(readFileSync(join(folder, 'alice.pem.pins.json'), 'utf8')) as {
    vaults: Record<string, unknown>;
  };
  const policy = { version: 1, hash: hashOf(first) };
  expect(vaults[String(vaultId)]).toEqual({ cosigners: pins, threshold: 2, policy, keyIds: [] });
});

/** The coordinator replaced the device of alice by one of its own. */
const others: Policy = {
  ...first,
  devices: sortedByKeyId([
    ...first.devices.filter(({ keyId }) => keyId !== laptop.keyId()),
    ScriptDevice.create().asDevice(alice.userId),
  ]),
};
const later: Policy = { ...first, version: 5, previousHash: 'ab'.repeat(32) };

test.each<[string, Policy, Policy, readonly string[], string]>([
  [
    'another fingerprint',
    first,
    first,
    ['--threshold', '2', '--fingerprint', fingerprintOf(pins.slice(0, 2))],
    'fingerprint',
  ],
  [
    'another signing threshold',
    first,
    first,
    ['--threshold', '3', ...confirmed.slice(2)],
    '2 co-signers sign together',
  ],
  ['a policy without this device', others, others, confirmed, 'does not contain this device'],
  [
    'a first policy that has a predecessor',
    { ...first, previousHash: 'ab'.repeat(32) },
    first,
    confirmed,
    'does not follow',
  ],
  ['a later policy that follows no policy in token mode', later, byToken, confirmed, 'does not follow'],
])('a founder signs nothing with %s', async (_what, policy, before, words, fault) => {
  const { shown, hasSigned } = await approved(policy, before, ...words);
  expect([hasSigned, pinned()]).toEqual([false, false]);
  expect(shown).toContain(fault);
});

test('the change from a policy in token mode is signed after the whole policy was shown, and pins nothing yet', async () => {
  const next: Policy = { ...first, version: 2, previousHash: hashOf(byToken) };
  const { shown, hasSigned } = await approved(next, byToken, ...confirmed);
  expect([hasSigned, pinned()]).toEqual([true, false]);
  expect(shown).toContain('Replaces: version 1, in token mode');
});
