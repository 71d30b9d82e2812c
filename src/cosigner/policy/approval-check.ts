import type { Commitment } from '#cosigner/commitment.ts';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { InspectedPayload, PayloadFault } from '#chains/inspect/payload.ts';
import { inspectPayload, isEvidenced } from '#chains/inspect/payload.ts';
import { verifiedApprovals } from '#devices/device-signature.ts';
import { exposureOf } from '#chains/inspect/exposure.ts';
import type { FeeCeilings } from '#chains/inspect/fee-ceiling.ts';
import { feeCeiling, exceedsSizeCap } from '#chains/inspect/fee-ceiling.ts';
import { unitsOf } from '#domain/asset/amount.ts';
import { requiredApprovalsFor } from '#domain/transaction/approvals.ts';
import { hasRequiredDevice, countedApprovers } from '#domain/policy/counted-approvals.ts';
import type { AttemptPurpose, Intent } from '#domain/transaction/intent.ts';
import { attemptEndsAtMs, actionOfAttempt, intentBytes, livesTooLong } from '#domain/transaction/intent.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { thresholdFor } from '#domain/policy/policy.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import { ruleViolation } from '#domain/policy/rules.ts';
import type { Approval } from '#domain/access/approval.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { Refused } from '#cosigner/refusal.ts';
import { refusal } from '#cosigner/refusal.ts';

/**
 * The request of a coordinator for a signature. It contains no hash: the co-signer computes every
 * hash itself.
 */
export interface SigningRequest {
  readonly intent: Intent;
  /** Unsigned bytes, hex. */
  readonly payload: string;
  /** 1 for the first bytes, one more for each replacement at the same nonce. */
  readonly attempt: number;
  readonly purpose: AttemptPurpose;
  readonly approvals: readonly Approval[];
  /** The newest policy that the coordinator has. */
  readonly policyVersion: number;
  /** Hex. Data that proves the payload, such as previous transactions; mostly empty. */
  readonly evidence: readonly string[];
}

/** The pinned data that a co-signer compares a request with. */
export interface Pinned {
  /** Address of the key on the intent's chain, in its canonical spelling. */
  readonly wallet: string;
  /** The policy in force in the vault of the key. */
  readonly current: Policy;
  /** The policy of the version that the intent names; null when this co-signer does not have it. */
  readonly named: Policy | null;
  readonly nowMs: number;
  /** The largest fees that this co-signer pays, whatever was approved. */
  readonly feeCeilings: FeeCeilings;
  /**
   * Reports whether this co-signer committed to this intent of the transaction by its own check.
   */
  readonly isRecorded: (transactionId: string, intentDigest: string) => boolean;
}

/**
 * Ours: how far the clock of a coordinator may be ahead of this co-signer's, as for its requests.
 */
export const CREATION_TOLERANCE_MS = 60 * 1000;

/** Bytes that a quorum approved, as the co-signer itself decodes them. */
export interface CheckedRequest extends Commitment {
  /** The policy in force, which the check used. */
  readonly policy: Policy;
}

/**
 * Checks a request independently of other co-signers. It stores nothing, calls nothing, and runs
 * again before the last round.
 *
 * Refuses, in order: `wrong-wallet` (another vault, or not the wallet of this key), `policy-behind`
 * (the coordinator has a newer policy, which it has to show first), `policy-ahead` (this co-signer
 * has a newer policy than the coordinator names), `policy-mismatch` (the intent names a policy that
 * this co-signer never adopted), `created-in-the-future`, `expired` (detail `lifetime`: it would
 * live longer than any approval may), `not-enough-approvals`, `policy-forbids`
 * (by the policy that the intent names, or by the current one; the spending of the last day is
 * unknown to a single co-signer), `expired`, `fee-above-ceiling`, `payload-refused`,
 * `fee-above-ceiling` for a transaction of this size.
 *
 * In device mode an approval counts only when this co-signer has verified its signature by a device
 * of the policy that it pinned itself. In token mode only the coordinator vouches for the
 * approvals: the check then stops a wrong payload, a stale policy and a second digest, but not a
 * coordinator that invents approvals.
 */
export async function checkRequest(request: SigningRequest, pinned: Pinned): Promise<Result<CheckedRequest, Refused>> {
  const { intent } = request;
  const { current, named } = pinned;
  if (intent.vaultId !== current.vaultId || intent.from !== pinned.wallet) {
    return refused(refusal('wrong-wallet'));
  }
  if (request.policyVersion > current.version) return refused(refusal('policy-behind', String(current.version)));
  if (request.policyVersion < current.version) return refused(refusal('policy-ahead', String(current.version)));
  if (named === null || policyHashOf(named) !== intent.policyHash) return refused(refusal('policy-mismatch'));
  const intentDigest = bytesToHex(sha256(intentBytes(intent)));
  // A co-signer that lost its records accepts only intents created after the loss.
  if (intent.createdAtMs > pinned.nowMs + CREATION_TOLERANCE_MS) return refused(refusal('created-in-the-future'));
  if (livesTooLong(intent)) return refused(refusal('expired', 'lifetime'));
  const isRecorded = () => pinned.isRecorded(intent.transactionId, intentDigest);
  const unwanted = await approvalFault(request, intentDigest, { named, current, isRecorded });
  if (unwanted !== null) return refused(unwanted);
  if (pinned.nowMs >= attemptEndsAtMs(intent, request.purpose)) return refused(refusal('expired'));
  if (isTooDear(intent, pinned.feeCeilings)) return refused(refusal('fee-above-ceiling'));
  const payload = inspectedPayload(request);
  if (!payload.ok) return refused(refusal('payload-refused', payload.refusal));
  if (exceedsSizeCap(intent.chain, payload.value, pinned.feeCeilings)) return refused(refusal('fee-above-ceiling'));
  if (!isEvidenced(payload.value, request.evidence)) return refused(refusal('payload-refused', 'unproven'));
  const { signedMessages, signingDigest } = payload.value;
  const bid = payload.value.kind === 'message' ? null : payload.value.bid;
  return accepted({ purpose: request.purpose, intentDigest, signedMessages, signingDigest, bid, policy: current });
}

/**
 * Reports whether the fee of the intent exceeds the ceiling. The payload is compared with this fee,
 * so the ceiling bounds every attempt and cancellation.
 */
function isTooDear(intent: Intent, ceilings: FeeCeilings): boolean {
  return intent.kind !== 'message' && unitsOf(intent.maxFee) > unitsOf(feeCeiling(intent.chain, ceilings));
}

/**
 * Returns the refusal of the approvals and rules, or null. The policy in force decides, whichever
 * policy the intent names: revoked devices approve nothing, and only the coordinator vouches for
 * the creation time of an intent. The policy that the intent names can only require more.
 *
 * The exception is a cancellation of a transaction that this co-signer recorded by its own check,
 * for which the named policy is enough. It undoes what was approved under that policy, costs no
 * more than that approval allowed, and the current policy may be the reason for it.
 */
async function approvalFault(
  request: SigningRequest,
  digest: string,
  {
    named,
    current,
    isRecorded,
  }: { readonly named: Policy; readonly current: Policy; readonly isRecorded: () => boolean },
): Promise<Refused | null> {
  const fault = await faultUnder(current, named, { request, digest });
  if (fault === null || request.purpose !== 'cancellation' || !isRecorded()) return fault;
  return faultUnder(named, named, { request, digest });
}

/**
 * Returns why the approvals of an intent fail under the judging policy and the named one, or null.
 */
async function faultUnder(
  judge: Policy,
  named: Policy,
  { request, digest }: { readonly request: SigningRequest; readonly digest: string },
): Promise<Refused | null> {
  const { intent, purpose, approvals } = request;
  const exposure = exposureOf(intent, intent);
  const needed = requiredApprovalsFor({ intent, exposure }, thresholdFor(named, exposure), judge);
  const proven = await verifiedApprovals(approvals, judge);
  if (countedApprovers(digest, proven, judge).size < needed) return refusal('not-enough-approvals');
  // As with thresholds, dropping the requirement from the current policy does not approve an older
  // intent.
  const { requiredDevice = 'any' } = named.rules.requiredDevice === 'ed25519' ? named.rules : judge.rules;
  const strict = { ...judge, rules: { ...judge.rules, requiredDevice } };
  if (!hasRequiredDevice(digest, proven, strict)) return refusal('not-enough-approvals', 'required-device');
  // A cancellation moves nothing, so the current rules apply only to its fee.
  const effect = intent.kind === 'message' ? intent : actionOfAttempt(intent, purpose);
  const breach = ruleViolation(named.rules, exposure) ?? ruleViolation(judge.rules, exposureOf(effect, effect));
  return breach === null ? null : refusal('policy-forbids', breach.rule);
}

/**
 * Inspects the payload. A message has no nonce that something else could use, so its only purpose
 * is the intent.
 */
function inspectedPayload({ intent, purpose, payload }: SigningRequest): Result<InspectedPayload, PayloadFault> {
  if (intent.kind === 'message') {
    return purpose === 'intent' ? inspectPayload(intent, payload) : refused('wrong-message');
  }
  return inspectPayload(actionOfAttempt(intent, purpose), payload);
}
