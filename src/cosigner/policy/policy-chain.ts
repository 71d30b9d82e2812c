import { CREATION_TOLERANCE_MS } from '#cosigner/policy/approval-check.ts';
import { type Refused, refusal } from '#cosigner/refusal.ts';
import { Malformed } from '#cosigner/request-parser.ts';
import type { PolicyWithMandate } from '#cosigner/signed-document.ts';
import { policyWithMandateOf } from '#cosigner/signed-document.ts';
import type { ApprovedMandate } from '#devices/policy-succession.ts';
import { successionFault } from '#devices/policy-succession.ts';
import { MAX_APPROVAL_LIFETIME_MS } from '#domain/transaction/intent.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { NO_PREVIOUS_POLICY } from '#domain/policy/policy.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/**
 * Reports whether a mandate does not count now: it has expired, it would live longer than any
 * approval may, or it was created ahead of this clock. Only the coordinator knows the rejections
 * and cancellations of a change, so without these bounds a mandate could be used years after its
 * signers rejected or cancelled it.
 */
export function isExpired({ createdAtMs, expiresAtMs }: ApprovedMandate, nowMs: number): boolean {
  const isAhead = createdAtMs > nowMs + CREATION_TOLERANCE_MS;
  return nowMs >= expiresAtMs || isAhead || expiresAtMs - createdAtMs > MAX_APPROVAL_LIFETIME_MS;
}

/** The conditions under which a chain of policies is accepted. */
export interface ChainTerms {
  readonly nowMs: number;
  /**
   * True for a co-signer that joins an existing key: the last policy then needs attestations in any
   * case.
   */
  readonly isJoining: boolean;
  /**
   * Reports whether enough co-signers attest that they adopted exactly this policy (`isAttested`).
   */
  readonly isAttested: (policy: Policy) => Promise<boolean>;
}

/** Ours: far more than a vault ever has. The size limit of a request bounds the list as well. */
const MAX_POLICIES = 1000;

/**
 * Returns the policies of a chain: version 1 without a predecessor, and then valid successors
 * (`successionFault`). Every policy names the hash of the one before. So the last hash commits to
 * the whole history, and attestations of the last policy replace mandates that have expired.
 *
 * The policies are parsed and checked one by one: when a coordinator sends a long list of policies
 * without mandates, the co-signer parses only two of them.
 *
 * Refuses `malformed` for an invalid chain, `mandate-expired` for one with an expired mandate that
 * too few co-signers attest, `not-enough-witnesses` for a co-signer that joins without
 * attestations. Throws `Malformed`.
 */
export async function readChain(
  sent: Iterable<PolicyWithMandate>,
  terms: ChainTerms,
): Promise<Result<readonly Policy[], Refused>> {
  const policies: Policy[] = [];
  let expired = 0;
  for (const { policy, mandate } of sent) {
    const current = policies.at(-1);
    const isNext =
      current === undefined ? isFirst(policy, mandate) : (await successionFault(current, policy, mandate)) === null;
    if (!isNext) return refused(refusal('malformed', 'policies'));
    if (mandate !== null && isExpired(mandate, terms.nowMs)) expired += 1;
    policies.push(policy);
  }
  const head = policies.at(-1);
  if (head === undefined) return refused(refusal('malformed', 'policies'));
  if (!(terms.isJoining || expired > 0) || (await terms.isAttested(head))) return accepted(policies);
  return refused(refusal(terms.isJoining ? 'not-enough-witnesses' : 'mandate-expired', String(head.version)));
}

/** Yields the policies of a list, each parsed on demand. Throws `Malformed`. */
export function* parsePolicies(value: unknown): Generator<PolicyWithMandate> {
  if (!Array.isArray(value) || value.length > MAX_POLICIES) throw new Malformed('policies');
  for (const one of value) yield policyWithMandateOf(one);
}

function isFirst({ version, previousHash }: Policy, mandate: ApprovedMandate | null): boolean {
  return version === 1 && previousHash === NO_PREVIOUS_POLICY && mandate === null;
}
