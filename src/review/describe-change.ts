import type { Description } from '#review/describe-intent.ts';
import type { Fact } from '#review/fact.ts';
import { amountText, chainText, timeText } from '#review/fact.ts';
import type { MandateDocument } from '#domain/canonical/read-mandate.ts';
import type { Device } from '#domain/access/device.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { thresholdForChange } from '#domain/policy/policy.ts';
import { visibleText } from '#domain/visible-text.ts';

/** One statement of a policy. Two different policies differ in at least one statement. */
interface Clause {
  readonly key: string;
  readonly label: string;
  readonly text: string;
  readonly address?: string;
}

/** Returns the differences between two policies, field by field, with warnings for the signer. */
export function describeChange(mandate: MandateDocument, inForce: Policy, proposed: Policy): Description {
  const [before, after] = [clausesOf(inForce), clausesOf(proposed)];
  const changes = [
    ...after.flatMap((clause) => changed(before.find(({ key }) => key === clause.key) ?? null, clause)),
    ...before.filter(({ key }) => after.every((clause) => clause.key !== key)).map((gone) => fact('Removed', gone)),
  ];
  return {
    title: `Change the policy to version ${proposed.version}`,
    facts: [
      ...(changes.length === 0 ? [{ label: 'Changes', text: 'Only the version' }] : changes),
      { label: 'Note', text: mandate.note === null ? 'None' : visibleText(mandate.note) },
      { label: 'Expires', text: timeText(mandate.expiresAtMs) },
      { label: 'Created', text: timeText(mandate.createdAtMs) },
      { label: 'Vault', text: String(proposed.vaultId) },
      { label: 'Policy change', text: mandate.id },
      { label: 'New policy', text: `version ${proposed.version}, hash ${mandate.policyHash}` },
    ],
    warnings: weakenings(inForce, proposed),
  };
}

function changed(before: Clause | null, after: Clause): readonly Fact[] {
  if (before === null) return [fact('Added', after)];
  if (before.text === after.text) return [];
  return [{ label: `Changed: ${after.label}`, text: `from ${before.text} to ${after.text}` }];
}

function fact(what: string, { label, text, address }: Clause): Fact {
  return { label: `${what}: ${label}`, text, ...(address === undefined ? {} : { address }) };
}

function clausesOf(policy: Policy): readonly Clause[] {
  const { rules } = policy;
  const one = (key: string, label: string, text: string): Clause => ({ key, label, text });
  const optional = (key: string, label: string, value: string | undefined) =>
    value === undefined ? [] : [one(key, label, value)];
  return [
    one('threshold', 'Approval threshold', String(policy.threshold)),
    one('approvalMode', 'Approval method', MODES[policy.approvalMode]),
    ...policy.signers.map((userId) => one(`signer ${userId}`, 'Signer', userId)),
    ...policy.devices.map((device) => one(`device ${device.keyId}`, 'Device', deviceText(device))),
    one('recipients', 'Recipients', rules.recipients === 'anyone' ? 'anyone' : 'address book only'),
    one(
      'unreadable',
      'Blind signing',
      rules.unreadableThreshold === null ? 'refused' : `${rules.unreadableThreshold} approvals`,
    ),
    ...listClauses(policy),
    ...optional('signOnce', 'Co-signer receipts', rules.signOnce),
    ...optional('limitsIncludeFees', 'Fees count toward limits', rules.limitsIncludeFees === true ? 'yes' : undefined),
    ...optional('feesExcluded', 'Fees count toward limits', rules.limitsIncludeFees === false ? 'no' : undefined),
    ...optional('requiredDevice', 'Required device', rules.requiredDevice),
    ...optional('unboundMessages', 'Messages not bound to a chain', rules.unboundMessages),
    ...optional('maxFees', 'Maximum fees', rules.maxFees?.length === 0 ? 'empty list' : undefined),
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
    })),
    ...rules.limits.map(({ chain, tokenAddress, perTransaction, perDay }) => {
      const bound = (amount: typeof perDay) => (amount === null ? 'no limit' : amountText(amount, chain, tokenAddress));
      return {
        key: `limit ${asset(chain, tokenAddress)}`,
        label: `Limit, ${assetText(chain, tokenAddress)}`,
        text: `${bound(perTransaction)} per transaction, ${bound(perDay)} in 24 hours`,
      };
    }),
    ...rules.higherThresholds.map(({ chain, tokenAddress, above, threshold }) => ({
      key: `step ${asset(chain, tokenAddress)} ${above}`,
      label: `Approvals above ${amountText(above, chain, tokenAddress)}, ${assetText(chain, tokenAddress)}`,
      text: `${threshold} approvals`,
    })),
    ...(rules.maxFees ?? []).map(({ chain, amount }) => ({
      key: `fee ${chain}`,
      label: `Maximum fee, ${chainText(chain)}`,
      text: amountText(amount, chain, null),
    })),
  ];
}

function assetText(chain: string, tokenAddress: string | null): string {
  return tokenAddress === null ? chainText(chain) : `${chainText(chain)}, token ${visibleText(tokenAddress)}`;
}

const MODES = {
  token: 'counted by the server (no device signature)',
  device: 'device signature required',
} as const;

function deviceText(device: Device): string {
  const site = device.algorithm === 'webauthn-p256' ? `passkey of ${device.origin}` : 'Ed25519 key';
  return `${site}, signer ${device.userId}, key ID ${device.keyId}`;
}

/** Returns a warning for each change that gives a member more rights than before. */
function weakenings(inForce: Policy, proposed: Policy): readonly string[] {
  const [now, then] = [inForce.rules, proposed.rules];
  const newSigners = proposed.signers.filter((userId) => !inForce.signers.includes(userId));
  const newDevices = proposed.devices.filter(({ keyId }) => inForce.devices.every((device) => device.keyId !== keyId));
  const faults: readonly (readonly [boolean, string])[] = [
    [proposed.threshold < inForce.threshold, 'A transaction requires fewer approvals than before.'],
    [
      thresholdForChange(proposed) < thresholdForChange(inForce),
      'A policy change requires fewer approvals than before.',
    ],
    [
      inForce.approvalMode === 'device' && proposed.approvalMode === 'token',
      'Device signatures are no longer required. The server alone determines which signers approved.',
    ],
    [newSigners.length > 0, `New signers: ${newSigners.length}.`],
    [newDevices.length > 0, `New devices: ${newDevices.length}. Compare each key ID with its owner.`],
    [
      now.recipients === 'address-book' && then.recipients === 'anyone',
      'Payments can go to any address, not only to the address book.',
    ],
    [
      JSON.stringify(inForce.cosigners ?? null) !== JSON.stringify(proposed.cosigners ?? null),
      'The keys of the co-signers change. Compare the new keys with the operators of the co-signers.',
    ],
  ];
  return faults.filter(([holds]) => holds).map(([, text]) => text);
}
