import { authorize } from '#domain/vault/membership.ts';
import { deviceSignatureRefusal } from '#devices/device-signature.ts';
import { rejectionOf } from '#devices/rejection.ts';
import type { DeviceSignature } from '#domain/access/device.ts';
import type { PolicyChangeId } from '#domain/id.ts';
import type { ExpiredAdoption, Founding } from '#domain/policy/mandate-renewal.ts';
import type { Member } from '#domain/access/member.ts';
import { hasPermission } from '#domain/access/member.ts';
import type { AdoptedPolicy, PolicyChange } from '#domain/policy/policy-change.ts';
import { decideChange, judgeOf, mayApprove, mayCancelChange, mayReject } from '#domain/policy/policy-change.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Actor, Operator } from '#domain/access/approval.ts';
import type { Vault } from '#domain/vault/vault.ts';
import { isDraft, newDraft, writeDraft } from '#objects/vault/writes/founding-draft.ts';
import { foundingOf, newRenewal, renewalsNeededBy } from '#objects/vault/writes/mandate-renewal.ts';
import type { PolicyPatchFault } from '#domain/vault/next-policy.ts';
import type { Proposal, RenewalRequest } from '#objects/vault/writes/policy-change-writes.ts';
import type { DecidedChange } from '#objects/vault/writes/policy-change-writes.ts';
import {
  decidedChange,
  newChange,
  writeChangeDecision,
  writeNewChange,
} from '#objects/vault/writes/policy-change-writes.ts';
import { dropStaleApprovals } from '#objects/vault/commands/transaction.ts';
import type { VaultContext } from '#objects/vault/context.ts';
import type { AdoptionWork, PolicyChangeInFull, PolicyChangeView, PolicyView } from '#objects/vault/views.ts';
import { adoptionOf } from '#objects/vault/views.ts';

/**
 * A signer's decision on a change. A device signs the digest of the change or of its rejection. The
 * reason of a rejection is not signed.
 */
export type ChangeDecision =
  | { readonly type: 'approve'; readonly device: DeviceSignature | null }
  | { readonly type: 'reject'; readonly device: DeviceSignature | null; readonly reason?: string }
  | { readonly type: 'cancel' };

/** The result of a propagation of the policies to the co-signers. */
export interface AdoptionReport {
  /** The newest propagated version. */
  readonly version: number;
  /** Whether every co-signer has adopted it. */
  readonly isComplete: boolean;
  readonly expired: readonly ExpiredAdoption[];
  /** Co-signer number to the version that it has in force, as far as it answered. */
  readonly adoptedVersions: Readonly<Record<string, number>>;
}

/** The commands with which the signers of a vault read and change its policy. */

/** Returns the policy in force. Refuses `forbidden`. */
export function policyInForce(context: VaultContext, actor: Actor): Result<PolicyView, Refusal> {
  const entered = authorize(context.vault(), actor, 'view');
  if (!entered.ok) return entered;
  const { vault } = entered.value;
  const { policy, keys } = vault;
  const nowMs = Date.now();
  const { storage } = context;
  const spent = policy.rules.limits.map((limit) => storage.policies.spentOf(limit, nowMs).toString());
  const renewalsNeeded = renewalsNeededBy(storage, vault);
  return accepted({ policy, spent, keys, renewalsNeeded, founding: foundingOf(storage, vault) });
}

/** Returns what is missing from the founding of the vault, or null. */
export function founding({ storage, vault: current }: VaultContext): Founding | null {
  const vault = current();
  return vault === null ? null : foundingOf(storage, vault);
}

/** Returns all adopted policies below this version, the newest first. Refuses `forbidden`. */
export function policyHistory(
  context: VaultContext,
  actor: Actor,
  { before, limit }: { readonly before: number | null; readonly limit: number },
): Result<readonly AdoptedPolicy[], Refusal> {
  const entered = authorize(context.vault(), actor, 'view');
  return entered.ok ? accepted(context.storage.policies.adoptedBefore(before, limit)) : entered;
}

/**
 * Proposes a next policy, on which the current signers decide. A repeated proposal returns the
 * same change. Before the vault is founded, the change of its draft is adopted at once. Refuses, in
 * order: `forbidden`, then what `newDraft` or `newChange` refuses.
 */
export async function proposePolicy(
  context: VaultContext,
  proposer: Actor | Operator,
  proposal: Omit<Proposal, 'actor'>,
): Promise<Result<PolicyChangeView, PolicyPatchFault | Refusal>> {
  const actor = 'userId' in proposer ? proposer : null;
  const entered = authorizeProposal(context, actor);
  if (!entered.ok) return entered;
  const { vault, viewer } = entered.value;
  const { storage, commits } = context;
  if (isDraft(storage, vault)) {
    const draft = newDraft(vault, { ...proposal, actor });
    if (!draft.ok) return draft;
    let after = vault;
    const write = () => {
      after = writeDraft(storage, vault, draft.value, proposer);
    };
    await commits.run(write, () => context.replaceVault(after));
    return accepted(viewOf(context, draft.value, { vault: after, viewer }));
  }
  const proposed = newChange(storage, vault, { patch: proposal.patch, note: proposal.note, actor });
  if (!proposed.ok) return proposed;
  const { change, isNew } = proposed.value;
  if (isNew) await commits.run(() => writeNewChange(storage, vault, change, proposer));
  return accepted(viewOf(context, change, { vault, viewer }));
}

/**
 * Proposes a new mandate for an adopted policy, on which the quorum of the policy before it
 * decides. A repeated request returns the same change. Refuses, in order: `forbidden`, then what
 * `newRenewal` refuses.
 */
export async function renewMandate(
  context: VaultContext,
  actor: Actor,
  { version, note }: Omit<RenewalRequest, 'actor'>,
): Promise<Result<PolicyChangeView, Refusal>> {
  const entered = authorize(context.vault(), actor, 'propose');
  if (!entered.ok) return entered;
  const { vault, viewer } = entered.value;
  const { storage, commits } = context;
  const renewal = newRenewal(storage, vault, { version, note, actor });
  if (!renewal.ok) return renewal;
  const { change, isNew } = renewal.value;
  if (isNew) await commits.run(() => writeNewChange(storage, vault, change));
  return accepted(viewOf(context, change, { vault, viewer }));
}

/** Returns the changes that are older than this one, the newest first. Refuses `forbidden`. */
export function policyChanges(
  context: VaultContext,
  actor: Actor,
  { before, limit }: { readonly before: PolicyChangeId | null; readonly limit: number },
): Result<PolicyChangeView[], Refusal> {
  const entered = authorize(context.vault(), actor, 'view');
  if (!entered.ok) return entered;
  const { vault, viewer } = entered.value;
  const changes = context.storage.policies.changesBefore(before, limit);
  return accepted(changes.map((change) => viewOf(context, change, { vault, viewer })));
}

/** Returns one change. Refuses, in order: `forbidden`, `policy-change-not-found`. */
export function readPolicyChange(
  context: VaultContext,
  actor: Actor,
  { id }: { readonly id: PolicyChangeId },
): Result<PolicyChangeInFull, Refusal> {
  const found = findChange(context, actor, { id, act: 'view' });
  return found.ok ? accepted({ ...found.value, keys: context.vault()?.keys ?? [] }) : found;
}

/**
 * Records an approval, a rejection or a cancellation of a change. The last approval puts the
 * policy in force. Refuses, in order: `forbidden`, `policy-change-not-found`,
 * `policy-change-not-pending`, `removed-by-change`, what `deviceSignatureRefusal` refuses.
 */
export async function decidePolicyChange(
  context: VaultContext,
  actor: Actor,
  { id, decision }: { readonly id: PolicyChangeId; readonly decision: ChangeDecision },
): Promise<Result<PolicyChangeView, Refusal>> {
  const act = decision.type === 'cancel' ? 'view' : decision.type;
  const before = findChange(context, actor, { id, act });
  if (!before.ok) return before;
  const signatureFault = await signatureRefusal(actor, decision, before.value);
  // Verifying the signature awaits, so other decisions can land meanwhile. All other checks run
  // now.
  if (context.vault()?.policy !== before.value.policy) return decidePolicyChange(context, actor, { id, decision });
  const found = findChange(context, actor, { id, act });
  if (!found.ok) return found;
  const { change, decider, viewer } = found.value;
  const isCancellable = viewer !== null && mayCancelChange(viewer, change, found.value.policy);
  if (decision.type === 'cancel' && !isCancellable) return refused({ code: 'forbidden' });
  const event = { ...decision, actor };
  const decided = decideChange(change, event, { current: decider, nowMs: Date.now() });
  if (!decided.ok) return decided;
  if (signatureFault !== null) return refused(signatureFault);
  await commitChange(context, { before: change, event, after: decided.value });
  return findChange(context, actor, { id, act: 'view' });
}

/** Expires a change if the time of its decision is over. */
export async function expirePolicyChange(context: VaultContext, id: string): Promise<void> {
  const change = context.storage.policies.change(id);
  const vault = context.vault();
  if (change === null || vault === null) return;
  await commitChange(context, decidedChange(context.storage, vault, { change, event: { type: 'expire' } }));
}

/**
 * Returns the policy for the consumers, which bring it to the co-signers; null when all have
 * adopted it.
 */
export function adoptionWork(context: VaultContext): AdoptionWork | null {
  const { storage } = context;
  const vault = context.vault();
  if (vault === null || storage.queuedJob('', 'adopt-policy') === null) return null;
  return adoptionOf(vault);
}

/** Returns the policies above a version, in order, as many as one request carries. */
export function policiesAfter(
  { storage }: VaultContext,
  { version }: { readonly version: number },
): readonly AdoptedPolicy[] {
  return storage.policies.adoptedAfter(version);
}

/**
 * Records the version that each co-signer has, and which of them refused a policy for its expired
 * mandate. When every co-signer has adopted the newest policy, its adoption is complete.
 */
export async function reportAdoption(context: VaultContext, report: AdoptionReport): Promise<void> {
  const { storage, commits } = context;
  const vault = context.vault();
  if (vault === null) return;
  const isNewest = vault.policy.version === report.version;
  const after: Vault = {
    ...vault,
    adoptedVersions: { ...vault.adoptedVersions, ...report.adoptedVersions },
    expiredAdoptions: isNewest ? report.expired : vault.expiredAdoptions,
  };
  const isChanged = JSON.stringify(after) !== JSON.stringify(vault);
  const isComplete = isNewest && report.isComplete;
  const write = () => {
    if (isComplete) storage.completeJob('', 'adopt-policy');
    if (isChanged) storage.putVault(after);
  };
  if (isComplete || isChanged) await commits.run(write, () => context.replaceVault(after));
}

/** Commits a decided event of a change, with all consequences of an adoption. */
async function commitChange(context: VaultContext, decided: DecidedChange): Promise<void> {
  const { storage, commits } = context;
  const vault = context.vault();
  if (vault === null) throw new Error('the vault was not created, so it has no policy');
  let after = vault;
  const write = () => {
    after = writeChangeDecision(storage, vault, decided);
    if (after !== vault) dropStaleApprovals(context, after);
  };
  await commits.run(write, () => context.replaceVault(after));
}

function authorizeProposal(
  context: VaultContext,
  actor: Actor | null,
): Result<{ readonly vault: Vault; readonly viewer: Member | null }, Refusal> {
  if (actor !== null) return authorize(context.vault(), actor, 'propose');
  const vault = context.vault();
  return vault === null ? refused({ code: 'forbidden' }) : accepted({ vault, viewer: null });
}

/** Returns a change for this act. Refuses, in order: `forbidden`, `policy-change-not-found`. */
function findChange(
  context: VaultContext,
  actor: Actor,
  { id, act }: { readonly id: PolicyChangeId; readonly act: 'view' | 'approve' | 'reject' },
): Result<PolicyChangeView, Refusal> {
  const entered = authorize(context.vault(), actor, 'view');
  if (!entered.ok) return entered;
  const { vault, viewer } = entered.value;
  const change = context.storage.policies.change(id);
  const view = change === null ? null : viewOf(context, change, { vault, viewer });
  if (view === null) {
    // A member who decides on no change of the vault does not learn which changes exist.
    const isBarred = act !== 'view' && !hasPermission(viewer, 'decide');
    return refused({ code: isBarred ? 'forbidden' : 'policy-change-not-found' });
  }
  const mayDecide = { view: () => true, approve: mayApprove, reject: mayReject }[act];
  return mayDecide(viewer, view.change, view.decider) ? accepted(view) : refused({ code: 'forbidden' });
}

function viewOf(
  context: VaultContext,
  change: PolicyChange,
  { vault: { policy }, viewer }: { readonly vault: Vault; readonly viewer: Member | null },
): PolicyChangeView {
  return { change, policy, decider: context.storage.policies.deciderOver(change, policy), viewer };
}

/** Returns why the device signature of a decision is refused, or null. */
async function signatureRefusal(
  actor: Actor,
  decision: ChangeDecision,
  { change, decider }: Pick<PolicyChangeView, 'change' | 'decider'>,
): Promise<Refusal | null> {
  if (decision.type === 'cancel') return null;
  const { digest } = decision.type === 'approve' ? change : rejectionOf(change);
  const judge = decision.type === 'approve' ? judgeOf(change, actor.userId, decider) : decider;
  return deviceSignatureRefusal({ actor, digest, device: decision.device }, judge);
}
