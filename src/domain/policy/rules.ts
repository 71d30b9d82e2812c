import type { Amount } from '#domain/asset/amount.ts';
import { unitsOf } from '#domain/asset/amount.ts';
import type { CanonicalField } from '#domain/canonical/bytes.ts';
import type { AssetRef, Exposure } from '#domain/transaction/exposure.ts';
import { feeIn, totalOf } from '#domain/transaction/exposure.ts';
import type { OptionalRules } from '#domain/policy/optional-rules.ts';
import { feeCapOf, optionalRuleFields } from '#domain/policy/optional-rules.ts';

/** An address that the signers have agreed on by name. */
export interface AddressBookEntry {
  /** CAIP-2. */
  readonly chain: string;
  /** In the chain's canonical spelling. */
  readonly address: string;
  readonly name: string;
}

/** The most of one asset, in its smallest unit; null where nothing bounds it. */
export interface AssetLimit extends AssetRef {
  readonly perTransaction: Amount | null;
  /** Within any 24 hours. */
  readonly perDay: Amount | null;
}

/** From more than this amount of one asset on, this many voices. */
export interface HigherThreshold extends AssetRef {
  readonly above: Amount;
  readonly threshold: number;
}

/** What a policy says beyond who decides. Every list is in the order of `inCanonicalOrder`, so one set of rules has one hash. */
export interface Rules extends OptionalRules {
  readonly addressBook: readonly AddressBookEntry[];
  /** `address-book` is the allow-list: nobody else is paid, trusted or called. */
  readonly recipients: 'anyone' | 'address-book';
  readonly limits: readonly AssetLimit[];
  readonly higherThresholds: readonly HigherThreshold[];
  /** Voices, at least, for what nobody can weigh; null refuses it. */
  readonly unreadableThreshold: number | null;
}

/** What forbids an intent, with what it takes to explain it. */
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
      /** Within the last 24 hours, this one not counted. */
      readonly spent: string;
    };

export type RulesFault = 'too-many-rules' | 'rules-not-in-order' | 'limit-without-a-bound' | 'step-out-of-range';

export const DAY_MS = 24 * 60 * 60 * 1000;

/** More would not fit a screen that somebody has to approve, and every co-signer reads all of it for every signature. */
export const MAX_RULES = 200;

/** Only the threshold counts. */
export const NO_RULES: Rules = {
  addressBook: [],
  recipients: 'anyone',
  limits: [],
  higherThresholds: [],
  unreadableThreshold: 1,
};

/**
 * Refuses, in order: more than `MAX_RULES` entries in a list, a list that is not in order or names something twice, a limit that
 * bounds nothing, a number of voices outside 1 to the number of signers.
 */
export function rulesFault(rules: Rules, signers: number): RulesFault | null {
  const { maxFees = [] } = rules;
  const lists = [rules.addressBook, rules.limits, rules.higherThresholds, maxFees];
  if (lists.some((list) => list.length > MAX_RULES)) return 'too-many-rules';
  const ordered =
    isAscending(rules.addressBook, bookKey) &&
    isAscending(rules.limits, assetKey) &&
    isAscending(rules.higherThresholds, stepKey) &&
    isAscending(maxFees, chainKey);
  if (!ordered) return 'rules-not-in-order';
  if (rules.limits.some((limit) => limit.perTransaction === null && limit.perDay === null))
    return 'limit-without-a-bound';
  const approvals = [
    ...rules.higherThresholds.map((step) => step.threshold),
    ...(rules.unreadableThreshold === null ? [] : [rules.unreadableThreshold]),
  ];
  return approvals.every((n) => Number.isInteger(n) && n >= 1 && n <= signers) ? null : 'step-out-of-range';
}

/** The same rules with every list in its one order. */
export function inCanonicalOrder(rules: Rules): Rules {
  return {
    ...rules,
    addressBook: rules.addressBook.toSorted(by(bookKey)),
    limits: rules.limits.toSorted(by(assetKey)),
    higherThresholds: rules.higherThresholds.toSorted(by(stepKey)),
    ...(rules.maxFees === undefined ? {} : { maxFees: rules.maxFees.toSorted(by(chainKey)) }),
  };
}

/**
 * What of the rules forbids an intent whatever was spent before; null when nothing does.
 * In order: `unreadable`, `unbound-message`, `max-fee`, `address-book`, `per-transaction`.
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
 * The limit of a day that an intent would exceed, or null.
 *
 * @param spentOf what the vault has decided to spend of an asset within the last 24 hours
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

/** The rules that ask for voices, and how many each of them asks for. */
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
 * What limits and steps count of an asset: what moves, and, where the rules say so, the largest fee.
 * A fee is money that leaves the wallet, and a miner or a block builder can be the thief's.
 */
function amountUnder(rules: Rules, exposure: Exposure, asset: AssetRef): bigint {
  const isNative = asset.tokenAddress === null && asset.chain === exposure.chain;
  const fee = rules.limitsIncludeFees === true && isNative ? feeIn(exposure) : 0n;
  return totalOf(exposure, asset) + fee;
}

/** The largest number of voices that any rule ever asks for. */
export function highestThreshold(rules: Rules): number {
  return Math.max(1, rules.unreadableThreshold ?? 1, ...rules.higherThresholds.map((step) => step.threshold));
}

/** What the address book calls an address; null for one that is not in it. */
export function nameOf({ addressBook }: Rules, chain: string, address: string): string | null {
  return addressBook.find((entry) => entry.chain === chain && entry.address === address)?.name ?? null;
}

/** The part of the canonical bytes of a policy that its rules are. Every list says first how long it is. */
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
/** As long as the longest amount, so that texts are in the order of the numbers. */
const stepKey = (step: HigherThreshold) => `${assetKey(step)} ${step.above.padStart(78, '0')}`;

function isAscending<T>(list: readonly T[], keyOf: (item: T) => string): boolean {
  const keys = list.map(keyOf);
  return keys.every((key, i) => i === 0 || (keys[i - 1] ?? '') < key);
}

function by<T>(keyOf: (item: T) => string): (a: T, b: T) => number {
  return (a, b) => (keyOf(a) < keyOf(b) ? -1 : 1);
}
