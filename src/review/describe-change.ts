import type { Description } from '#review/describe-intent.ts';
import type { Fact } from '#review/fact.ts';
import { amountText, chainText, frameFacts, namedToken, nativeText } from '#review/fact.ts';
import type { MandateDocument } from '#domain/policy/read-mandate.ts';
import type { Device } from '#domain/access/device.ts';
import type { OptionalRules } from '#domain/policy/optional-rules.ts';
import { optionalRuleFields } from '#domain/policy/optional-rules.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { AssetRef } from '#domain/asset/exposure.ts';
import { visibleText } from '#domain/visible-text.ts';
import { soleOrigin, soleOriginText, weakenings } from '#review/weakenings.ts';

/** One statement of a policy. Two different policies differ in at least one statement. */
interface Clause {
  readonly key: string;
  readonly label: string;
  readonly text: string;
  readonly address?: string;
  /** What is compared where the text escapes characters: two names may be shown alike. */
  readonly exact?: string;
}

/** Ours: more changes than this are listed once, and only counted beside the button. */
const MAX_ESSENTIALS = 8;

/** Returns the differences between two policies, field by field, with warnings for the signer. */
export function describeChange(mandate: MandateDocument, inForce: Policy, proposed: Policy): Description {
  const [before, after] = [clausesOf(inForce), clausesOf(proposed)];
  const changes = changesOf(before, after);
  const listed = changes.length === 0 ? [{ label: 'Changes', text: 'Only the version' }] : changes;
  return {
    title: `Change the policy to version ${proposed.version}`,
    essentials: listed.length <= MAX_ESSENTIALS ? listed : essentialsOf(listed, { before, after }),
    facts: [
      ...listed,
      ...frameFacts(mandate, proposed.vaultId),
      { label: 'Policy change', text: mandate.id },
      { label: 'New policy', text: `version ${proposed.version}, hash ${mandate.policyHash}` },
    ],
    warnings: weakenings(inForce, proposed),
  };
}

/** Returns the differences between two policies; none when they differ in the version alone. */
export function differences(inForce: Policy, proposed: Policy): readonly Fact[] {
  return changesOf(clausesOf(inForce), clausesOf(proposed));
}

/**
 * Returns the whole of the first policy in device mode, for a signer who founds the vault with it.
 *
 * @param before the policy in token mode that it replaces; null for version 1
 */
export function describeFounding(mandate: MandateDocument, proposed: Policy, before: Policy | null): Description {
  const { signers, devices, threshold, signingThreshold } = proposed;
  const origin = soleOrigin(proposed);
  const replaced = before === null ? [] : [{ label: 'Replaces', text: `version ${before.version}, in token mode` }];
  return {
    title: before === null ? 'Found the vault with this policy' : `Begin device mode with policy ${proposed.version}`,
    essentials: [
      { label: 'Approval threshold', text: `${threshold} of ${signers.length} signers` },
      ...devices.map((device) => ({ label: 'Device', text: deviceText(device) })),
      { label: 'Co-signers that sign together', text: String(signingThreshold) },
    ],
    facts: [
      ...policyFacts(proposed),
      ...replaced,
      ...frameFacts(mandate, proposed.vaultId),
      { label: 'Policy change', text: mandate.id },
      { label: 'Policy', text: `version ${proposed.version}, hash ${mandate.policyHash}` },
    ],
    warnings: [
      `Every approval of this vault will be verified against these ${devices.length} devices. ` +
        'Compare each key ID with the owner of the device, by telephone or in person.',
      ...(origin === null ? [] : [soleOriginText(origin)]),
    ],
  };
}

/** Returns the whole of a policy that is in force. Nothing is signed. */
export function describePolicy(policy: Policy, hash: string): Pick<Description, 'title' | 'facts'> {
  return {
    title: `Policy of vault ${policy.vaultId}`,
    facts: [...policyFacts(policy), { label: 'Policy', text: `version ${policy.version}, hash ${hash}` }],
  };
}

/** Returns every statement of a policy. */
export function policyFacts(policy: Policy): readonly Fact[] {
  return clausesOf(policy).map(factOf);
}

/**
 * Returns what stands beside the button when there are many changes: their number, who can be paid
 * or can approve from now on, and which tokens have a name. A list above need not have been in
 * view.
 */
function essentialsOf(
  listed: readonly Fact[],
  { before, after }: { readonly before: readonly Clause[]; readonly after: readonly Clause[] },
): readonly Fact[] {
  const isNew = ({ key }: Clause) =>
    /^(?:book|signer|device|token) /.test(key) && before.every((old) => old.key !== key);
  const renamed = after.filter(
    (clause) =>
      clause.key.startsWith('book ') && before.some(({ key, exact }) => key === clause.key && exact !== clause.exact),
  );
  return [
    { label: 'Changes', text: `${listed.length}, listed above` },
    ...after.filter(isNew).map((clause) => fact('Added', clause)),
    ...renamed.map((clause) => fact('Changed', clause)),
  ];
}

function changesOf(before: readonly Clause[], after: readonly Clause[]): readonly Fact[] {
  return [
    ...after.flatMap((clause) => changed(before.find(({ key }) => key === clause.key) ?? null, clause)),
    ...before.filter(({ key }) => after.every((clause) => clause.key !== key)).map((clause) => fact('Removed', clause)),
  ];
}

function changed(before: Clause | null, after: Clause): readonly Fact[] {
  if (before === null) return [fact('Added', after)];
  if (before.text === after.text && before.exact === after.exact) return [];
  return [{ label: `Changed: ${after.label}`, text: `from ${before.text} to ${after.text}` }];
}

function fact(what: string, clause: Clause): Fact {
  return { ...factOf(clause), label: `${what}: ${clause.label}` };
}

function factOf({ label, text, address }: Clause): Fact {
  return { label, text, ...(address === undefined ? {} : { address }) };
}

function clausesOf(policy: Policy): readonly Clause[] {
  const { rules } = policy;
  const one = (key: string, label: string, text: string): Clause => ({ key, label, text });
  return [
    one('threshold', 'Approval threshold', String(policy.threshold)),
    one('signingThreshold', 'Co-signers that sign together', String(policy.signingThreshold)),
    one('approvalMode', 'Approval method', MODES[policy.approvalMode]),
    ...policy.signers.map((userId) => one(`signer ${userId}`, 'Signer', userId)),
    ...policy.devices.map((device) => one(`device ${device.keyId}`, 'Device', deviceText(device))),
    one('recipients', 'Recipients', rules.recipients === 'anyone' ? 'anyone' : 'address book only'),
    one(
      'unreadable',
      'Blind signing',
      rules.unreadableThreshold === null ? 'refused' : approvalsText(rules.unreadableThreshold),
    ),
    ...listClauses(policy),
    ...optionalClauses(policy.rules),
    ...(policy.cosigners ?? []).map(({ index, signing }) =>
      one(`cosigner ${index}`, `Key of co-signer ${index}`, signing),
    ),
  ];
}

function listClauses({ rules }: Policy): readonly Clause[] {
  const asset = (chain: string, tokenAddress: string | null) => `${chain} ${tokenAddress ?? ''}`;
  return [
    ...rules.addressBook.map(({ chain, address, name }) => ({
      key: `book ${chain} ${address}`,
      label: `Address book, ${chainText(chain)}`,
      text: `“${visibleText(name)}” is ${visibleText(address)}`,
      address: visibleText(address),
      exact: name,
    })),
    ...(rules.tokens ?? []).map(({ chain, tokenAddress, symbol, decimals }) => ({
      key: `token ${asset(chain, tokenAddress)}`,
      label: `Token, ${chainText(chain)}`,
      text: `${visibleText(symbol)} with ${decimals} decimals is ${visibleText(tokenAddress)}`,
      address: visibleText(tokenAddress),
      exact: `${symbol} ${decimals}`,
    })),
    ...rules.limits.map((limit) => {
      const { chain, tokenAddress, perTransaction, perDay } = limit;
      const bound = (amount: typeof perDay) => (amount === null ? 'no limit' : amountText(amount, limit, rules));
      return {
        key: `limit ${asset(chain, tokenAddress)}`,
        label: `Limit, ${assetText(limit, rules)}`,
        text: `${bound(perTransaction)} per transaction, ${bound(perDay)} in 24 hours`,
        // A change of decimals can hide a change of units.
        exact: `${perTransaction} ${perDay}`,
      };
    }),
    ...rules.higherThresholds.map((step) => ({
      key: `step ${asset(step.chain, step.tokenAddress)} ${step.above}`,
      label: `Approvals above ${amountText(step.above, step, rules)}, ${assetText(step, rules)}`,
      text: approvalsText(step.threshold),
    })),
    ...(rules.maxFees ?? []).map(({ chain, amount }) => ({
      key: `fee ${chain}`,
      label: `Maximum fee, ${chainText(chain)}`,
      text: nativeText(amount, chain),
    })),
    ...(rules.excludedMembers ?? []).map((userId) => ({
      key: `excluded ${userId}`,
      label: 'Excluded from the vault',
      text: visibleText(userId),
    })),
  ];
}

const OPTIONAL_LABELS: Readonly<Record<string, string>> = {
  signOnce: 'Co-signer receipts',
  limitsIncludeFees: 'Fees count toward limits',
  requiredDevice: 'Required device',
  unboundMessages: 'Messages not bound to a chain',
  maxFees: 'Number of maximum fees',
  tokens: 'Number of tokens',
  rejections: 'Rejections that end a transaction',
  excludedMembers: 'Number of excluded users',
};

/**
 * Returns a clause for each optional rule that a policy has. A rule without a label here is shown
 * under the name of its canonical field, so a later rule is never left out.
 */
function optionalClauses(rules: Policy['rules']): readonly Clause[] {
  // The entries of a list have clauses of their own, and here their number.
  const { maxFees, tokens, excludedMembers, ...others } = rules;
  const lengths: Readonly<Record<string, number | undefined>> = {
    maxFees: maxFees?.length,
    tokens: tokens?.length,
    excludedMembers: excludedMembers?.length,
  };
  const fields = optionalRuleFields({
    ...others,
    ...(maxFees === undefined ? {} : { maxFees: [] }),
    ...(tokens === undefined ? {} : { tokens: [] }),
    ...(excludedMembers === undefined ? {} : { excludedMembers: [] }),
  });
  return fields.map(([name, value]) => {
    const text = String(lengths[name] ?? value ?? 'none');
    return { key: `rule ${name}`, label: OPTIONAL_LABELS[name] ?? name, text: visibleText(text) };
  });
}

function approvalsText(count: number): string {
  return count === 1 ? '1 approval' : `${count} approvals`;
}

function assetText({ chain, tokenAddress }: AssetRef, rules: OptionalRules): string {
  if (tokenAddress === null) return chainText(chain);
  const name = namedToken(chain, tokenAddress, rules)?.symbol ?? 'unknown token';
  return `${chainText(chain)}, ${name} at ${visibleText(tokenAddress)}`;
}

const MODES = {
  token: 'counted by the server (no device signature)',
  device: 'device signature required',
} as const;

function deviceText(device: Device): string {
  const site =
    device.algorithm === 'webauthn-p256'
      ? `passkey of ${visibleText(device.origin)} (domain ${device.rpId}, credential ${device.credentialId})`
      : 'Ed25519 key';
  return `${site}, signer ${device.userId}, key ID ${device.keyId}`;
}
