import type { MandateDocument } from '#domain/policy/read-mandate.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { PolicyRejection } from '#domain/policy/policy-rejection.ts';
import { describeChange } from '#review/describe-change.ts';
import type { Intent } from '#domain/transaction/intent.ts';
import type { TransactionRejection } from '#domain/access/transaction-rejection.ts';
import type { Description } from '#review/describe-intent.ts';
import { describeIntent } from '#review/describe-intent.ts';
import type { Fact } from '#review/fact.ts';

/** A policy change whose bytes match the rejection. `before` is the policy that it follows. */
export interface RejectedChange {
  readonly mandate: MandateDocument;
  readonly before: Policy;
  readonly proposed: Policy;
}

/**
 * Describes the rejection of a policy change. The warnings of the change are left out, because they
 * are about a policy that the signer does not want.
 *
 * @param change null when the bytes of the change are not at hand; the signer then sees only its id
 */
export function describeRejection(rejection: PolicyRejection, change: RejectedChange | null): Description {
  const decision: Fact = { label: 'Decision', text: 'Rejection: you do not want this policy change' };
  const id: Fact = { label: 'Policy change', text: rejection.changeId };
  const digest: Fact = { label: 'Digest of the policy change', text: rejection.mandateDigest };
  if (change === null) {
    const facts = [decision, { label: 'Vault', text: String(rejection.vaultId) }, id, digest];
    const warning = 'The content of the policy change is not shown here. Compare its id with the other signers.';
    return { title: 'Reject a policy change', facts, essentials: facts, warnings: [warning] };
  }
  const { facts, essentials } = describeChange(change.mandate, change.before, change.proposed);
  return {
    title: `Reject the change to policy version ${change.proposed.version}`,
    facts: [decision, ...facts, digest],
    essentials: [decision, ...essentials, id],
    warnings: [],
  };
}

/**
 * Describes the rejection of a transaction. The warnings of the transaction are left out, because
 * they are about a payment that the signer does not want.
 *
 * @param intent null when the bytes of the intent are not at hand; the signer then sees only its id
 */
export function describeTransactionRejection(
  rejection: TransactionRejection,
  intent: Intent | null,
  inForce: Policy,
): Description {
  const decision: Fact = { label: 'Decision', text: 'Rejection: you do not want this transaction' };
  const id: Fact = { label: 'Transaction', text: rejection.transactionId };
  const digest: Fact = { label: 'Digest of the transaction', text: rejection.intentDigest };
  if (intent === null) {
    const facts = [decision, { label: 'Vault', text: String(rejection.vaultId) }, id, digest];
    const warning = 'The content of the transaction is not shown here. Compare its id with the other signers.';
    return { title: 'Reject a transaction', facts, essentials: facts, warnings: [warning] };
  }
  const { title, facts, essentials } = describeIntent(intent, inForce);
  return {
    title: `Reject: ${title}`,
    facts: [decision, ...facts, digest],
    essentials: [decision, ...essentials, id],
    warnings: [],
  };
}
