import type { Amount } from '#domain/asset/amount.ts';
import { unitsOf } from '#domain/asset/amount.ts';
import type { CanonicalField } from '#domain/canonical/bytes.ts';
import type { AssetRef, Exposure } from '#domain/asset/exposure.ts';
import { feeIn, totalOf } from '#domain/asset/exposure.ts';
import { sortedUserIds } from '#domain/id.ts';
import type { OptionalRules, PolicyToken } from '#domain/policy/optional-rules.ts';
import { feeCapOf, MAX_DECIMALS, optionalRuleFields } from '#domain/policy/optional-rules.ts';

/** An address that the signers approved under a name. */
export interface AddressBookEntry {
  /** CAIP-2. */
  readonly chain: string;
  /** In the chain's canonical spelling. */
  readonly address: string;
  readonly name: string;
}

/** The limits of one asset, in its smallest unit; null without a limit. */
export interface AssetLimit extends AssetRef {
  readonly perTransaction: Amount | null;
  /** Within any 24 hours. */
  readonly perDay: Amount | null;
}

/** Amounts of one asset above this one need this many approvals. */
export interface HigherThreshold extends AssetRef {
  readonly above: Amount;
  readonly threshold: number;
}

/**
 * The rules of a policy beyond its signers. Every list is in the order of `inCanonicalOrder`, so
 * one set of rules has one hash.
 */
export interface Rules extends OptionalRules {
  readonly addressBook: readonly AddressBookEntry[];
  /**
   * `address-book` makes the address book the allow-list: no other address is paid, gets an
   * allowance or is called.
   */
  readonly recipients: 'anyone' | 'address-book';
  readonly limits: readonly AssetLimit[];
  readonly higherThresholds: readonly HigherThreshold[];
  /** The minimum number of approvals for blind signing; null refuses it. */
  readonly unreadableThreshold: number | null;
}

/** The rule that an intent violates, with the data that explains it. */
export type RuleViolation =
  | { readonly rule: 'unreadable' }
  | { readonly rule: 'unbound-message' }
  | { readonly rule: 'max-fee'; readonly limit: Amount; readonly amount: string }
  | { readonly rule: 'address-book'; readonly address: string | null }
  | { readonly rule: 'per-transaction'; readonly asset: AssetRef; readonly limit: Amount; readonly amount: string }
  | {
      readonly rule: 'per-day';
      readonly asset: AssetRef;
      readonly limit: Amount;
      readonly amount: string;
      /** The spending within the last 24 hours, without this transaction. */
      readonly spent: string;
    };

export type RulesFault =
  | 'too-many-rules'
  | 'rules-not-in-order'
  | 'limit-without-a-bound'
  | 'step-out-of-range'
  | 'token-out-of-range'
  | 'rejections-out-of-range';

export const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * More rules would not fit on a screen for approval, and every co-signer reads all of them for
 * every signature.
 */
export const MAX_RULES = 200;

/** Rules under which only the threshold counts. */
export const NO_RULES: Rules = {
  addressBook: [],
  recipients: 'anyone',
  limits: [],
  higherThresholds: [],
  unreadableThreshold: 1,
};

/**
 * Returns the first fault of the rules, or null. Checks, in order: more than `MAX_RULES` entries in
 * a list, an unsorted list or one with a repeated entry, a limit without a value, a number of
 * approvals outside 1 to the number of signers, a token without a symbol or with decimals that no
 * token has, a number of rejections outside 1 to the number of signers.
 */
export function rulesFault(rules: Rules, signers: number): RulesFault | null {
  const { maxFees = [], tokens = [], rejections = 1, excludedMembers = [] } = rules;
  const lists = [rules.addressBook, rules.limits, rules.higherThresholds, maxFees, tokens, excludedMembers];
  if (lists.some((list) => list.length > MAX_RULES)) return 'too-many-rules';
  const ordered =
    isAscending(rules.addressBook, bookKey) &&
    isAscending(rules.limits, assetKey) &&
    isAscending(rules.higherThresholds, stepKey) &&
    isAscending(maxFees, chainKey) &&
    isAscending(tokens, assetKey) &&
    isAscending(excludedMembers, String);
  if (!ordered) return 'rules-not-in-order';
  if (rules.limits.some((limit) => limit.perTransaction === null && limit.perDay === null))
    return 'limit-without-a-bound';
  const approvals = [
    ...rules.higherThresholds.map((step) => step.threshold),
    ...(rules.unreadableThreshold === null ? [] : [rules.unreadableThreshold]),
  ];
  if (!approvals.every((n) => Number.isInteger(n) && n >= 1 && n <= signers)) return 'step-out-of-range';
  const isToken = (token: PolicyToken) =>
    token.symbol !== '' && Number.isInteger(token.decimals) && token.decimals >= 0 && token.decimals <= MAX_DECIMALS;
  if (!tokens.every(isToken)) return 'token-out-of-range';
  const isCount = Number.isInteger(rejections) && rejections >= 1 && rejections <= signers;
  return isCount ? null : 'rejections-out-of-range';
}

/** Returns the same rules with every list in its canonical order. */
export function inCanonicalOrder(rules: Rules): Rules {
  return {
    ...rules,
    addressBook: rules.addressBook.toSorted(by(bookKey)),
    limits: rules.limits.toSorted(by(assetKey)),
    higherThresholds: rules.higherThresholds.toSorted(by(stepKey)),
    ...(rules.maxFees === undefined ? {} : { maxFees: rules.maxFees.toSorted(by(chainKey)) }),
    ...(rules.tokens === undefined ? {} : { tokens: rules.tokens.toSorted(by(assetKey)) }),
    ...(rules.excludedMembers === undefined ? {} : { excludedMembers: sortedUserIds(rules.excludedMembers) }),
  };
}

/**
 * Returns the rule that an intent violates independently of earlier spending, or null. Checks, in
 * order: `unreadable`, `unbound-message`, `max-fee`, `address-book`, `per-transaction`.
 */
export function ruleViolation(rules: Rules, exposure: Exposure): RuleViolation | null {
  if (exposure.isUnreadable && rules.unreadableThreshold === null) return { rule: 'unreadable' };
  if (exposure.isUnbound === true && rules.unboundMessages === 'refuse') return { rule: 'unbound-message' };
  const cap = feeCapOf(rules, exposure.chain);
  if (cap !== null && feeIn(exposure) > unitsOf(cap)) {
    return { rule: 'max-fee', limit: cap, amount: feeIn(exposure).toString() };
  }
  if (rules.recipients === 'address-book') {
    const isForAnyRecipient = exposure.isUnreadable && exposure.beneficiaries.length === 0;
    if (isForAnyRecipient) return { rule: 'address-book', address: null };
    const stranger = exposure.beneficiaries.find((address) => nameOf(rules, exposure.chain, address) === null);
    if (stranger !== undefined) return { rule: 'address-book', address: stranger };
  }
  for (const { perTransaction, chain, tokenAddress } of rules.limits) {
    const asset = { chain, tokenAddress };
    const amount = amountUnder(rules, exposure, asset);
    if (perTransaction !== null && amount > unitsOf(perTransaction)) {
      return { rule: 'per-transaction', asset, limit: perTransaction, amount: amount.toString() };
    }
  }
  return null;
}

/**
 * Returns the daily limit that an intent would exceed, or null.
 *
 * @param spentOf the amount of an asset in transactions approved within the last 24 hours
 */
export function dailyLimitViolation(
  rules: Rules,
  exposure: Exposure,
  spentOf: (asset: AssetRef) => bigint,
): RuleViolation | null {
  for (const { perDay, chain, tokenAddress } of rules.limits) {
    const asset = { chain, tokenAddress };
    const amount = amountUnder(rules, exposure, asset);
    if (perDay === null || amount === 0n) continue;
    const spent = spentOf(asset);
    if (spent + amount > unitsOf(perDay)) {
      return { rule: 'per-day', asset, limit: perDay, amount: amount.toString(), spent: spent.toString() };
    }
  }
  return null;
}

/** Returns the rules that require approvals for an intent, with the number that each requires. */
export function triggeredThresholds(
  rules: Rules,
  exposure: Exposure,
): readonly { readonly rule: 'unreadable' | 'amount'; readonly approvals: number; readonly above: Amount | null }[] {
  const unreadable = exposure.isUnreadable ? rules.unreadableThreshold : null;
  const steps = rules.higherThresholds.filter((step) => amountUnder(rules, exposure, step) > unitsOf(step.above));
  return [
    ...(unreadable === null ? [] : [{ rule: 'unreadable' as const, approvals: unreadable, above: null }]),
    ...steps.map(({ threshold, above }) => ({ rule: 'amount' as const, approvals: threshold, above })),
  ];
}

/**
 * Returns the amount of an asset that limits and thresholds count: the spending and, if the rules
 * include it, the largest fee. A fee is money that leaves the wallet, and an attacker may control
 * the miner or block builder.
 */
export function amountUnder(rules: Rules, exposure: Exposure, asset: AssetRef): bigint {
  const isNative = asset.tokenAddress === null && asset.chain === exposure.chain;
  const fee = rules.limitsIncludeFees === true && isNative ? feeIn(exposure) : 0n;
  return totalOf(exposure, asset) + fee;
}

/** Returns the largest number of approvals that any rule ever requires. */
export function highestThreshold(rules: Rules): number {
  return Math.max(1, rules.unreadableThreshold ?? 1, ...rules.higherThresholds.map((step) => step.threshold));
}

/** Returns the name of an address in the address book, or null for one that is not in it. */
export function nameOf({ addressBook }: Rules, chain: string, address: string): string | null {
  return addressBook.find((entry) => entry.chain === chain && entry.address === address)?.name ?? null;
}

/**
 * Returns the rules' part of a policy's canonical bytes. The length of every list precedes its
 * entries.
 */
export function ruleFields(rules: Rules): readonly CanonicalField[] {
  const asset = ({ chain, tokenAddress }: AssetRef): CanonicalField[] => [
    ['chain', chain],
    ['tokenAddress', tokenAddress],
  ];
  return [
    ['recipients', rules.recipients],
    ['unreadableThreshold', rules.unreadableThreshold === null ? null : String(rules.unreadableThreshold)],
    ['addressBook', String(rules.addressBook.length)],
    ...rules.addressBook.flatMap(({ chain, address, name }): CanonicalField[] => [
      ['chain', chain],
      ['address', address],
      ['name', name],
    ]),
    ['limits', String(rules.limits.length)],
    ...rules.limits.flatMap((limit): CanonicalField[] => [
      ...asset(limit),
      ['perTransaction', limit.perTransaction],
      ['perDay', limit.perDay],
    ]),
    ['higherThresholds', String(rules.higherThresholds.length)],
    ...rules.higherThresholds.flatMap((step): CanonicalField[] => [
      ...asset(step),
      ['above', step.above],
      ['threshold', String(step.threshold)],
    ]),
    ...optionalRuleFields(rules),
  ];
}

const chainKey = ({ chain }: { readonly chain: string }) => chain;
const bookKey = ({ chain, address }: AddressBookEntry) => `${chain} ${address}`;
const assetKey = ({ chain, tokenAddress }: AssetRef) => `${chain} ${tokenAddress ?? ''}`;
/** Padded to the length of the longest amount, so that texts sort like numbers. */
const stepKey = (step: HigherThreshold) => `${assetKey(step)} ${step.above.padStart(78, '0')}`;

function isAscending<T>(list: readonly T[], keyOf: (item: T) => string): boolean {
  const keys = list.map(keyOf);
  return keys.every((key, i) => i === 0 || (keys[i - 1] ?? '') < key);
}

function by<T>(keyOf: (item: T) => string): (a: T, b: T) => number {
  return (a, b) => (keyOf(a) < keyOf(b) ? -1 : 1);
}
