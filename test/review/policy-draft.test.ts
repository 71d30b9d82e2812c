import { bytesToHex } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { amountOf } from '#domain/asset/amount.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { policyBytes } from '#domain/policy/policy.ts';
import type { WrittenPatch } from '#review/policy-draft.ts';
import { draftReader } from '#review/policy-draft.ts';
import { ALICE, BOB, policyOf, scriptOf, SUPPLIER } from '../approval-page/request-scene.ts';

/** Covers the difference that the form for a policy change shows while it is edited. */

const [CHAIN, LIMIT] = ['eip155:1', amountOf(5n * 10n ** 18n)];
const keys = [scriptOf(ALICE, 'laptop of alice'), scriptOf(BOB, 'laptop of bob')];
const inForce = policyOf({
  threshold: 2,
  devices: keys.toSorted((a, b) => (a.keyId < b.keyId ? -1 : 1)),
  rules: {
    addressBook: [],
    recipients: 'anyone',
    limits: [{ chain: CHAIN, tokenAddress: null, perTransaction: LIMIT, perDay: null }],
    higherThresholds: [],
    unreadableThreshold: null,
    signOnce: 'quorum',
    limitsIncludeFees: true,
    requiredDevice: 'any',
    unboundMessages: 'allow',
  },
});
const { cosigners: _pins, ...unpinned } = inForce;
const inTokenMode: Policy = { ...unpinned, approvalMode: 'token', devices: [...inForce.devices] };

const read = (patch: WrittenPatch, { policy = inForce, isDraft = false } = {}) =>
  draftReader({ canonical: bytesToHex(policyBytes(policy)), isDraft })(patch);

function reviewed(...args: Parameters<typeof read>) {
  const result = read(...args);
  if (!result.ok) throw new Error(result.refusal.map(({ detail }) => detail).join(' '));
  return result.value;
}

function faultsOf(...args: Parameters<typeof read>) {
  const result = read(...args);
  return result.ok ? [] : result.refusal.map(({ pointer, code }) => [pointer, code]);
}

test('a lower threshold is shown with both numbers, and as a weakening', () => {
  expect(reviewed({ threshold: 1 })).toEqual({
    changes: [{ label: 'Changed: Approval threshold', text: 'from 2 to 1' }],
    warnings: [
      'A transaction requires fewer approvals than before.',
      'A policy change requires fewer approvals than before.',
    ],
    notes: [],
  });
});

test('chains are read by name, and addresses in the spelling that the service stores', () => {
  const { changes } = reviewed({
    limits: [{ chain: 'ethereum', tokenAddress: null, perTransaction: '7500000000000000000', perDay: null }],
    addressBook: [{ chain: 'ethereum', address: SUPPLIER.toLowerCase(), name: 'Supplier' }],
  });
  expect(changes.map(({ text }) => text)).toEqual([
    `“Supplier” is ${SUPPLIER}`,
    'from 5 ETH per transaction, no limit in 24 hours to 7.5 ETH per transaction, no limit in 24 hours',
  ]);
});

test('a draft that cannot be read names its field, and shows no difference', () => {
  const book = (address: string, chain = 'ethereum') => ({ addressBook: [{ chain, address, name: 'Supplier' }] });
  expect(faultsOf(book('0x12'))).toEqual([['/addressBook/0/address', 'malformed']]);
  expect(faultsOf(book(SUPPLIER.replace('C5', 'c5')))).toEqual([['/addressBook/0/address', 'bad-checksum']]);
  expect(faultsOf(book(SUPPLIER, 'moon'))).toEqual([['/addressBook/0/chain', 'unknown-chain']]);
  expect(faultsOf({ threshold: 3 })).toEqual([['/threshold', 'invalid']]);
  expect(faultsOf({ signers: [] })).toEqual([['/signers', 'invalid']]);
  expect(faultsOf({ signers: ['alice'] })).toEqual([['/signers/0', 'invalid']]);
  expect(faultsOf({ unreadableThreshold: 9 })).toEqual([['/higherThresholds', 'invalid']]);
  expect(faultsOf({ limits: [{ chain: 'ethereum', perTransaction: null, perDay: null }] })).toEqual([
    ['/limits', 'invalid'],
  ]);
});

test('what the service adds when device mode begins is announced, and not guessed', () => {
  const { changes, notes } = reviewed({ approvalMode: 'device' }, { policy: inTokenMode });
  expect(changes.map(({ label }) => label)).toEqual(['Changed: Approval method']);
  expect(notes).toHaveLength(2);
  const named = reviewed({ approvalMode: 'device', signOnce: 'every-cosigner' }, { policy: inTokenMode });
  expect(named.changes.map(({ label }) => label)).toContain('Changed: Co-signer receipts');
  expect(named.notes).toHaveLength(1);
});

test('a signer without a device can be drafted before the founding, and not afterwards', () => {
  const policy: Policy = { ...inForce, version: 1, devices: inForce.devices.slice(0, 1) };
  expect(faultsOf({ threshold: 1 }, { policy: inForce, isDraft: true })).toEqual([]);
  expect(() => draftReader({ canonical: bytesToHex(policyBytes(policy)).slice(2), isDraft: true })).toThrow();
  expect(faultsOf({ approvalMode: 'token' }, { policy: inForce, isDraft: true })).toEqual([
    ['/approvalMode', 'invalid'],
  ]);
  expect(faultsOf({ approvalMode: 'token' })).toEqual([]);
});
