import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROTOCOL, protocolDigest, SUPPORTED_PROTOCOLS } from '#cosigner/protocol-version.ts';

const SOURCE = join(import.meta.dirname, '..', '..', '..', 'src');
const ROOMS = ['cosigner', 'devices', 'domain', 'mpc'];

/**
 * Patterns for the first argument of every hash function, and for every name that the project or a
 * standard suite defines.
 */
const NAMES = [
  /(?:taggedHash|longTaggedHash|oraclePrefix|hashToScalar)\(\s*['`]([^'`$]+)/gu,
  /['`](conclave\/[^'`$]+)['`]/gu,
  /'(FROST-[^']+)'/gu,
];

/** Domain names of data that no two co-signers compare, grouped by their use. */
const NOT_BETWEEN_COSIGNERS = [
  // Names of data that readers and signers verify, or that a signer's device or page sends.
  'conclave/cosigner-pins/v1',
  'conclave/export-list/v1',
  'conclave/policy-rejection/v1',
  'conclave/transaction-rejection/v1',
  'conclave/policy-statement/v2',
  'conclave/approval/answer',
  'conclave/approval/declined',
  'conclave/approval/enrolled',
  'conclave/approval/enrolment',
  'conclave/approval/hello',
  'conclave/approval/policy-view',
  'conclave/approval/request',
  'conclave/credential-reset-cancellation/v1',
  'conclave/device-request/v1',
  'conclave/database-owner/v1',
  // Names of hashes of settings, which the coordinator compares.
  'conclave/peers/v1',
  'conclave/secret-fingerprint/v1',
  // Names of signed requests of the coordinator.
  'conclave/cosigner-request/v1',
  // Names for keys that are derived from an identity secret, which never leaves its co-signer.
  'conclave/node-identity/v1/',
  // The name of the protocol digest itself.
  'conclave/protocol/v1',
  // Names of data that one co-signer stores or exports for itself.
  'conclave/recovery-package/v1',
  'conclave/recovery/v1',
  'conclave/sealed-record/v1',
  'conclave/sealed-record/v2',
];

function namesInSource(): readonly string[] {
  const files = ROOMS.flatMap((room) =>
    readdirSync(join(SOURCE, room), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && name !== 'protocol-version.ts')
      .map((name) => readFileSync(join(SOURCE, room, name), 'utf8')),
  );
  const found = files.flatMap((text) =>
    NAMES.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name]) => name)),
  );
  return [...new Set(found)].filter((name) => name !== undefined).toSorted((a, b) => (a < b ? -1 : 1));
}

test('the digest covers every tag and domain in the source', () => {
  const between = namesInSource().filter((name) => !NOT_BETWEEN_COSIGNERS.includes(name));
  expect(between).toEqual(PROTOCOL['DOMAINS']);
});

test('the protocol digest of this release is the recorded one, so a change of a constant is noticed', () => {
  // When the digest changes, the former value becomes the second of SUPPORTED_PROTOCOLS for one
  // release.
  expect(SUPPORTED_PROTOCOLS).toEqual([
    '7ee0ae1a8ce62be0681078b3987564a5c6b7ad8d07c14b454104e2634b862a93',
    'cd9f6f0a1c83d413bc2afcbe960fdeef418474e0a587602f9bf99448e05d8007',
  ]);
});

test('the digest changes with the value of each constant', () => {
  const [current] = SUPPORTED_PROTOCOLS;
  expect(Object.keys(PROTOCOL)).toEqual(expect.arrayContaining(['OT_INSTANCES', 'ENVELOPE_VERSION', 'REVISION']));
  for (const [name, value] of Object.entries(PROTOCOL)) {
    const changed = typeof value === 'number' ? value + 1 : [...value].slice(1);
    expect([name, protocolDigest({ ...PROTOCOL, [name]: changed }) === current]).toEqual([name, false]);
  }
  expect(protocolDigest({ ...PROTOCOL })).toBe(current);
});
