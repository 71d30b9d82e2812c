import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { InspectedPayload, PayloadFault } from '#chains/inspect/payload.ts';
import { inspectPayload, isEvidenced } from '#chains/inspect/payload.ts';
import { verifiedApprovals } from '#devices/device-signature.ts';
import { exposureOf } from '#chains/inspect/exposure.ts';
import type { FeeCeilings } from '#chains/inspect/fee-ceiling.ts';
import { feeCeiling, exceedsSizeCap } from '#chains/inspect/fee-ceiling.ts';
import { unitsOf } from '#domain/asset/amount.ts';
import { hasRequiredDevice, countedApprovers, requiredApprovalsFor } from '#domain/transaction/approvals.ts';
import type { AttemptPurpose, Intent } from '#domain/transaction/intent.ts';
import { attemptEndsAtMs, actionOfAttempt, intentBytes } from '#domain/transaction/intent.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { thresholdFor } from '#domain/policy/policy.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import { ruleViolation } from '#domain/policy/rules.ts';
import type { Approval } from '#domain/transaction/transaction.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { Refused } from '#cosigner/refusal.ts';
import { refusal } from '#cosigner/refusal.ts';

/** What a coordinator asks a node to sign. There is no hash in it: the node computes every hash itself. */
export interface SigningRequest {
  readonly intent: Intent;
  /** Unsigned bytes, hex. */
  readonly payload: string;
  /** 1 for the first bytes, one more for each replacement at the same nonce. */
  readonly attempt: number;
  readonly purpose: AttemptPurpose;
  readonly approvals: readonly Approval[];
  /** The newest policy that the coordinator knows of. */
  readonly policyVersion: number;
  /** What has to be seen before the bytes are believed, in hex; mostly nothing. */
  readonly evidence: readonly string[];
}

/** What the node holds against it. */
export interface Pinned {
  /** Address of the key on the intent's chain, in its canonical spelling. */
  readonly wallet: string;
  /** Every policy since the key was generated, in order. */
  readonly policies: readonly Policy[];
  readonly nowMs: number;
  /** What this co-signer pays at most, whatever was approved. */
  readonly feeCeilings: FeeCeilings;
  /** Reports whether this co-signer has a signed or attested record of this transaction, with this intent. */
  readonly isRecorded: (transactionId: string, intentDigest: string) => boolean;
}

/** Ours: how far the clock of a coordinator may be ahead of this co-signer's, as for its requests. */
export const CREATION_TOLERANCE_MS = 60 * 1000;

/** Bytes that a quorum has approved, as the node itself understands them. */
export interface CheckedRequest {
  readonly purpose: AttemptPurpose;
  readonly intentDigest: string;
  /** What is signed, each by a signature of its own: of ECDSA a digest, of Ed25519 the bytes, of Bitcoin one for each coin. */
  readonly signedMessages: readonly Uint8Array[];
  /** 32 bytes: names what is signed. */
  readonly signingDigest: Uint8Array;
  /** Null for a message, which nothing ever replaces. */
  readonly bid: Bid | null;
  /** The policy in force, which has judged. */
  readonly policy: Policy;
}

/** What a replacement has to keep, and what it has to raise. */
interface Bid {
  readonly nonce: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  /** Of both prices of the attempt before. */
  readonly leastRisePercent: bigint;
}

/**
 * The independent check of one co-signer: it keeps nothing, asks nobody, and is run again before the last round.
 *
 * Refuses, in order: `wrong-wallet` (another vault, or a wallet that is not this key's), `policy-behind` (the coordinator knows
 * a newer policy; it has to show it first), `policy-ahead` (this co-signer has a newer one than the coordinator names),
 * `policy-mismatch` (the intent names a policy that this node never saw), `created-in-the-future`, `not-enough-approvals`,
 * `policy-forbids` (by the policy that the intent names, or by the one of now; what was spent within a day no single node can
 * know), `expired`, `fee-above-ceiling`, `payload-refused`, `fee-above-ceiling` for a transaction of this size.
 *
 * In device mode only voices count whose signature this node has checked, by a device of the policy that it has pinned itself. In token
 * mode they are the coordinator's word: this check then stops a wrong payload, a stale policy and a second digest, but not a coordinator that
 * invents approvals.
 */
export async function checkRequest(request: SigningRequest, pinned: Pinned): Promise<Result<CheckedRequest, Refused>> {
  const { intent } = request;
  const current = pinned.policies.at(-1);
  if (current === undefined || intent.vaultId !== current.vaultId || intent.from !== pinned.wallet) {
    return refused(refusal('wrong-wallet'));
  }
  if (request.policyVersion > current.version) return refused(refusal('policy-behind', String(current.version)));
  if (request.policyVersion < current.version) return refused(refusal('policy-ahead', String(current.version)));
  const named = pinned.policies.find((policy) => policy.version === intent.policyVersion);
  if (named === undefined || policyHashOf(named) !== intent.policyHash) return refused(refusal('policy-mismatch'));
  const intentDigest = bytesToHex(sha256(intentBytes(intent)));
  // A node that has lost its records takes only intents that are newer than the loss, by this time.
  if (intent.createdAtMs > pinned.nowMs + CREATION_TOLERANCE_MS) return refused(refusal('created-in-the-future'));
  const isRecorded = pinned.isRecorded(intent.transactionId, intentDigest);
  const unwanted = await approvalFault(request, intentDigest, { named, current, isRecorded });
  if (unwanted !== null) return refused(unwanted);
  if (pinned.nowMs >= attemptEndsAtMs(intent, request.purpose)) return refused(refusal('expired'));
  if (isTooDear(intent, pinned.feeCeilings)) return refused(refusal('fee-above-ceiling'));
  const payload = inspectedPayload(request);
  if (!payload.ok) return refused(refusal('payload-refused', payload.refusal));
  if (exceedsSizeCap(intent.chain, payload.value, pinned.feeCeilings)) return refused(refusal('fee-above-ceiling'));
  if (!isEvidenced(payload.value, request.evidence)) return refused(refusal('payload-refused', 'unproven'));
  const { signedMessages, signingDigest } = payload.value;
  const bid = payload.value.kind === 'message' ? null : bidOf(payload.value);
  return accepted({ purpose: request.purpose, intentDigest, signedMessages, signingDigest, bid, policy: current });
}

/** The payload is held against the fee of the intent, so bounding that bounds every attempt and cancellation. */
function isTooDear(intent: Intent, ceilings: FeeCeilings): boolean {
  return intent.kind !== 'message' && unitsOf(intent.maxFee) > unitsOf(feeCeiling(intent.chain, ceilings));
}

function bidOf({ nonce, fees, leastRisePercent }: Exclude<InspectedPayload, { readonly kind: 'message' }>): Bid {
  return { nonce, ...fees, leastRisePercent };
}

/**
 * The policy in force judges, whatever policy the intent names: devices that were revoked approve
 * nothing any more, and the creation time of an intent is the coordinator's word. The policy that
 * the intent names can only ask for more.
 *
 * The exception is a cancellation of a transaction that this co-signer has in its records: there the
 * named policy is enough. It undoes what was approved under that policy, costs no more than that
 * approval allowed, and the policy of now may be the reason to undo it.
 */
async function approvalFault(
  request: SigningRequest,
  digest: string,
  { named, current, isRecorded }: { readonly named: Policy; readonly current: Policy; readonly isRecorded: boolean },
): Promise<Refused | null> {
  const fault = await faultUnder(current, named, { request, digest });
  if (fault === null || request.purpose !== 'cancellation' || !isRecorded) return fault;
  return faultUnder(named, named, { request, digest });
}

/** What the judging policy has against the approvals of an intent that names a policy; null when nothing. */
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
  // Dropping the requirement approves nothing by itself, as with thresholds.
  const { requiredDevice = 'any' } = named.rules.requiredDevice === 'ed25519' ? named.rules : judge.rules;
  const strict = { ...judge, rules: { ...judge.rules, requiredDevice } };
  if (!hasRequiredDevice(digest, proven, strict)) return refusal('not-enough-approvals', 'required-device');
  // A cancellation moves nothing, so the rules of now judge its fee alone.
  const effect = intent.kind === 'message' ? intent : actionOfAttempt(intent, purpose);
  const breach = ruleViolation(named.rules, exposure) ?? ruleViolation(judge.rules, exposureOf(effect, effect));
  return breach === null ? null : refusal('policy-forbids', breach.rule);
}

/** A message has no nonce that something else could take. */
function inspectedPayload({ intent, purpose, payload }: SigningRequest): Result<InspectedPayload, PayloadFault> {
  if (intent.kind === 'message') {
    return purpose === 'intent' ? inspectPayload(intent, payload) : refused('wrong-message');
  }
  return inspectPayload(actionOfAttempt(intent, purpose), payload);
}
