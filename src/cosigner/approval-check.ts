import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { InspectedPayload, PayloadFault } from '#chains/payload.ts';
import { inspectPayload, isEvidenced } from '#chains/payload.ts';
import { provenVotes } from '#devices/voice.ts';
import { exposureOf } from '#chains/exposure.ts';
import { voicesFor, voicesNeeded } from '#domain/approval.ts';
import type { AttemptPurpose, Intent } from '#domain/intent.ts';
import { effectOf, intentBytes, signingEndsAtMs } from '#domain/intent.ts';
import type { Policy } from '#domain/policy.ts';
import { policyBytes, thresholdFor, thresholdForChange } from '#domain/policy.ts';
import { mandateBytes } from '#domain/policy-change.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import { ruleBreach } from '#domain/rules.ts';
import type { Vote } from '#domain/transaction.ts';
import type { SentMandate } from '#cosigner/wire.ts';
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
  readonly approvals: readonly Vote[];
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
}

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
 * a newer policy; it has to show it first), `policy-mismatch` (the intent names a policy that this node never saw),
 * `not-enough-approvals`, `policy-forbids` (by the policy that the intent names, or by the one of now; what was spent within a day no
 * single node can know), `expired`, `payload-refused`.
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
  const named = pinned.policies.find((policy) => policy.version === intent.policyVersion);
  if (named === undefined || policyHashOf(named) !== intent.policyHash) return refused(refusal('policy-mismatch'));
  const intentDigest = bytesToHex(sha256(intentBytes(intent)));
  const unwanted = await approvalFault(request, intentDigest, { named, current });
  if (unwanted !== null) return refused(unwanted);
  if (pinned.nowMs >= signingEndsAtMs(intent)) return refused(refusal('expired'));
  const payload = inspectedPayload(request);
  if (!payload.ok) return refused(refusal('payload-refused', payload.refusal));
  if (!isEvidenced(payload.value, request.evidence)) return refused(refusal('payload-refused', 'unproven'));
  const { signedMessages, signingDigest } = payload.value;
  const bid = payload.value.kind === 'message' ? null : bidOf(payload.value);
  return accepted({ purpose: request.purpose, intentDigest, signedMessages, signingDigest, bid });
}

function bidOf({ nonce, fees, leastRisePercent }: Exclude<InspectedPayload, { readonly kind: 'message' }>): Bid {
  return { nonce, ...fees, leastRisePercent };
}

/**
 * A cancellation undoes what was approved once. It moves nothing and costs no more than that, so the voices of then are enough, and
 * the policy of now has nothing against it: it may be why somebody wants it undone.
 */
async function approvalFault(
  { intent, purpose, approvals }: SigningRequest,
  digest: string,
  { named, current }: { readonly named: Policy; readonly current: Policy },
): Promise<Refused | null> {
  const exposure = exposureOf(intent, intent);
  const judge = purpose === 'cancellation' ? named : current;
  const needed = voicesNeeded({ intent, exposure }, thresholdFor(named, exposure), judge);
  const proven = await provenVotes(approvals, judge);
  if (voicesFor(digest, proven, judge).size < needed) return refusal('not-enough-approvals');
  const breach = ruleBreach(named.rules, exposure) ?? ruleBreach(judge.rules, exposure);
  return breach === null ? null : refusal('policy-forbids', breach.rule);
}

/** A message has no nonce that something else could take. */
function inspectedPayload({ intent, purpose, payload }: SigningRequest): Result<InspectedPayload, PayloadFault> {
  if (intent.kind === 'message') {
    return purpose === 'intent' ? inspectPayload(intent, payload) : refused('wrong-message');
  }
  return inspectPayload(effectOf(intent, purpose), payload);
}

/**
 * Whether a policy follows the one in force: exactly one version on, for the same vault, naming the hash of the one before, with as
 * many voices as that one asks for a change of itself.
 */
export async function follows(current: Policy, next: Policy, mandate: SentMandate | null): Promise<boolean> {
  if (mandate === null) return false;
  const proven = await provenVotes(mandate.approvals, current);
  const digest = bytesToHex(sha256(mandateBytes(mandate, policyHashOf(next))));
  return (
    next.version === current.version + 1 &&
    next.vaultId === current.vaultId &&
    next.previousHash === policyHashOf(current) &&
    voicesFor(digest, proven, current).size >= thresholdForChange(current)
  );
}

const HASHES = new WeakMap<Policy, string>();

/** Worked out once for each object. */
export function policyHashOf(policy: Policy): string {
  const hash = HASHES.get(policy) ?? bytesToHex(sha256(policyBytes(policy)));
  HASHES.set(policy, hash);
  return hash;
}
