import { expect, test } from 'vitest';
import { parseDeviceKeyId, parseUserId, parseVaultId } from '#domain/id.ts';
import type { UserId } from '#domain/id.ts';
import type { Policy, PolicyFault } from '#domain/policy/policy.ts';
import { needsReceipts, policyBytes, policyFault, thresholdFor, thresholdForChange } from '#domain/policy/policy.ts';
import { readCanonical } from '#domain/canonical/read-text.ts';
import { NO_RULES } from '#domain/policy/rules.ts';
import { alice, amount, bob, carol, policy, transferExposure } from '../cast.ts';

/**
 * Covers which policies are valid, and which fields the policy hash covers.
 * test/domain/access/device.test.ts covers devices, and test/domain/policy/rules.test.ts covers
 * rules.
 */

function people(count: number): readonly UserId[] {
  return Array.from({ length: count }, (_, i) => {
    const id = parseUserId(`usr_${String(i).padStart(26, '0')}`);
    if (id === null) throw new Error('the id must parse');
    return id;
  });
}

const otherVault = parseVaultId(8) ?? policy.vaultId;
const [a, b, c] = [alice.userId, bob.userId, carol.userId];

const pins = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ index: i + 1, signing: String(i).repeat(64) }));

test.each<[string, Partial<Policy>, PolicyFault | null]>([
  ['nobody', { signers: [] }, 'no-signers'],
  ['one', { signers: [a], threshold: 1 }, null],
  ['fifty', { signers: people(50) }, null],
  ['fifty-one', { signers: people(51) }, 'too-many-signers'],
  ['the first signer twice', { signers: [a, a, b] }, 'signers-not-sorted'],
  ['the last one twice', { signers: [a, b, b] }, 'signers-not-sorted'],
  ['people in another order', { signers: [b, a, c] }, 'signers-not-sorted'],
  ['people in another order behind the first', { signers: [a, c, b] }, 'signers-not-sorted'],
  ['a threshold of zero', { threshold: 0 }, 'threshold-out-of-range'],
  ['a negative threshold', { threshold: -1 }, 'threshold-out-of-range'],
  ['a fractional threshold', { threshold: 1.5 }, 'threshold-out-of-range'],
  ['all of them', { threshold: 3 }, null],
  ['a threshold above the number of signers', { threshold: 4 }, 'threshold-out-of-range'],
  ['one co-signer that signs alone', { signingThreshold: 1 }, 'signing-threshold-out-of-range'],
  ['a fractional signing threshold', { signingThreshold: 2.5 }, 'signing-threshold-out-of-range'],
  ['more co-signers than there can be', { signingThreshold: 6 }, 'signing-threshold-out-of-range'],
  ['a signing threshold of half the co-signers', { cosigners: pins(4) }, 'signing-threshold-out-of-range'],
  ['more co-signers than it pins', { cosigners: pins(2), signingThreshold: 3 }, 'signing-threshold-out-of-range'],
])('a policy of %s', (_name, differences, fault) => {
  expect(policyFault({ ...policy, ...differences })).toBe(fault);
});

const more = (threshold: number) => [{ chain: 'eip155:31337', tokenAddress: null, above: amount('999'), threshold }];

test('an intent requires the highest approvals of any rule, and a policy change requires the highest of all', () => {
  const strict = { ...policy, rules: { ...NO_RULES, higherThresholds: more(3) } };
  expect([thresholdFor(policy, transferExposure()), thresholdForChange(policy)]).toEqual([2, 2]);
  expect([thresholdFor(strict, transferExposure()), thresholdForChange(strict)]).toEqual([3, 3]);
  const lax = { ...strict, rules: { ...NO_RULES, higherThresholds: more(1) } };
  expect([thresholdFor(lax, transferExposure()), thresholdForChange(lax)]).toEqual([2, 2]);
  const below = { ...transferExposure(), movements: [{ tokenAddress: null, amount: amount('999') }] };
  expect(thresholdFor(strict, below)).toBe(2);
});

test('the hashed form of a policy names each of its values', () => {
  const { domain, fields } = readCanonical(policyBytes(policy));
  expect(domain).toBe('conclave/policy/v3');
  expect(fields.slice(0, 11)).toEqual([
    ['vaultId', '7'],
    ['version', '1'],
    ['threshold', '2'],
    ['signingThreshold', '2'],
    ['previousHash', '0'.repeat(64)],
    ['signers', '3'],
    ['signer', a],
    ['signer', b],
    ['signer', c],
    ['approvalMode', 'token'],
    ['devices', '0'],
  ]);
  const keyId = parseDeviceKeyId(`dev_${'1'.repeat(32)}`);
  if (keyId === null) throw new Error('the id must parse');
  const device = { keyId, userId: a, algorithm: 'ed25519', publicKey: 'f'.repeat(64) } as const;
  const withDevice = readCanonical(policyBytes({ ...policy, devices: [device] })).fields;
  expect(withDevice.slice(10, 15)).toEqual([
    ['devices', '1'],
    ['device', keyId],
    ['userId', a],
    ['algorithm', 'ed25519'],
    ['publicKey', 'f'.repeat(64)],
  ]);
});

test.each<[string, Partial<Policy>]>([
  ['vault', { vaultId: otherVault }],
  ['version', { version: 2 }],
  ['threshold', { threshold: 3 }],
  ['policy before', { previousHash: '1'.repeat(64) }],
  ['signer less', { signers: [a, b] }],
  ['mode', { approvalMode: 'device' }],
  ['rule', { rules: { ...NO_RULES, higherThresholds: more(3) } }],
])('a change of %s gives another policy hash', (_name, differences) => {
  expect(policyBytes({ ...policy, ...differences })).not.toEqual(policyBytes(policy));
});

test('only a policy whose signatures every co-signer records requires their receipts', () => {
  const withRule = (signOnce: 'every-cosigner' | 'quorum') => ({ rules: { ...NO_RULES, signOnce } });
  expect(needsReceipts(withRule('every-cosigner'))).toBe(true);
  expect([withRule('quorum'), { rules: NO_RULES }, undefined].map(needsReceipts)).toEqual([false, false, false]);
});
