import { utf8ToBytes } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { readPolicy } from '#devices/policy-document.ts';
import { InvalidDocument } from '#domain/canonical/field-reader.ts';
import { readMandate } from '#domain/policy/read-mandate.ts';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import type { CanonicalField } from '#domain/canonical/bytes.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { policyBytes } from '#domain/policy/policy.ts';
import { readCanonical } from '#domain/canonical/read-text.ts';
import { inCanonicalOrder } from '#domain/policy/rules.ts';
import { byDevice } from '../cosigner/policy/device-scene.ts';
import { amount, policy } from '../domain/cast.ts';
import { hashOf, mandateFor, successor } from './policy-links-scene.ts';

const CHAIN = 'eip155:31337';
const TOKEN = '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb';

const full: Policy = {
  ...byDevice,
  rules: inCanonicalOrder({
    recipients: 'address-book',
    unreadableThreshold: 3,
    addressBook: [{ chain: CHAIN, address: TOKEN, name: 'Landlord' }],
    limits: [
      { chain: CHAIN, tokenAddress: null, perTransaction: amount('5'), perDay: null },
      { chain: CHAIN, tokenAddress: TOKEN, perTransaction: null, perDay: amount('7') },
    ],
    higherThresholds: [{ chain: CHAIN, tokenAddress: null, above: amount('3'), threshold: 3 }],
    signOnce: 'every-cosigner',
    limitsIncludeFees: true,
    maxFees: [{ chain: CHAIN, amount: amount('9') }],
    requiredDevice: 'ed25519',
    unboundMessages: 'refuse',
    tokens: [{ chain: CHAIN, tokenAddress: TOKEN, symbol: 'USDC', decimals: 6 }],
  }),
  cosigners: [1, 2, 3].map((index) => ({ index, signing: `${index}f`.repeat(32) })),
};

/** Returns the canonical bytes of the full policy with one field changed. */
function altered(change: (fields: CanonicalField[]) => void): Uint8Array {
  const { domain, fields } = readCanonical(policyBytes(full));
  const copy = [...fields];
  change(copy);
  return canonicalBytes(domain, copy);
}

function set(name: string, value: string | null): Uint8Array {
  return altered((fields) => {
    const at = fields.findIndex(([field]) => field === name);
    if (at < 0) throw new Error(`there is no field ${name}`);
    fields[at] = [name, value];
  });
}

test('a policy is decoded from its canonical bytes, with all optional rules and with none', () => {
  for (const one of [policy, byDevice, full, successor(full, { threshold: 3 })]) {
    expect(readPolicy(policyBytes(one))).toEqual(one);
  }
});

test('bytes that are not canonical, or that hold an invalid policy, are refused', () => {
  expect(() => readPolicy(set('threshold', '02'))).toThrow(InvalidDocument);
  expect(() => readPolicy(set('threshold', 'NaN'))).toThrow(InvalidDocument);
  expect(() => readPolicy(set('unreadableThreshold', 'NaN'))).toThrow(InvalidDocument);
  expect(readPolicy(set('unreadableThreshold', '3'))).toEqual(full);
  expect(() => readPolicy(set('version', '0'))).toThrow(InvalidDocument);
  expect(() => readPolicy(set('threshold', null))).toThrow(InvalidDocument);
  expect(() => readPolicy(set('device', `dev_${'0'.repeat(32)}`))).toThrow(InvalidDocument);
  expect(() => readPolicy(set('limitsIncludeFees', 'yes'))).toThrow(InvalidDocument);
  expect(() => readPolicy(set('cosigners', '2'))).toThrow(InvalidDocument);
  expect(() => readPolicy(set('signing', 'AF'.repeat(32)))).toThrow(InvalidDocument);
  expect(() => readPolicy(set('devices', '9999999999'))).toThrow(InvalidDocument);
});

test('bytes with an extra field, a missing field or another domain string are refused', () => {
  expect(() => readPolicy(altered((fields) => void fields.push(['extra', '1'])))).toThrow(InvalidDocument);
  expect(() => readPolicy(altered((fields) => void fields.pop()))).toThrow(InvalidDocument);
  expect(() => readPolicy(altered((fields) => void fields.push(...fields.splice(0, 1))))).toThrow(InvalidDocument);
  expect(() => readPolicy(canonicalBytes('conclave/policy/v1', readCanonical(policyBytes(full)).fields))).toThrow(
    InvalidDocument,
  );
  expect(() => readPolicy(utf8ToBytes('conclave/policy/v3'))).toThrow(InvalidDocument);
  expect(() => readPolicy(new Uint8Array())).toThrow(InvalidDocument);
});

test('a mandate is decoded from its canonical bytes, and contains the hash of its policy', () => {
  const { bytes, id, createdAtMs, expiresAtMs } = mandateFor(full);
  expect(readMandate(bytes)).toEqual({ id, note: null, createdAtMs, expiresAtMs, policyHash: hashOf(full) });
  expect(() => readMandate(policyBytes(full))).toThrow(InvalidDocument);
  expect(() => readMandate(bytes.subarray(1))).toThrow(InvalidDocument);
});
