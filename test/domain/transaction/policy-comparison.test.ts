import { expect, test } from 'vitest';
import { newTransactionId } from '#domain/id.ts';
import type { PastTransaction } from '#domain/transaction/policy-comparison.ts';
import { comparePolicies } from '#domain/transaction/policy-comparison.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { Rules } from '#domain/policy/rules.ts';
import { DAY_MS, NO_RULES } from '#domain/policy/rules.ts';
import type { TransactionState } from '#domain/transaction/transaction.ts';
import {
  amount,
  CREATED_AT_MS,
  FRAME,
  messageIntent,
  policy,
  transferExposure,
  transferIntent,
  vaultId,
} from '../cast.ts';

/** Covers what another policy would have decided about the last transactions. */

const NATIVE = { chain: FRAME.chain, tokenAddress: null };

/** Returns a payment, its time in hours after the first one. */
function payment(hours: number, units: string, state: TransactionState = 'SUCCEEDED'): PastTransaction {
  const createdAtMs = CREATED_AT_MS + (hours * DAY_MS) / 24;
  return {
    id: newTransactionId(vaultId, createdAtMs, new Uint8Array(10)),
    intent: { ...transferIntent(), amount: amount(units) },
    exposure: { ...transferExposure(), movements: [{ tokenAddress: null, amount: amount(units) }] },
    state,
    createdAtMs,
  };
}

const ruled = (rules: Partial<Rules>, more: Partial<Policy> = {}): Policy => ({
  ...policy,
  ...more,
  rules: { ...NO_RULES, ...rules },
});

/** Compares payments, the oldest first. Returns the differences by position in the list. */
function differences(payments: readonly PastTransaction[], proposed: Policy, inForce: Policy = policy) {
  const found = comparePolicies(payments.toReversed(), { inForce, proposed });
  return found
    .toReversed()
    .map(({ id, before, after }) => [
      payments.findIndex((one) => one.id === id),
      before.forbiddenBy?.rule ?? before.requiredApprovals,
      after.forbiddenBy?.rule ?? after.requiredApprovals,
    ]);
}

const daily = (limit: string) => ruled({ limits: [{ ...NATIVE, perTransaction: null, perDay: amount(limit) }] });

test('two equal policies decide alike, and none of no transactions differs', () => {
  expect(differences([payment(0, '5')], policy)).toEqual([]);
  expect(differences([], ruled({}, { threshold: 3 }))).toEqual([]);
});

test('more and fewer approvals are both differences, and a step counts only above its amount', () => {
  const payments = [payment(0, '10'), payment(1, '11')];
  const stepped = ruled({ higherThresholds: [{ ...NATIVE, above: amount('10'), threshold: 3 }] });
  expect(differences(payments, stepped)).toEqual([[1, 2, 3]]);
  expect(differences(payments, policy, stepped)).toEqual([[1, 3, 2]]);
});

test('a payment to an address that resembles a known one keeps its extra approval under both policies', () => {
  const like = payment(0, '10');
  const intent = { ...transferIntent(), lookalikeOf: '0x2222222222222222222222222222222222222223' };
  expect(differences([{ ...like, intent }], ruled({}, { threshold: 1 }))).toEqual([[0, 3, 2]]);
});

test('a payment to an address outside the address book is refused, and one that both refuse does not differ', () => {
  const book = ruled({ recipients: 'address-book' });
  expect(differences([payment(0, '10')], book)).toEqual([[0, 2, 'address-book']]);
  expect(differences([payment(0, '10')], policy, book)).toEqual([[0, 'address-book', 2]]);
  const both = ruled({
    recipients: 'address-book',
    limits: [{ ...NATIVE, perTransaction: amount('1'), perDay: null }],
  });
  expect(differences([payment(0, '10')], both, book)).toEqual([]);
});

test('a daily limit counts the 24 hours before a payment, and not the payment at their end', () => {
  expect(differences([payment(0, '60'), payment(23, '60')], daily('100'))).toEqual([[1, 2, 'per-day']]);
  expect(differences([payment(0, '60'), payment(24, '60')], daily('100'))).toEqual([]);
  expect(differences([payment(0, '60'), payment(1, '40')], daily('100'))).toEqual([]);
});

test('a daily limit counts no payment that it refuses, and none that spent nothing', () => {
  expect(differences([payment(0, '101'), payment(1, '100')], daily('100'))).toEqual([[0, 2, 'per-day']]);
  for (const state of ['SUBMITTED', 'REJECTED', 'CANCELLED', 'EXPIRED', 'FAILED'] as const) {
    expect(differences([payment(0, '60', state), payment(1, '60')], daily('100'))).toEqual([]);
  }
  for (const state of ['SIGNING', 'BROADCAST', 'CONFIRMING'] as const) {
    expect(differences([payment(0, '60', state), payment(1, '60')], daily('100'))).toEqual([[1, 2, 'per-day']]);
  }
});

test('each policy counts fees by its own rule', () => {
  const withFee = (hours: number) => {
    const paid = payment(hours, '45');
    return { ...paid, exposure: { ...paid.exposure, fee: amount('10') } };
  };
  const { limits } = daily('100').rules;
  const payments = [withFee(0), withFee(1)];
  expect(differences(payments, ruled({ limits, limitsIncludeFees: true }), ruled({ limits }))).toEqual([
    [1, 2, 'per-day'],
  ]);
});

test('a message is compared by the rules for messages', () => {
  const message: PastTransaction = {
    ...payment(0, '0'),
    intent: messageIntent(),
    exposure: { chain: FRAME.chain, movements: [], beneficiaries: [], isUnreadable: false, isUnbound: true },
  };
  expect(differences([message], ruled({ unboundMessages: 'refuse' }))).toEqual([[0, 2, 'unbound-message']]);
});
