import fc from 'fast-check';
import { expect, test } from 'vitest';
import { amountOf } from '#domain/asset/amount.ts';
import { readCanonical } from '#domain/canonical/read-text.ts';
import { parsePolicyChangeId, parseUserId } from '#domain/id.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { policyBytes } from '#domain/policy/policy.ts';
import type { Rules } from '#domain/policy/rules.ts';
import { describeChange, describeFounding } from '#review/describe-change.ts';
import { ALICE, BOB, pinsOf, policyOf, scriptOf, SUPPLIER, THIEF } from '../approval-page/request-scene.ts';

/** Covers the differences between two policies, and the warnings about lost protection. */

const CHAIN = 'eip155:31337';
const OTHER = 'eip155:1';
const carol = parseUserId('usr_01J00000000000000000000003') ?? ALICE;
const one = amountOf(1n);
const two = amountOf(2n);

const id = parsePolicyChangeId('pch_01J00000000000000000000003');
if (id === null) throw new Error('the id is valid');
const base = policyOf();
const { cosigners: _pins, ...withoutPins } = base;
const [honest, renewed, fourth] = [pinsOf('honest'), pinsOf('new'), pinsOf('new', 4)];
const mandate = { id, note: null, createdAtMs: 0, expiresAtMs: 1, policyHash: '00'.repeat(32) };
const changesOf = (before: Policy, after: Policy) =>
  describeChange(mandate, before, after).facts.filter(({ label }) => /^(Added|Removed|Changed)/.test(label));
const warningsOf = (before: Partial<Rules>, after: Partial<Rules>, more: Partial<Policy> = {}) => {
  const at = (rules: Partial<Rules>) => ({ ...base, rules: { ...base.rules, ...rules } });
  return describeChange(mandate, at(before), { ...at(after), ...more }).warnings;
};

const script = scriptOf(ALICE, 'laptop of alice');
const passkey = fc.record({
  keyId: fc.constant(scriptOf(BOB, 'phone of bob').keyId),
  algorithm: fc.constant('webauthn-p256' as const),
  userId: fc.constantFrom(BOB, ALICE),
  publicKey: fc.constantFrom('02'.repeat(33), '03'.repeat(33)),
  credentialId: fc.constantFrom('first-credential-id', 'other-credential-id'),
  rpId: fc.constantFrom('approve.example', 'example'),
  origin: fc.constantFrom('https://approve.example', 'https://approve.example:8443'),
});
const asset = { chain: fc.constantFrom(CHAIN, OTHER), tokenAddress: fc.constantFrom(null, SUPPLIER) };
const amount = fc.constantFrom(one, two);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const atMostOne = <T>(item: fc.Arbitrary<T>) => fc.array(item, { maxLength: 1 });

const anyRules = fc
  .record({
    recipients: fc.constantFrom('anyone' as const, 'address-book' as const),
    unreadableThreshold: fc.constantFrom(null, 1, 2),
    addressBook: atMostOne(
      fc.record({
        chain: asset.chain,
        address: fc.constantFrom(SUPPLIER, THIEF),
        name: fc.constantFrom('Supplier', '❤\uFE0F', '❤⟨U+FE0F⟩'),
      }),
    ),
    limits: atMostOne(fc.record({ ...asset, perTransaction: fc.option(amount), perDay: fc.option(amount) })),
    higherThresholds: atMostOne(fc.record({ ...asset, above: amount, threshold: fc.constantFrom(1, 2) })),
    signOnce: maybe(fc.constantFrom('quorum' as const, 'every-cosigner' as const)),
    limitsIncludeFees: maybe(fc.boolean()),
    maxFees: maybe(atMostOne(fc.record({ chain: asset.chain, amount }))),
    requiredDevice: maybe(fc.constantFrom('any' as const, 'ed25519' as const)),
    unboundMessages: maybe(fc.constantFrom('allow' as const, 'refuse' as const)),
    tokens: maybe(
      atMostOne(
        fc.record({
          chain: asset.chain,
          tokenAddress: fc.constantFrom(SUPPLIER, THIEF),
          symbol: fc.constantFrom('USDX', 'USDY'),
          decimals: fc.constantFrom(0, 1, 2),
        }),
      ),
    ),
  })
  .map(
    (rules) => Object.fromEntries(Object.entries(rules).filter(([, rule]) => rule !== undefined)) as unknown as Rules,
  );

const anyPolicy = fc
  .record({
    signers: fc.constantFrom([ALICE, BOB], [ALICE, carol], [ALICE]),
    threshold: fc.constantFrom(1, 2),
    signingThreshold: fc.constantFrom(2, 3),
    approvalMode: fc.constantFrom('token' as const, 'device' as const),
    devices: fc.oneof(
      fc.constant([]),
      fc.constant([script]),
      passkey.map((key) => [key]),
    ),
    rules: anyRules,
    cosigners: maybe(fc.constantFrom(honest, renewed, fourth)),
  })
  .map(({ cosigners, ...rest }): Policy => {
    return { ...withoutPins, ...rest, ...(cosigners === undefined ? {} : { cosigners }) };
  });

test('two policies with different encodings always show a difference, and equal ones show none', () => {
  const fields = (policy: Policy) => readCanonical(policyBytes(policy)).fields;
  const varied = new Set<string>();
  const all = new Set<string>();
  fc.assert(
    fc.property(anyPolicy, anyPolicy, fc.boolean(), (first, other, isSame) => {
      const second = isSame ? structuredClone(first) : other;
      const [before, after] = [fields(first), fields(second)];
      for (const [name] of [...before, ...after]) all.add(name);
      after.forEach(([name, value], i) => before[i]?.[0] === name && before[i][1] !== value && varied.add(name));
      const isEqual = JSON.stringify(before) === JSON.stringify(after);
      expect(changesOf(first, second).length === 0).toBe(isEqual);
    }),
    { numRuns: 6_000 },
  );
  // Every field of the encoding differs in some run. The version and the previous hash always do.
  const stable = ['vaultId', 'version', 'previousHash'];
  expect([...all].filter((name) => !varied.has(name) && !stable.includes(name))).toEqual([]);
});

test('a change of one field of a passkey is shown in a change that has other differences', () => {
  const key = { ...fc.sample(passkey, { numRuns: 1, seed: 1 })[0] } as Policy['devices'][number];
  const before = policyOf({ devices: [key] });
  const fields = { rpId: 'com', credentialId: 'another-credential-id', origin: 'https://example.org', userId: carol };
  for (const [name, value] of Object.entries(fields)) {
    const after = policyOf({ threshold: 1, devices: [{ ...key, [name]: value }] });
    expect(changesOf(before, after).map(({ label }) => label)).toEqual([
      'Changed: Approval threshold',
      'Changed: Device',
    ]);
  }
});

const limit = { chain: CHAIN, tokenAddress: null };
const step = { chain: CHAIN, tokenAddress: null, above: one, threshold: 3 };
const supplier = { chain: CHAIN, address: SUPPLIER, name: 'Supplier' };

/** The change back is as dangerous as the change. */
const SYMMETRIC = new Set(['stands for another address', 'another symbol or other decimals']);

test.each<[warning: string, before: Partial<Rules>, after: Partial<Rules>]>([
  [
    'looks like another asset: “USDC”',
    {},
    { tokens: [{ chain: OTHER, tokenAddress: SUPPLIER, symbol: 'USDC', decimals: 6 }] },
  ],
  [
    'looks like another asset: “ЕТН”',
    {},
    { tokens: [{ chain: OTHER, tokenAddress: SUPPLIER, symbol: 'ЕТН', decimals: 18 }] },
  ],
  [
    'looks like another asset: “ACME”',
    {},
    {
      tokens: [
        { chain: CHAIN, tokenAddress: SUPPLIER, symbol: 'ACME', decimals: 6 },
        { chain: CHAIN, tokenAddress: THIEF, symbol: 'ACME', decimals: 6 },
      ],
    },
  ],
  [
    'another symbol or other decimals',
    { tokens: [{ chain: CHAIN, tokenAddress: SUPPLIER, symbol: 'ACME', decimals: 6 }] },
    { tokens: [{ chain: CHAIN, tokenAddress: SUPPLIER, symbol: 'ACME', decimals: 18 }] },
  ],
  [
    'other decimals than the list of this build',
    {},
    {
      tokens: [
        { chain: OTHER, tokenAddress: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', symbol: 'USDC', decimals: 18 },
      ],
    },
  ],
  [
    'A limit is higher',
    { limits: [{ ...limit, perTransaction: one, perDay: null }] },
    { limits: [{ ...limit, perTransaction: two, perDay: null }] },
  ],
  ['A limit is higher', { limits: [{ ...limit, perTransaction: null, perDay: one }] }, { limits: [] }],
  ['An amount requires fewer', { higherThresholds: [step] }, { higherThresholds: [] }],
  ['An amount requires fewer', { higherThresholds: [step] }, { higherThresholds: [{ ...step, above: two }] }],
  [
    'A maximum fee is higher',
    { maxFees: [{ chain: CHAIN, amount: one }] },
    { maxFees: [{ chain: CHAIN, amount: two }] },
  ],
  ['A maximum fee is higher', { maxFees: [{ chain: CHAIN, amount: one }] }, {}],
  ['Fees no longer count', { limitsIncludeFees: true }, { limitsIncludeFees: false }],
  ['No Ed25519 device', { requiredDevice: 'ed25519' }, { requiredDevice: 'any' }],
  ['Receipts of every co-signer', { signOnce: 'every-cosigner' }, { signOnce: 'quorum' }],
  ['Blind signing is allowed', { unreadableThreshold: null }, { unreadableThreshold: 3 }],
  ['Blind signing requires fewer', { unreadableThreshold: 3 }, { unreadableThreshold: 2 }],
  ['valid on every chain', { unboundMessages: 'refuse' }, { unboundMessages: 'allow' }],
  [
    'new addresses',
    { recipients: 'address-book', addressBook: [supplier] },
    { recipients: 'address-book', addressBook: [supplier, { ...supplier, address: THIEF, name: 'Rent' }] },
  ],
  ['stands for another address', { addressBook: [supplier] }, { addressBook: [{ ...supplier, address: THIEF }] }],
  ['any address', { recipients: 'address-book' }, { recipients: 'anyone' }],
])('a change with the warning "%s" shows it, and the change back does not', (warning, before, after) => {
  const has = (texts: readonly string[]) => texts.some((text) => text.includes(warning));
  expect(has(warningsOf(before, after))).toBe(true);
  if (!SYMMETRIC.has(warning)) expect(has(warningsOf(after, before))).toBe(false);
});

test('a higher threshold that every transaction now requires is no weakening', () => {
  expect(warningsOf({ higherThresholds: [step] }, { higherThresholds: [] }, { threshold: 3 })).toEqual([]);
});

test('a quorum that depends on the passkeys of one page is a warning, when that begins', () => {
  const of = (userId: typeof ALICE, origin: string) => ({
    keyId: scriptOf(userId, `passkey of ${userId} at ${origin}`).keyId,
    algorithm: 'webauthn-p256' as const,
    userId,
    publicKey: '02'.repeat(33),
    credentialId: `credential of ${userId}`,
    rpId: new URL(origin).hostname,
    origin,
  });
  const [page, other] = ['https://approve.example', 'https://second.example'];
  const under = (...devices: Policy['devices']): Policy => {
    return { ...base, signers: [ALICE, BOB], threshold: 2, approvalMode: 'device', devices };
  };
  const both = under(of(ALICE, page), of(BOB, page));
  const mixed = under(of(ALICE, page), scriptOf(BOB, 'laptop'), of(BOB, page));
  const free = under(scriptOf(ALICE, 'laptop'), scriptOf(BOB, 'phone'), of(ALICE, page));
  const twoPages = under(of(ALICE, page), of(BOB, page), of(ALICE, other), of(BOB, other));
  const text = `Without the page ${page} no quorum`;
  const warns = (before: Policy, after: Policy) =>
    describeChange(mandate, before, after).warnings.some((warning) => warning.startsWith(text));
  expect([warns(free, both), warns(free, mixed), warns(free, twoPages), warns(both, mixed)]).toEqual([
    true,
    true,
    false,
    false,
  ]);
  expect(describeFounding(mandate, both, null).warnings.join(' ')).toContain(text);
  expect(describeFounding(mandate, free, null).warnings.join(' ')).not.toContain(text);
  expect(describeChange(mandate, free, { ...free, signers: [ALICE] }).warnings.join(' ')).toContain(
    'Removed signers: 1',
  );
});
