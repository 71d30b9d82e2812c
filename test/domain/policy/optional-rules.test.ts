import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { describe, expect, test } from 'vitest';
import { hasRequiredDevice } from '#domain/policy/counted-approvals.ts';
import { sortedByKeyId } from '#domain/access/device.ts';
import type { OptionalRules } from '#domain/policy/optional-rules.ts';
import { defaultRules } from '#domain/policy/optional-rules.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { policyBytes, policyFault, thresholdFor } from '#domain/policy/policy.ts';
import { NO_RULES, ruleViolation } from '#domain/policy/rules.ts';
import { ScriptDevice } from '#cli/device/script-device.ts';
import { Authenticator } from '../../devices/authenticator.ts';
import { alice, amount, bob, carol, DIGEST, policy, transferExposure } from '../cast.ts';

const CHAIN = 'eip155:31337';

function under(rules: OptionalRules): Policy {
  return { ...policy, rules: { ...NO_RULES, ...rules } };
}

function hashOf(of: Policy): string {
  return bytesToHex(sha256(policyBytes(of)));
}

describe('the canonical bytes', () => {
  test('a policy without optional rules has a fixed hash', () => {
    expect(hashOf(policy)).toBe('92fa74816b921ca6e9e74388ce6ad81be0ec12bde1d80d2e75ce97d3b3209da9');
  });

  test.each<OptionalRules>([
    { signOnce: 'every-cosigner' },
    { signOnce: 'quorum' },
    { limitsIncludeFees: true },
    { limitsIncludeFees: false },
    { maxFees: [] },
    { maxFees: [{ chain: CHAIN, amount: amount('5') }] },
    { requiredDevice: 'any' },
    { requiredDevice: 'ed25519' },
    { unboundMessages: 'allow' },
    { unboundMessages: 'refuse' },
    { tokens: [] },
    { tokens: [{ chain: CHAIN, tokenAddress: '0xT', symbol: 'USDC', decimals: 6 }] },
    { tokens: [{ chain: CHAIN, tokenAddress: '0xT', symbol: 'USDC', decimals: 7 }] },
    { tokens: [{ chain: CHAIN, tokenAddress: '0xT', symbol: 'USD', decimals: 6 }] },
  ])('%o has its own hash', (rules) => {
    expect(hashOf(under(rules))).not.toBe(hashOf(policy));
  });

  test('the keys of the co-signers are part of the hash', () => {
    const [one, other] = ['11'.repeat(32), '22'.repeat(32)];
    const pinned = (first: string, second: string): Policy => ({
      ...policy,
      cosigners: [
        { index: 1, signing: first },
        { index: 2, signing: second },
      ],
    });
    expect(policyFault(pinned(one, other))).toBeNull();
    expect(hashOf(pinned(one, other))).not.toBe(hashOf(pinned(other, one)));
    expect(policyFault(pinned(one, one))).toBe('cosigners-malformed');
  });
});

describe('a new vault gets the default optional rules', () => {
  test.each([
    ['device', 2, 3, 'every-cosigner'],
    ['device', 3, 5, 'every-cosigner'],
    ['device', 3, 4, 'quorum'],
    ['device', 4, 5, 'quorum'],
    ['device', 3, 3, 'quorum'],
    ['token', 2, 3, 'quorum'],
  ] as const)('in %s mode with %i of %i co-signers: %s', (mode, threshold, count, signOnce) => {
    expect(defaultRules(mode, { threshold, count })).toMatchObject({ signOnce, limitsIncludeFees: true });
  });
});

describe('fees', () => {
  const exposure = { ...transferExposure(), fee: amount('100') };
  const limits = [{ chain: CHAIN, tokenAddress: null, perTransaction: amount('1099'), perDay: null }];

  test('fees count into a limit of the native asset only if the policy says so', () => {
    expect(ruleViolation(under({ limitsIncludeFees: true }).rules, exposure)).toBeNull();
    expect(ruleViolation({ ...NO_RULES, limits }, exposure)).toBeNull();
    expect(ruleViolation({ ...NO_RULES, limits, limitsIncludeFees: true }, exposure)).toMatchObject({
      rule: 'per-transaction',
      amount: '1100',
    });
  });

  test('fees do not count into the limit of a token', () => {
    const tokenAddress = '0x3333333333333333333333333333333333333333';
    const ofToken = [{ chain: CHAIN, tokenAddress, perTransaction: amount('1'), perDay: null }];
    expect(ruleViolation({ ...NO_RULES, limits: ofToken, limitsIncludeFees: true }, exposure)).toBeNull();
  });

  test('fees count toward the amount of a higher threshold', () => {
    const higherThresholds = [{ chain: CHAIN, tokenAddress: null, above: amount('1000'), threshold: 3 }];
    const stepped = (rules: OptionalRules): Policy => ({
      ...policy,
      rules: { ...NO_RULES, higherThresholds, ...rules },
    });
    expect(thresholdFor(stepped({}), exposure)).toBe(2);
    expect(thresholdFor(stepped({ limitsIncludeFees: true }), exposure)).toBe(3);
  });

  test('fees are limited only by the fee cap that the policy sets for their chain', () => {
    const capped = (chain: string, cap: string) => under({ maxFees: [{ chain, amount: amount(cap) }] }).rules;
    expect(ruleViolation(capped(CHAIN, '100'), exposure)).toBeNull();
    expect(ruleViolation(capped(CHAIN, '99'), exposure)).toEqual({ rule: 'max-fee', limit: '99', amount: '100' });
    expect(ruleViolation(capped('eip155:1', '99'), exposure)).toBeNull();
  });
});

test('a message that no chain binds is refused if the policy says so', () => {
  const unbound = { chain: CHAIN, movements: [], beneficiaries: [], isUnreadable: false, isUnbound: true } as const;
  expect(ruleViolation(under({ unboundMessages: 'refuse' }).rules, unbound)).toEqual({ rule: 'unbound-message' });
  expect(ruleViolation(under({ unboundMessages: 'allow' }).rules, unbound)).toBeNull();
  expect(ruleViolation(NO_RULES, unbound)).toBeNull();
  const { isUnbound, ...bound } = unbound;
  expect(isUnbound).toBe(true);
  expect(ruleViolation(under({ unboundMessages: 'refuse' }).rules, bound)).toBeNull();
});

describe('the rule that requires a device', () => {
  const [laptop, safe, phone] = [ScriptDevice.create(), ScriptDevice.create(), new Authenticator(bob.userId)];
  const devices = sortedByKeyId([laptop.asDevice(alice.userId), phone.passkey, safe.asDevice(carol.userId)]);
  const governed: Policy = { ...under({ requiredDevice: 'ed25519' }), approvalMode: 'device', devices };
  const by = (actor: typeof alice, keyId: (typeof devices)[number]['keyId']) => ({
    actor,
    digest: DIGEST,
    device: { keyId, signature: '', assertion: null },
    atMs: 0,
  });
  const [fromPhone, fromLaptop] = [
    by(bob, phone.passkey.keyId),
    by(alice, laptop.asDevice(alice.userId).keyId),
  ] as const;

  test('the rule is met when one counted approval comes from an Ed25519 device', () => {
    expect(hasRequiredDevice(DIGEST, [fromPhone], governed)).toBe(false);
    expect(hasRequiredDevice(DIGEST, [fromPhone, fromLaptop], governed)).toBe(true);
    expect(hasRequiredDevice('00'.repeat(32), [fromPhone, fromLaptop], governed)).toBe(false);
    expect(hasRequiredDevice(DIGEST, [fromPhone], { ...governed, rules: NO_RULES })).toBe(true);
  });

  test('the rule can exist only if the policy has an Ed25519 device of a signer', () => {
    expect(policyFault(governed)).toBeNull();
    expect(policyFault({ ...governed, approvalMode: 'token' })).toBe('required-device-missing');
    const onlyPhone = { ...governed, signers: [bob.userId], threshold: 1, devices: [phone.passkey] };
    expect(policyFault(onlyPhone)).toBe('required-device-missing');
  });
});
