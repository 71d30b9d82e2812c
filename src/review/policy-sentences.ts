import { hexToBytes } from '@noble/hashes/utils.js';
import { readPolicy } from '#devices/policy-document.ts';
import { unitsOf } from '#domain/asset/amount.ts';
import type { Amount } from '#domain/asset/amount.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { needsReceipts, thresholdForChange } from '#domain/policy/policy.ts';
import type { AssetRef } from '#domain/asset/exposure.ts';
import { rejectionsRequired } from '#domain/policy/optional-rules.ts';
import { visibleText } from '#domain/visible-text.ts';
import type { Fact } from '#review/fact.ts';
import { amountText, knownChain, namedToken, nativeText } from '#review/fact.ts';

/**
 * What a policy requires, in sentences. They merge rules: of two rules about one amount the
 * stricter one is named. They never replace `policyFacts`, which has each signed field, where a
 * person signs.
 */

/** Returns the sentences of canonical bytes in hex. Throws `InvalidDocument` for other bytes. */
export function readSentences(canonical: string): readonly Fact[] {
  return policySentences(readPolicy(hexToBytes(canonical)));
}

/** Returns what a policy requires: first of payments by asset, then of everything else. */
export function policySentences(policy: Policy): readonly Fact[] {
  const { rules, signers, threshold, signingThreshold } = policy;
  const assets = assetsIn(policy);
  const asset = assets.map((one) => ({ ...assetLabel(one, policy), text: assetText(one, policy) }));
  const { unreadableThreshold } = rules;
  return [
    ...asset,
    { label: assets.length === 0 ? 'Payments' : 'Other assets', text: `Any amount: ${of(policy, threshold)}.` },
    ...(rules.maxFees ?? []).map(({ chain, amount }) => ({
      label: `Fee on ${chainName(chain)}`,
      text: `At most ${nativeText(amount, chain)} for one transaction.`,
    })),
    {
      label: 'Fees',
      text:
        rules.limitsIncludeFees === true
          ? 'The largest fee counts toward the amounts of the native asset.'
          : 'Fees do not count toward these amounts.',
    },
    { label: 'Recipients', text: recipientsText(policy) },
    {
      label: 'Similar addresses',
      text:
        threshold >= signers.length
          ? `A payment to an address that resembles a known one: ${of(policy, threshold)}.`
          : 'A payment to an address that resembles a known one: one more approval, if there is another signer.',
    },
    {
      label: 'Undecodable calls',
      text:
        unreadableThreshold === null ? 'Refused.' : `At least ${of(policy, Math.max(threshold, unreadableThreshold))}.`,
    },
    {
      label: 'Messages',
      text:
        rules.unboundMessages === 'refuse'
          ? 'Messages that are valid on every chain are refused.'
          : 'Messages that are valid on every chain are allowed.',
    },
    { label: 'Approvals', text: approvalText(policy) },
    {
      label: 'Receipts',
      text: needsReceipts(policy)
        ? 'Every co-signer gives a receipt before a signature is complete.'
        : `The ${signingThreshold} co-signers that sign together suffice.`,
    },
    { label: 'Rejections', text: `${of(policy, rejectionsRequired(rules))} end a transaction.` },
    ...(rules.excludedMembers ?? []).map((userId) => ({ label: 'Excluded', text: `${visibleText(userId)}.` })),
    { label: 'Policy changes', text: `${of(policy, thresholdForChange(policy))}.` },
  ];
}

function of({ signers }: Policy, approvals: number): string {
  return `${approvals} of ${signers.length}`;
}

/** Returns each asset that a limit or a higher threshold names, once. */
function assetsIn({ rules }: Policy): readonly AssetRef[] {
  const assets = new Map<string, AssetRef>();
  for (const { chain, tokenAddress } of [...rules.limits, ...rules.higherThresholds]) {
    assets.set(`${chain} ${tokenAddress ?? ''}`, { chain, tokenAddress });
  }
  return [...assets.values()];
}

function assetLabel({ chain, tokenAddress }: AssetRef, { rules }: Policy): Omit<Fact, 'text'> {
  if (tokenAddress === null) {
    return { label: `${knownChain(chain)?.nativeSymbol ?? 'Native asset'} on ${chainName(chain)}` };
  }
  const symbol = namedToken(chain, tokenAddress, rules)?.symbol ?? 'Unknown token';
  return { label: `${symbol} on ${chainName(chain)}`, address: visibleText(tokenAddress) };
}

function chainName(caip2: string): string {
  return knownChain(caip2)?.name ?? visibleText(caip2);
}

/** Returns `Up to 50 000 USDC: 2 of 3. Above: 3 of 3.`, and the daily limit. */
function assetText(asset: AssetRef, policy: Policy): string {
  const { rules, threshold } = policy;
  const isOf = (rule: AssetRef) => rule.chain === asset.chain && rule.tokenAddress === asset.tokenAddress;
  const { perTransaction = null, perDay = null } = rules.limits.find(isOf) ?? {};
  const largest = smaller(perTransaction, perDay);
  const steps = rules.higherThresholds.filter(isOf).toSorted((a, b) => (unitsOf(a.above) < unitsOf(b.above) ? -1 : 1));
  const amounts: string[] = [];
  let approvals = threshold;
  const upTo = (amount: Amount) => {
    if (amount !== '0') amounts.push(`Up to ${amountText(amount, asset, rules)}: ${of(policy, approvals)}.`);
  };
  for (const step of steps) {
    const isReached = largest === null || unitsOf(step.above) < unitsOf(largest);
    if (!isReached || step.threshold <= approvals) continue;
    upTo(step.above);
    approvals = step.threshold;
  }
  if (largest !== null) upTo(largest);
  const above = amounts.length === 0 ? 'Any amount' : 'Above';
  amounts.push(`${above}: ${largest === null ? of(policy, approvals) : 'refused'}.`);
  if (perDay !== null) amounts.push(`In 24 hours: at most ${amountText(perDay, asset, rules)}.`);
  return amounts.join(' ');
}

/** A payment above the daily limit is refused, like one above the limit per transaction. */
function smaller(one: Amount | null, other: Amount | null): Amount | null {
  if (one === null || other === null) return one ?? other;
  return unitsOf(one) < unitsOf(other) ? one : other;
}

function recipientsText({ rules: { recipients, addressBook } }: Policy): string {
  if (recipients === 'anyone') return 'Any address.';
  if (addressBook.length === 0) return 'Only the address book, which is empty: every payment is refused.';
  return `Only the address book, with ${addressBook.length === 1 ? '1 address' : `${addressBook.length} addresses`}.`;
}

function approvalText({ approvalMode, rules }: Policy): string {
  if (approvalMode === 'token') return 'By signed-in users and API tokens. The server counts them.';
  const each = 'Each has the signature of a device.';
  return rules.requiredDevice === 'ed25519' ? `${each} At least one is of an Ed25519 device.` : each;
}
