import type { Amount } from '#domain/asset/amount.ts';
import type { UserId } from '#domain/id.ts';
import type { CanonicalField } from '#domain/canonical/bytes.ts';
import type { ApprovalMode } from '#domain/access/device.ts';

/**
 * `every-cosigner`: before a co-signer gives its last message, each co-signer of the vault has
 * signed a receipt for these bytes. `quorum`: the co-signers that sign together are enough.
 */
export const SIGN_ONCE_MODES = ['every-cosigner', 'quorum'] as const;
export type SignOnceMode = (typeof SIGN_ONCE_MODES)[number];

/**
 * `ed25519`: at least one approval carries the signature of an Ed25519 device, which no browser
 * page handles.
 */
export const REQUIRED_DEVICES = ['any', 'ed25519'] as const;
type RequiredDevice = (typeof REQUIRED_DEVICES)[number];

/** Messages whose signature names no chain: EIP-191 texts, and EIP-712 data without a `chainId`. */
export const UNBOUND_MESSAGE_RULES = ['allow', 'refuse'] as const;
export type UnboundMessageRule = (typeof UNBOUND_MESSAGE_RULES)[number];

/** The largest fee of one transaction on one chain, in the chain's smallest unit. */
export interface FeeCap {
  /** CAIP-2. */
  readonly chain: string;
  readonly amount: Amount;
}

/**
 * A token that the quorum adopted by contract, symbol and decimals. Amounts of it are shown in its
 * units, as part of what signers approve.
 */
export interface PolicyToken {
  /** CAIP-2. */
  readonly chain: string;
  /** The contract or mint, in the chain's canonical spelling. */
  readonly tokenAddress: string;
  readonly symbol: string;
  readonly decimals: number;
}

/** An amount of 256 bits has at most 78 digits. A token with more decimals has no whole unit. */
export const MAX_DECIMALS = 77;

/**
 * Rules that were added after the first release of the policy document. An absent rule has the
 * meaning in its docstring and adds nothing to the canonical bytes: a policy that was adopted
 * without the rule keeps its hash and its meaning.
 */
export interface OptionalRules {
  /** Absent: `quorum`. */
  readonly signOnce?: SignOnceMode;
  /**
   * Whether the largest fee counts towards limits and higher thresholds of the native asset.
   * Absent: false.
   */
  readonly limitsIncludeFees?: boolean;
  /** Absent: only the ceiling of each co-signer applies. */
  readonly maxFees?: readonly FeeCap[];
  /** Absent: `any`. */
  readonly requiredDevice?: RequiredDevice;
  /** Absent: `allow`. */
  readonly unboundMessages?: UnboundMessageRule;
  /** Absent: none. */
  readonly tokens?: readonly PolicyToken[];
  /** The number of signers whose rejections end a transaction. Absent: 1. */
  readonly rejections?: number;
  /**
   * Users who are no members while the policy is in force, whatever an operator sets. So a quorum
   * removes any member, an admin too. Absent: none.
   */
  readonly excludedMembers?: readonly UserId[];
}

/** The number of co-signers, and the number that signs together. */
export interface CosignerGroup {
  readonly threshold: number;
  readonly count: number;
}

/**
 * Returns the rules that a new policy gets when its author names none.
 *
 * Without receipts, two groups of t out of n co-signers share at least 2t - n members. Therefore
 * one transaction is signed once as long as fewer than 2t - n co-signers are hostile. Where this
 * tolerates no hostile co-signer (2 of 3, 3 of 5), every co-signer gives a receipt. In token mode
 * the coordinator is trusted to count approvals, so receipts would protect nothing.
 */
export function defaultRules(
  approvalMode: ApprovalMode,
  group: CosignerGroup,
): Required<Omit<OptionalRules, 'maxFees' | 'tokens' | 'rejections' | 'excludedMembers'>> {
  const tolerated = 2 * group.threshold - group.count - 1;
  return {
    signOnce: approvalMode === 'device' && tolerated < 1 ? 'every-cosigner' : 'quorum',
    limitsIncludeFees: true,
    requiredDevice: 'any',
    unboundMessages: 'allow',
  };
}

/** Returns these rules' part of a policy's canonical bytes. An absent rule adds no field. */
export function optionalRuleFields(rules: OptionalRules): readonly CanonicalField[] {
  const { signOnce, limitsIncludeFees, maxFees, requiredDevice, unboundMessages, tokens } = rules;
  const { rejections, excludedMembers } = rules;
  const fields: CanonicalField[] = [];
  if (signOnce !== undefined) fields.push(['signOnce', signOnce]);
  if (limitsIncludeFees !== undefined) fields.push(['limitsIncludeFees', String(limitsIncludeFees)]);
  if (maxFees !== undefined) {
    fields.push(['maxFees', String(maxFees.length)]);
    for (const { chain, amount } of maxFees) fields.push(['chain', chain], ['amount', amount]);
  }
  if (requiredDevice !== undefined) fields.push(['requiredDevice', requiredDevice]);
  if (unboundMessages !== undefined) fields.push(['unboundMessages', unboundMessages]);
  if (tokens !== undefined) {
    fields.push(['tokens', String(tokens.length)]);
    for (const { chain, tokenAddress, symbol, decimals } of tokens) {
      fields.push(['chain', chain], ['tokenAddress', tokenAddress], ['symbol', symbol], ['decimals', String(decimals)]);
    }
  }
  if (rejections !== undefined) fields.push(['rejections', String(rejections)]);
  if (excludedMembers !== undefined) {
    fields.push(['excludedMembers', String(excludedMembers.length)]);
    for (const userId of excludedMembers) fields.push(['userId', userId]);
  }
  return fields;
}

/** Returns the number of signers whose rejections end a transaction. */
export function rejectionsRequired({ rejections = 1 }: OptionalRules): number {
  return rejections;
}

/** Returns the tokens of one chain that a policy names. */
export function policyTokensOn({ tokens = [] }: OptionalRules, chain: string): readonly PolicyToken[] {
  return tokens.filter((token) => token.chain === chain);
}

/** Returns the token that a policy names, or null. */
export function policyToken(rules: OptionalRules, chain: string, tokenAddress: string): PolicyToken | null {
  return policyTokensOn(rules, chain).find((token) => token.tokenAddress === tokenAddress) ?? null;
}

/** Returns the fee cap of a policy for a chain, or null when it names none. */
export function feeCapOf({ maxFees = [] }: OptionalRules, chain: string): Amount | null {
  return maxFees.find((cap) => cap.chain === chain)?.amount ?? null;
}
