import { randomBytes } from '@noble/hashes/utils.js';
import { newPolicyChangeId } from '#domain/id.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { thresholdForChange } from '#domain/policy/policy.ts';
import type { AdoptedPolicy, PolicyChange, PolicyChangeEvent } from '#domain/policy/policy-change.ts';
import { ADOPTION_PERIOD_MS, decideChange, isRenewal } from '#domain/policy/policy-change.ts';
import { slotRefusal } from '#domain/policy/pending-changes.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Actor, Operator } from '#domain/access/approval.ts';
import type { Vault } from '#domain/vault/vault.ts';
import { DEFAULT_DECISION_PERIOD_SECONDS } from '#domain/vault/vault.ts';
import type { PolicyPatch, PolicyPatchFault } from '#domain/vault/next-policy.ts';
import { foundersOf } from '#domain/policy/founding.ts';
import { nextPolicy } from '#domain/vault/next-policy.ts';
import { withPolicy } from '#domain/vault/membership.ts';
import { mandateDigest, policyHashOf } from '#devices/policy-succession.ts';
import type { VaultStorage } from '#objects/vault/storage.ts';
import { enqueueNotification, writeVaultChange } from '#objects/vault/writes/vault-writes.ts';

/** Ours: the minimum time that the signers of a vault have to found it. */
const FOUNDING_SECONDS = DEFAULT_DECISION_PERIOD_SECONDS;

export interface Proposal {
  readonly patch: PolicyPatch;
  readonly note: string | null;
  /** Null for an operator. */
  readonly actor: Actor | null;
}

/** A member's request for a new mandate of an adopted policy. */
export interface RenewalRequest {
  readonly version: number;
  readonly note: string | null;
  readonly actor: Actor;
}

/**
 * Returns a new change, or the pending one with the same policy. Refuses, in order: what
 * `nextPolicy` refuses, `policy-unchanged`, what `slotRefusal` refuses.
 */
export function newChange(
  storage: VaultStorage,
  vault: Vault,
  proposal: Proposal,
): Result<{ readonly change: PolicyChange; readonly isNew: boolean }, PolicyPatchFault | Refusal> {
  const next = nextPolicy(vault, proposal.patch, policyHashOf(vault.policy));
  if (!next.ok) return next;
  const policy = next.value;
  const hash = policyHashOf(policy);
  const same = policyHashOf({ ...policy, version: vault.policy.version, previousHash: vault.policy.previousHash });
  if (same === policyHashOf(vault.policy)) return refused({ code: 'policy-unchanged' });
  const already = storage.policies.pendingChangeTo(hash);
  if (already !== null) return accepted({ change: already, isNew: false });
  const { note, actor } = proposal;
  const change = openChange(vault, { policy, note, actor }, vault.policy);
  const refusal = slotRefusal(storage.policies.pendingChanges(), change, vault.policy);
  return refusal === null ? accepted({ change, isNew: true }) : refused(refusal);
}

/**
 * Returns an undecided change.
 *
 * @param decider the policy whose quorum decides
 */
export function openChange(
  vault: Vault,
  { policy, note, actor }: { readonly policy: Policy } & Pick<Proposal, 'note' | 'actor'>,
  decider: Policy,
): PolicyChange {
  const nowMs = Date.now();
  const { decisionPeriodSeconds } = vault.configuration;
  // Each signer has to found the vault, some with a device that they get first.
  const seconds = policy.version === 1 ? Math.max(decisionPeriodSeconds, FOUNDING_SECONDS) : decisionPeriodSeconds;
  const decisionEndsAtMs = nowMs + seconds * 1000;
  const mandate = {
    id: newPolicyChangeId(nowMs, randomBytes(10)),
    policy,
    note,
    createdAtMs: nowMs,
    expiresAtMs: decisionEndsAtMs + ADOPTION_PERIOD_MS,
  };
  return {
    ...mandate,
    state: 'PENDING',
    approvals: [],
    rejections: [],
    decisionEndsAtMs,
    digest: mandateDigest(mandate, policy),
    requiredApprovals: Math.max(thresholdForChange(decider), foundersOf(policy, decider).length),
    createdBy: actor,
    updatedAtMs: nowMs,
  };
}

/** Returns an undecided renewal of the mandate of a policy. For version 1 it is the founding. */
export function openRenewal(
  vault: Vault,
  request: { readonly policy: Policy } & Pick<Proposal, 'note' | 'actor'>,
  decider: Policy,
): PolicyChange {
  return { ...openChange(vault, request, decider), renewsVersion: request.policy.version };
}

/**
 * Writes a new change with its job and its history entry.
 *
 * @param by its creator, or the operator who proposed it
 */
export function writeNewChange(
  storage: VaultStorage,
  vault: Vault,
  change: PolicyChange,
  by: Actor | Operator | null = change.createdBy,
): void {
  storage.policies.putChange(change, policyHashOf(change.policy));
  storage.enqueueJob({
    transactionId: change.id,
    job: 'expire-policy',
    version: 0,
    dueAtMs: change.decisionEndsAtMs,
    tries: 0,
  });
  writeVaultChange(storage, vault, { ...lineOf(change, 'propose'), actor: by });
  notifyOfChange(storage, change);
}

/** A decided event: the change before and after it. */
export interface DecidedChange {
  readonly before: PolicyChange;
  readonly event: PolicyChangeEvent;
  readonly after: PolicyChange;
}

/**
 * Writes a decided event of a change, and returns the vault after it: under another policy when the
 * change is adopted. An adoption supersedes all other pending changes, because their predecessor
 * is no longer in force; renewals stay, because their policies do not change. Runs inside a commit,
 * after all refusals were answered.
 */
export function writeChangeDecision(
  storage: VaultStorage,
  vault: Vault,
  { before, event, after }: DecidedChange,
): Vault {
  if (after === before) return vault;
  storage.policies.putChange(after, policyHashOf(after.policy));
  const actor = 'actor' in event ? event.actor : null;
  const line = lineOf(after, event.type);
  const reason = event.type === 'reject' ? event.reason : undefined;
  // The field `reason` of an entry is the state.
  const detail = reason === undefined ? line.detail : `${line.detail} ${reason}`;
  writeVaultChange(storage, vault, { ...line, detail, actor });
  if (after.state !== 'PENDING') {
    storage.completeJob(after.id, 'expire-policy');
    notifyOfChange(storage, after);
  }
  if (after.state !== 'ADOPTED') return vault;
  const { id, policy, note, createdAtMs, expiresAtMs, approvals } = after;
  const adopted = { policy, mandate: { id, policy, note, createdAtMs, expiresAtMs, approvals } };
  if (isRenewal(after)) {
    writeRenewal(storage, vault, adopted);
    return vault;
  }
  storage.policies.adopt(adopted, policyHashOf(policy));
  const governed = withPolicy(vault, policy);
  storage.putVault(governed);
  enqueueAdoption(storage, governed);
  writeVaultChange(storage, governed, { action: 'adopt-policy', detail: id, actor: null });
  supersede(
    storage,
    governed,
    storage.policies.pendingChanges().filter((pending) => !isRenewal(pending)),
  );
  return governed;
}

/** Ends pending changes whose predecessor is no longer in force. Runs inside a commit. */
export function supersede(storage: VaultStorage, vault: Vault, pending: readonly PolicyChange[]): void {
  for (const change of pending) {
    writeChangeDecision(storage, vault, decidedChange(storage, vault, { change, event: { type: 'supersede' } }));
  }
}

/** Removes the decisions of disabled access from pending changes. Runs inside a commit. */
export function dropDisabledDecisions(storage: VaultStorage, vault: Vault): void {
  const { disabledAccess } = vault;
  for (const change of storage.policies.pendingChanges()) {
    const event = { type: 'drop-decisions', disabledAccess } as const;
    writeChangeDecision(storage, vault, decidedChange(storage, vault, { change, event }));
  }
}

/** Decides on an event that is never refused. */
export function decidedChange(
  storage: VaultStorage,
  { policy }: Vault,
  { change, event }: { readonly change: PolicyChange; readonly event: PolicyChangeEvent },
): DecidedChange {
  const decided = decideChange(change, event, {
    current: storage.policies.deciderOver(change, policy),
    nowMs: Date.now(),
  });
  if (!decided.ok) throw new Error(`an event that must not be refused was refused: ${decided.refusal.code}`);
  return { before: change, event, after: decided.value };
}

/**
 * Replaces only the mandate of an adopted policy. The jobs that wait for it are due at once,
 * instead of after their back-off.
 */
function writeRenewal(
  storage: VaultStorage,
  vault: Vault,
  renewed: { readonly policy: Policy; readonly mandate: NonNullable<AdoptedPolicy['mandate']> },
): void {
  const digest = policyHashOf(renewed.policy);
  storage.policies.renew(renewed, digest);
  enqueueAdoption(storage, vault);
  const keyJob = storage.queuedJob('', 'generate-key');
  if (keyJob !== null) storage.enqueueJob({ ...keyJob, dueAtMs: Date.now(), tries: 0 });
  const action = renewed.policy.version === 1 ? 'adopt-founding' : 'renew-mandate';
  writeVaultChange(storage, vault, { action, detail: renewed.mandate.id, digest, actor: null });
}

/**
 * Enqueues the adoption by the co-signers. They adopt a policy while its mandate is valid, and not
 * with the next signature: otherwise a vault that signs nothing for longer than a mandate lasts
 * would have a policy that no co-signer can adopt.
 */
export function enqueueAdoption(storage: VaultStorage, { keys, policy }: Vault): void {
  if (keys.length === 0 || policy.version === 1) return;
  storage.enqueueJob({ transactionId: '', job: 'adopt-policy', version: 0, dueAtMs: Date.now(), tries: 0 });
}

/** The version of the row differs after each event: a later state is notified, too. */
function notifyOfChange(storage: VaultStorage, { id }: PolicyChange): void {
  enqueueNotification(storage, { id, version: storage.history.length() });
}

function lineOf(change: PolicyChange, verb: 'propose' | PolicyChangeEvent['type']) {
  const kind = change.renewsVersion === 1 ? 'founding' : isRenewal(change) ? 'renewal' : 'policy';
  const action = `${verb}-${kind}`;
  return { action, detail: change.id, digest: change.digest, reason: change.state };
}
