import { expect, test } from 'vitest';
import type { Exposure } from '#domain/asset/exposure.ts';
import { totalOf } from '#domain/asset/exposure.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { policyFault, thresholdFor, thresholdForChange } from '#domain/policy/policy.ts';
import type { Rules } from '#domain/policy/rules.ts';
import {
  DAY_MS,
  dailyLimitViolation,
  inCanonicalOrder,
  highestThreshold,
  nameOf,
  NO_RULES,
  ruleViolation,
  ruleFields,
  rulesFault,
  triggeredThresholds,
} from '#domain/policy/rules.ts';
import { decide } from '#domain/transaction/transition.ts';
import {
  alice,
  amount,
  bob,
  carol,
  DIGEST,
  NOON_MS,
  policy,
  transactionIn,
  transferExposure,
  approvalBy,
} from '../cast.ts';

/**
 * Covers the rules of a policy beyond the threshold. The transfer in the tests pays 1000 units of
 * the native asset to 0x22…22.
 */

const CHAIN = 'eip155:31337';
const TOKEN = '0x3333333333333333333333333333333333333333';
const RECIPIENT = '0x2222222222222222222222222222222222222222';
const native = { chain: CHAIN, tokenAddress: null };
const transfer = transferExposure();
const unreadable: Exposure = { ...transfer, isUnreadable: true };

const rules = (differences: Partial<Rules>): Rules => ({ ...NO_RULES, ...differences });
const limit = (perTransaction: string | null, perDay: string | null, asset = native) => ({
  ...asset,
  perTransaction: perTransaction === null ? null : amount(perTransaction),
  perDay: perDay === null ? null : amount(perDay),
});
const under = (differences: Partial<Rules>): Policy => ({ ...policy, rules: rules(differences) });

test('a policy without rules forbids no transaction, not even an unreadable one', () => {
  expect([ruleViolation(NO_RULES, transfer), ruleViolation(NO_RULES, unreadable)]).toEqual([null, null]);
  expect(dailyLimitViolation(NO_RULES, transfer, () => 10n ** 30n)).toBeNull();
});

test('an address book is an allow-list only when the policy says so', () => {
  const addressBook = [{ chain: CHAIN, address: TOKEN, name: 'Dollar' }];
  expect(ruleViolation(rules({ addressBook }), transfer)).toBeNull();
  const closed = rules({ addressBook, recipients: 'address-book' });
  expect(ruleViolation(closed, transfer)).toEqual({ rule: 'address-book', address: RECIPIENT });
  const known = { ...closed, addressBook: [...addressBook, { chain: CHAIN, address: RECIPIENT, name: 'Bob' }] };
  expect([ruleViolation(known, transfer), nameOf(known, CHAIN, RECIPIENT)]).toEqual([null, 'Bob']);
  // On another chain the address belongs to another account.
  expect(ruleViolation(known, { ...transfer, chain: 'eip155:1' })).toMatchObject({ rule: 'address-book' });
  expect(ruleViolation(known, { ...unreadable, beneficiaries: [] })).toEqual({ rule: 'address-book', address: null });
});

test('an allow-list checks the counterparty of an unreadable call, and allows a transaction without a recipient', () => {
  const closed = rules({
    addressBook: [{ chain: CHAIN, address: RECIPIENT, name: 'Bob' }],
    recipients: 'address-book',
  });
  expect(ruleViolation(closed, unreadable)).toBeNull();
  expect(ruleViolation(closed, { ...transfer, beneficiaries: [] })).toBeNull();
});

test('a per-transaction limit allows an amount up to the limit, to the last unit', () => {
  expect(ruleViolation(rules({ limits: [limit('1000', null)] }), transfer)).toBeNull();
  expect(ruleViolation(rules({ limits: [limit('999', null)] }), transfer)).toEqual({
    rule: 'per-transaction',
    asset: native,
    limit: '999',
    amount: '1000',
  });
  const ofToken = limit('1', null, { chain: CHAIN, tokenAddress: TOKEN as never });
  expect(ruleViolation(rules({ limits: [ofToken] }), transfer)).toBeNull();
  expect(ruleViolation(rules({ limits: [limit('1', null, { ...native, chain: 'eip155:1' })] }), transfer)).toBeNull();
});

test('several movements of one asset are counted as their sum', () => {
  const twice = { ...transfer, movements: [...transfer.movements, ...transfer.movements] };
  expect(totalOf(twice, native)).toBe(2000n);
  expect(ruleViolation(rules({ limits: [limit('1999', null)] }), twice)).toMatchObject({ amount: '2000' });
});

test('the daily limit counts the amounts that were decided before on that day', () => {
  const daily = rules({ limits: [limit(null, '2500')] });
  expect(dailyLimitViolation(daily, transfer, () => 1500n)).toBeNull();
  expect(dailyLimitViolation(daily, transfer, () => 1501n)).toEqual({
    rule: 'per-day',
    asset: native,
    limit: '2500',
    amount: '1000',
    spent: '1501',
  });
  expect(dailyLimitViolation(rules({ limits: [limit('1', null)] }), transfer, () => 9999n)).toBeNull();
  // A limit never refuses a transaction that does not move its asset, however much was spent.
  expect(dailyLimitViolation(daily, { ...transfer, movements: [] }, () => 9999n)).toBeNull();
});

test('a higher threshold applies above its amount, and not at its amount', () => {
  const steps = (above: string) => ({ higherThresholds: [{ ...native, above: amount(above), threshold: 3 }] });
  expect(thresholdFor(under(steps('1000')), transfer)).toBe(2);
  expect(thresholdFor(under(steps('999')), transfer)).toBe(3);
  expect(thresholdFor(under({ higherThresholds: [{ ...native, above: amount('0'), threshold: 1 }] }), transfer)).toBe(
    2,
  );
});

test('an unreadable transaction requires the approvals that the policy names for it, or is refused', () => {
  expect(thresholdFor(under({ unreadableThreshold: 3 }), unreadable)).toBe(3);
  expect(thresholdFor(under({ unreadableThreshold: 3 }), transfer)).toBe(2);
  expect(ruleViolation(rules({ unreadableThreshold: null }), unreadable)).toEqual({ rule: 'unreadable' });
  expect(ruleViolation(rules({ unreadableThreshold: null }), transfer)).toBeNull();
});

test('each rule states by name how many approvals it requires', () => {
  const above = amount('999');
  const steps = { higherThresholds: [{ ...native, above, threshold: 3 }] };
  expect(triggeredThresholds(rules({ ...steps, unreadableThreshold: 2 }), unreadable)).toEqual([
    { rule: 'unreadable', approvals: 2, above: null },
    { rule: 'amount', approvals: 3, above },
  ]);
  expect(triggeredThresholds(rules({ unreadableThreshold: null }), unreadable)).toEqual([]);
  expect(triggeredThresholds(rules({ unreadableThreshold: 2 }), transfer)).toEqual([]);
});

test('a rule without a threshold requires one approval at most', () => {
  expect([highestThreshold(NO_RULES), highestThreshold(rules({ unreadableThreshold: null }))]).toEqual([1, 1]);
  expect(highestThreshold(rules({ unreadableThreshold: 2 }))).toBe(2);
});

test('the readable part of an unreadable transaction is checked too', () => {
  expect(ruleViolation(rules({ limits: [limit('999', null)] }), unreadable)).toMatchObject({ rule: 'per-transaction' });
  expect(dailyLimitViolation(rules({ limits: [limit(null, '999')] }), unreadable, () => 0n)).toMatchObject({
    rule: 'per-day',
  });
  const steps = { higherThresholds: [{ ...native, above: amount('999'), threshold: 3 }] };
  expect(thresholdFor(under(steps), unreadable)).toBe(3);
});

test('a policy change requires as many approvals as the highest requirement of the policy', () => {
  expect(thresholdForChange(policy)).toBe(2);
  expect(thresholdForChange(under({ unreadableThreshold: 3 }))).toBe(3);
  expect(thresholdForChange(under({ higherThresholds: [{ ...native, above: amount('1'), threshold: 3 }] }))).toBe(3);
});

const ofToken = (token: string, chain = CHAIN) => limit('1', null, { chain, tokenAddress: token as never });
/** The native asset of a chain comes before its tokens. */
const LIMITS = [
  limit('1', null, { chain: 'eip155:1', tokenAddress: null }),
  ofToken(TOKEN, 'eip155:1'),
  limit('1', null),
  ofToken(RECIPIENT),
  ofToken(TOKEN),
];
const entry = (address: string) => ({ chain: CHAIN, address, name: 'x' });
const token = (address: string, differences: object = {}) => {
  return { chain: CHAIN, tokenAddress: address as never, symbol: 'USDC', decimals: 6, ...differences };
};
const maxFee = (chain: string) => ({ chain, amount: amount('1') });
const MANY_CHAINS = Array.from({ length: 201 }, (_, i) => `eip155:${1000 + i}`);
const step = (above: string, threshold = 2) => ({ ...native, above: amount(above), threshold });

test.each<[string, Partial<Rules>, string | null]>([
  ['with nothing', {}, null],
  ['with an address twice', { addressBook: [entry('a'), entry('a')] }, 'rules-not-in-order'],
  ['with addresses out of order', { addressBook: [entry('b'), entry('a')] }, 'rules-not-in-order'],
  [
    'with more than the maximum of address-book entries',
    { addressBook: Array.from({ length: 201 }, (_, i) => entry(`${1000 + i}`)) },
    'too-many-rules',
  ],
  [
    'with exactly the maximum of address-book entries',
    { addressBook: Array.from({ length: 200 }, (_, i) => entry(`${1000 + i}`)) },
    null,
  ],
  [
    'with more than the maximum of limits',
    { limits: Array.from({ length: 201 }, (_, i) => limit('1', null, { ...native, chain: `eip155:${1000 + i}` })) },
    'too-many-rules',
  ],
  [
    'with more than the maximum of higher thresholds',
    { higherThresholds: Array.from({ length: 201 }, (_, i) => step(`${1000 + i}`)) },
    'too-many-rules',
  ],
  ['with a limit of a transaction alone', { limits: [limit('1', null)] }, null],
  ['with a limit of a day alone', { limits: [limit(null, '1')] }, null],
  ['with limits of assets in order', { limits: LIMITS }, null],
  ['with limits of assets in another order', { limits: LIMITS.toReversed() }, 'rules-not-in-order'],
  ['with a limit without bounds', { limits: [limit(null, null)] }, 'limit-without-a-bound'],
  ['with two limits of one asset', { limits: [limit('1', null), limit('2', null)] }, 'rules-not-in-order'],
  ['with steps by amount', { higherThresholds: [step('9'), step('10')] }, null],
  ['with steps by the text of the amount', { higherThresholds: [step('10'), step('9')] }, 'rules-not-in-order'],
  ['with a higher threshold above the number of signers', { higherThresholds: [step('1', 4)] }, 'step-out-of-range'],
  ['with a higher threshold of zero', { higherThresholds: [step('1', 0)] }, 'step-out-of-range'],
  ['with a fractional threshold', { unreadableThreshold: 1.5 }, 'step-out-of-range'],
  ['that refuses what is unreadable', { unreadableThreshold: null }, null],
  ['with tokens in order', { tokens: [token(RECIPIENT), token(TOKEN)] }, null],
  ['with tokens out of order', { tokens: [token(TOKEN), token(RECIPIENT)] }, 'rules-not-in-order'],
  [
    'with more than the maximum of tokens',
    { tokens: MANY_CHAINS.map((chain) => token(TOKEN, { chain })) },
    'too-many-rules',
  ],
  ['with a token without a symbol', { tokens: [token(TOKEN, { symbol: '' })] }, 'token-out-of-range'],
  ['with a token of no decimals', { tokens: [token(TOKEN, { decimals: 0 })] }, null],
  ['with a token of the most decimals', { tokens: [token(TOKEN, { decimals: 77 })] }, null],
  ['with a token of more decimals', { tokens: [token(TOKEN, { decimals: 78 })] }, 'token-out-of-range'],
  ['with a token of negative decimals', { tokens: [token(TOKEN, { decimals: -1 })] }, 'token-out-of-range'],
  ['with a token of half a decimal', { tokens: [token(TOKEN, { decimals: 1.5 })] }, 'token-out-of-range'],
  ['with fee caps in order', { maxFees: [maxFee('eip155:1'), maxFee('eip155:10')] }, null],
  ['with fee caps out of order', { maxFees: [maxFee('eip155:10'), maxFee('eip155:1')] }, 'rules-not-in-order'],
  ['with more than the maximum of fee caps', { maxFees: MANY_CHAINS.map(maxFee) }, 'too-many-rules'],
])('the validation handles rules %s', (_name, differences, fault) => {
  expect(rulesFault(rules(differences), 3)).toBe(fault);
  expect(policyFault(under(differences))).toBe(fault);
});

test('rules in any order are sorted into the order of the hashed form', () => {
  const right = rules({
    addressBook: [entry('a'), entry('b')],
    limits: LIMITS,
    higherThresholds: [step('9'), step('10')],
    maxFees: [maxFee('eip155:1'), maxFee('eip155:10')],
    tokens: [token(RECIPIENT), token(TOKEN)],
  });
  const { addressBook, limits, higherThresholds, maxFees = [], tokens = [] } = right;
  const mixed = {
    ...right,
    addressBook: addressBook.toReversed(),
    limits: [...limits.slice(2), ...limits.slice(0, 2)],
    higherThresholds: higherThresholds.toReversed(),
    maxFees: maxFees.toReversed(),
    tokens: tokens.toReversed(),
  };
  expect(rulesFault(mixed, 3)).toBe('rules-not-in-order');
  expect(inCanonicalOrder(mixed)).toEqual(right);
  expect(rulesFault(right, 3)).toBeNull();
});

test('a rule adopted after the creation of a transaction applies: the approval is refused and not counted', () => {
  const pending = transactionIn('SUBMITTED', { approvals: [approvalBy(alice)] });
  const closed = under({ recipients: 'address-book' });
  const decided = decide(
    pending,
    { type: 'approve', actor: bob, device: null, digest: DIGEST },
    { nowMs: NOON_MS, policy: closed, spentOf: () => 0n },
  );
  const breach = { rule: 'address-book', address: RECIPIENT };
  expect(decided).toEqual({ ok: false, refusal: { code: 'policy-forbids', breach } });
});

test('the daily limit applies to the approval that decides, and to no earlier one', () => {
  const context = { nowMs: NOON_MS, policy: under({ limits: [limit(null, '1500')] }), spentOf: () => 600n };
  const first = decide(
    transactionIn('SUBMITTED'),
    { type: 'approve', actor: alice, device: null, digest: DIGEST },
    context,
  );
  expect(first).toMatchObject({ ok: true, value: { changed: true } });
  const pending = transactionIn('SUBMITTED', { approvals: [approvalBy(alice)] });
  const approves = { type: 'approve', actor: bob, device: null, digest: DIGEST } as const;
  const second = decide(pending, approves, context);
  expect(second).toMatchObject({ ok: false, refusal: { code: 'policy-forbids', breach: { rule: 'per-day' } } });
  const later = decide(pending, approves, { ...context, spentOf: () => 500n });
  expect(later).toMatchObject({ ok: true, value: { transaction: { state: 'SIGNING' } } });
});

test('a transaction requires at least the approvals of its policy at creation, and the current policy can add more', () => {
  const pending = transactionIn('SUBMITTED', { approvals: [approvalBy(alice)], requiredApprovals: 3 });
  const now = { nowMs: NOON_MS, policy, spentOf: () => 0n };
  const second = decide(pending, { type: 'approve', actor: bob, device: null, digest: DIGEST }, now);
  expect(second).toMatchObject({ value: { transaction: { state: 'SUBMITTED' } } });
  const stricter = under({ higherThresholds: [{ ...native, above: amount('999'), threshold: 3 }] });
  const cheap = transactionIn('SUBMITTED', { approvals: [approvalBy(alice)] });
  const both = decide(
    cheap,
    { type: 'approve', actor: bob, device: null, digest: DIGEST },
    { ...now, policy: stricter },
  );
  expect(both).toMatchObject({ value: { transaction: { state: 'SUBMITTED' } } });
  const third = decide(
    transactionIn('SUBMITTED', { approvals: [approvalBy(alice), approvalBy(bob)] }),
    { type: 'approve', actor: carol, device: null, digest: DIGEST },
    { ...now, policy: stricter },
  );
  expect(third).toMatchObject({ value: { transaction: { state: 'SIGNING' } } });
});

test('the signed form of the rules has every field with its name, in one order', () => {
  const request = rules({
    recipients: 'address-book',
    unreadableThreshold: 3,
    addressBook: [{ chain: CHAIN, address: RECIPIENT, name: 'Bob' }],
    limits: [limit('1', null), limit(null, '2', { chain: CHAIN, tokenAddress: TOKEN as never })],
    higherThresholds: [{ ...native, above: amount('5'), threshold: 2 }],
  });
  expect(ruleFields(request)).toEqual([
    ['recipients', 'address-book'],
    ['unreadableThreshold', '3'],
    ['addressBook', '1'],
    ['chain', CHAIN],
    ['address', RECIPIENT],
    ['name', 'Bob'],
    ['limits', '2'],
    ['chain', CHAIN],
    ['tokenAddress', null],
    ['perTransaction', '1'],
    ['perDay', null],
    ['chain', CHAIN],
    ['tokenAddress', TOKEN],
    ['perTransaction', null],
    ['perDay', '2'],
    ['higherThresholds', '1'],
    ['chain', CHAIN],
    ['tokenAddress', null],
    ['above', '5'],
    ['threshold', '2'],
  ]);
  expect(ruleFields(rules({ unreadableThreshold: null }))).toEqual([
    ['recipients', 'anyone'],
    ['unreadableThreshold', null],
    ['addressBook', '0'],
    ['limits', '0'],
    ['higherThresholds', '0'],
  ]);
});

test('a day has 86,400 seconds', () => expect(DAY_MS).toBe(86_400_000));
