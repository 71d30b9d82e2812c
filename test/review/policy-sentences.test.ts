import { bytesToHex } from '@noble/hashes/utils.js';
import { expect, test } from 'vitest';
import { amountOf } from '#domain/asset/amount.ts';
import { parseUserId } from '#domain/id.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { policyBytes } from '#domain/policy/policy.ts';
import type { Rules } from '#domain/policy/rules.ts';
import { NO_RULES } from '#domain/policy/rules.ts';
import { policySentences, readSentences } from '#review/policy-sentences.ts';
import { ALICE, BOB, policyOf, SUPPLIER } from '../approval-page/request-scene.ts';

/** Covers the sentences about the policy in force. */

const CHAIN = 'eip155:1';
const USDC = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
const carol = parseUserId('usr_01J00000000000000000000003') ?? ALICE;

function sentences(rules: Partial<Rules>, more: Partial<Policy> = {}): Readonly<Record<string, string>> {
  const policy = policyOf({ signers: [ALICE, BOB, carol], threshold: 2, rules: { ...NO_RULES, ...rules }, ...more });
  return Object.fromEntries(policySentences(policy).map(({ label, text }) => [label, text.replaceAll('\u202f', ' ')]));
}

const usdc = { chain: CHAIN, tokenAddress: USDC };
const units = (whole: bigint) => amountOf(whole * 10n ** 6n);
const step = (above: bigint, threshold: number) => ({ ...usdc, above: units(above), threshold });
const limit = (perTransaction: bigint | null, perDay: bigint | null) => ({
  ...usdc,
  perTransaction: perTransaction === null ? null : units(perTransaction),
  perDay: perDay === null ? null : units(perDay),
});
const usdcText = (rules: Partial<Rules>, more: Partial<Policy> = {}) => sentences(rules, more)['USDC on ethereum'];

test('a policy without rules is one sentence about payments', () => {
  expect(sentences({})).toMatchObject({
    Payments: 'Any amount: 2 of 3.',
    Recipients: 'Any address.',
    'Undecodable calls': 'At least 2 of 3.',
    'Policy changes': '2 of 3.',
    Fees: 'Fees do not count toward these amounts.',
  });
});

test('a threshold of 1 is written like any other', () => {
  expect(sentences({}, { threshold: 1 })['Payments']).toBe('Any amount: 1 of 3.');
});

test('a step divides the amounts, and every asset without a rule has the threshold', () => {
  const read = sentences({ higherThresholds: [step(50_000n, 3)] });
  expect(read['USDC on ethereum']).toBe('Up to 50 000 USDC: 2 of 3. Above: 3 of 3.');
  expect(read['Other assets']).toBe('Any amount: 2 of 3.');
  expect(read['Policy changes']).toBe('3 of 3.');
});

test('several steps of one asset are in the order of their amounts', () => {
  const higherThresholds = [step(50_000n, 3), step(1_000n, 2)];
  expect(usdcText({ higherThresholds }, { threshold: 1 })).toBe(
    'Up to 1 000 USDC: 1 of 3. Up to 50 000 USDC: 2 of 3. Above: 3 of 3.',
  );
});

test('a step that requires no more than a lower one, or than the threshold, is not named', () => {
  expect(usdcText({ higherThresholds: [step(10n, 1), step(20n, 2)] })).toBe('Any amount: 2 of 3.');
  expect(usdcText({ higherThresholds: [step(10n, 3), step(20n, 2)] })).toBe('Up to 10 USDC: 2 of 3. Above: 3 of 3.');
});

test('a step above 0 is about any amount', () => {
  expect(usdcText({ higherThresholds: [step(0n, 3)] })).toBe('Any amount: 3 of 3.');
});

test('a limit ends the amounts, and a step above it is never reached', () => {
  const limits = [limit(10_000n, null)];
  expect(usdcText({ limits })).toBe('Up to 10 000 USDC: 2 of 3. Above: refused.');
  for (const above of [10_000n, 50_000n]) {
    expect(usdcText({ limits, higherThresholds: [step(above, 3)] })).toBe('Up to 10 000 USDC: 2 of 3. Above: refused.');
  }
  expect(usdcText({ limits, higherThresholds: [step(9_999n, 3)] })).toBe(
    'Up to 9 999 USDC: 2 of 3. Up to 10 000 USDC: 3 of 3. Above: refused.',
  );
  expect(usdcText({ limits: [limit(0n, null)] })).toBe('Any amount: refused.');
});

test('a daily limit below the limit of a transaction ends the amounts, too', () => {
  expect(usdcText({ limits: [limit(10_000n, 5_000n)] })).toBe(
    'Up to 5 000 USDC: 2 of 3. Above: refused. In 24 hours: at most 5 000 USDC.',
  );
  expect(usdcText({ limits: [limit(null, 5_000n)] })).toBe(
    'Up to 5 000 USDC: 2 of 3. Above: refused. In 24 hours: at most 5 000 USDC.',
  );
});

test('an amount of an unknown token is in raw units, and one of a token of the policy in its units', () => {
  const asset = { chain: CHAIN, tokenAddress: SUPPLIER };
  const limits = [{ ...asset, perTransaction: amountOf(2_500_000n), perDay: null }];
  expect(sentences({ limits })['Unknown token on ethereum']).toBe(
    'Up to 2 500 000 raw units of an unknown token: 2 of 3. Above: refused.',
  );
  const tokens = [{ ...asset, symbol: 'ACME', decimals: 6 }];
  expect(sentences({ limits, tokens })['ACME on ethereum']).toBe('Up to 2.5 ACME: 2 of 3. Above: refused.');
  const policy = policyOf({ rules: { ...NO_RULES, limits, tokens } });
  expect(policySentences(policy)[0]?.address).toBe(SUPPLIER);
  const moon = [{ chain: 'eip155:999999', tokenAddress: null, perTransaction: amountOf(5n), perDay: null }];
  expect(sentences({ limits: moon })['Native asset on eip155:999999']).toBe(
    'Up to 5 raw units of the native asset: 2 of 3. Above: refused.',
  );
});

test('the other rules have a sentence each', () => {
  const strict = sentences(
    {
      recipients: 'address-book',
      unreadableThreshold: null,
      unboundMessages: 'refuse',
      signOnce: 'every-cosigner',
      limitsIncludeFees: true,
      requiredDevice: 'ed25519',
      maxFees: [{ chain: CHAIN, amount: amountOf(5n * 10n ** 16n) }],
    },
    { approvalMode: 'device', threshold: 3 },
  );
  expect(strict).toMatchObject({
    Recipients: 'Only the address book, which is empty: every payment is refused.',
    'Undecodable calls': 'Refused.',
    Messages: 'Messages that are valid on every chain are refused.',
    Receipts: 'Every co-signer gives a receipt before a signature is complete.',
    Fees: 'The largest fee counts toward the amounts of the native asset.',
    'Fee on ethereum': 'At most 0.05 ETH for one transaction.',
    Approvals: 'Each has the signature of a device. At least one is of an Ed25519 device.',
    'Similar addresses': 'A payment to an address that resembles a known one: 3 of 3.',
  });
  const addressBook = [{ chain: CHAIN, address: SUPPLIER, name: 'Supplier' }];
  expect(sentences({ recipients: 'address-book', addressBook })['Recipients']).toBe(
    'Only the address book, with 1 address.',
  );
  expect(sentences({ unreadableThreshold: 1 })['Undecodable calls']).toBe('At least 2 of 3.');
  expect(sentences({ unreadableThreshold: 3 })['Undecodable calls']).toBe('At least 3 of 3.');
});

test('the sentences are read from the bytes of the policy', () => {
  const policy = policyOf();
  expect(readSentences(bytesToHex(policyBytes(policy)))).toEqual(policySentences(policy));
  expect(() => readSentences('00')).toThrow();
});
