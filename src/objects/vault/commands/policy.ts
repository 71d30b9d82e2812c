import { deviceSignatureRefusal } from '#devices/device-signature.ts';
import { rejectionOf } from '#devices/policy-rejection.ts';
import type { DeviceSignature } from '#domain/access/device.ts';
import type { PolicyChangeId } from '#domain/id.ts';
import type { ExpiredAdoption } from '#domain/policy/mandate-renewal.ts';
import type { Member } from '#domain/access/member.ts';
import { hasPermission, mayCancel } from '#domain/access/member.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { AdoptedPolicy, PolicyChange, PolicyChangeEvent } from '#domain/policy/policy-change.ts';
import { decideChange, mayApprove, mayReject } from '#domain/policy/policy-change.ts';
import type { Refusal } from '#domain/refusal.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Actor } from '#domain/transaction/transaction.ts';
import type { Vault } from '#domain/vault.ts';
import { newRenewal, renewalsNeededBy } from '#objects/vault/writes/mandate-renewal.ts';
import type { PolicyPatchFault } from '#domain/policy/next-policy.ts';
import type { Proposal, RenewalRequest } from '#objects/vault/writes/policy-change-writes.ts';
import { newChange, writeChangeDecision, writeNewChange } from '#objects/vault/writes/policy-change-writes.ts';
import type { VaultContext } from '#objects/vault/context.ts';
import type { AdoptionWork, PolicyChangeInFull, PolicyChangeView, PolicyView } from '#objects/vault/views.ts';
import { adoptionOf } from '#objects/vault/views.ts';

/** The consequences of an adopted policy. */
export interface PolicyEffects {
  /** Removes the approvals that do not count under it; runs inside a commit. */
  readonly dropVotes: (policy: Policy) => void;
  /** Replaces the vault in memory. */
  readonly replaceVault: (vault: Vault) => void;
}

/** A signer's decision on a change. A device signs the digest of the change or of its rejection. */
export type ChangeDecision =
  | { readonly type: 'approve' | 'reject'; readonly device: DeviceSignature | null }
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
export class PolicyCommands {
  readonly #host: VaultContext;
  readonly #governance: PolicyEffects;

  constructor(host: VaultContext, governance: PolicyEffects) {
    this.#host = host;
    this.#governance = governance;
  }

  /** Returns the policy in force. Refuses `forbidden`. */
  inForce(actor: Actor): Result<PolicyView, Refusal> {
    const entered = this.#host.authorize(actor, 'view');
    if (!entered.ok) return entered;
    const { vault } = entered.value;
    const { policy, keys } = vault;
    const nowMs = Date.now();
    const { storage } = this.#host;
    const spent = policy.rules.limits.map((limit) => storage.policies.spentOf(limit, nowMs).toString());
    return accepted({ policy, spent, keys, renewalsNeeded: renewalsNeededBy(storage, vault) });
  }

  /** Returns all adopted policies below this version, the newest first. Refuses `forbidden`. */
  history(actor: Actor, before: number | null, limit: number): Result<readonly AdoptedPolicy[], Refusal> {
    const entered = this.#host.authorize(actor, 'view');
    return entered.ok ? accepted(this.#host.storage.policies.adoptedBefore(before, limit)) : entered;
  }

  /**
   * Proposes a next policy, on which the current signers decide. A repeated proposal returns the
   * same change. Refuses, in order: `forbidden`, then what `newChange` refuses.
   */
  async propose(proposal: Proposal): Promise<Result<PolicyChangeView, PolicyPatchFault | Refusal>> {
    const entered = this.#enterToPropose(proposal.actor);
    if (!entered.ok) return entered;
    const { vault, viewer } = entered.value;
    const { storage, commits } = this.#host;
    const proposed = newChange(storage, vault, proposal);
    if (!proposed.ok) return proposed;
    const { change, isNew } = proposed.value;
    if (isNew) await commits.run(() => writeNewChange(storage, vault, change));
    return accepted(this.#view(change, vault, viewer));
  }

  /**
   * Proposes a new mandate for an adopted policy, on which the quorum of the policy before it
   * decides. A repeated request returns the same change. Refuses, in order: `forbidden`, then what
   * `newRenewal` refuses.
   */
  async renew(request: RenewalRequest): Promise<Result<PolicyChangeView, Refusal>> {
    const entered = this.#host.authorize(request.actor, 'propose');
    if (!entered.ok) return entered;
    const { vault, viewer } = entered.value;
    const { storage, commits } = this.#host;
    const renewal = newRenewal(storage, vault, request);
    if (!renewal.ok) return renewal;
    const { change, isNew } = renewal.value;
    if (isNew) await commits.run(() => writeNewChange(storage, vault, change));
    return accepted(this.#view(change, vault, viewer));
  }

  /** Returns the changes that are older than this one, the newest first. Refuses `forbidden`. */
  changes(actor: Actor, before: PolicyChangeId | null, limit: number): Result<PolicyChangeView[], Refusal> {
    const entered = this.#host.authorize(actor, 'view');
    if (!entered.ok) return entered;
    const { vault, viewer } = entered.value;
    const changes = this.#host.storage.policies.changesBefore(before, limit);
    return accepted(changes.map((change) => this.#view(change, vault, viewer)));
  }

  /** Returns one change. Refuses, in order: `forbidden`, `policy-change-not-found`. */
  read(actor: Actor, id: PolicyChangeId): Result<PolicyChangeInFull, Refusal> {
    const found = this.#find(actor, id, 'view');
    return found.ok ? accepted({ ...found.value, keys: this.#host.vault()?.keys ?? [] }) : found;
  }

  /**
   * Records an approval, a rejection or a cancellation of a change. The last approval puts the
   * policy in force. Refuses, in order: `forbidden`, `policy-change-not-found`,
   * `policy-change-not-pending`, `removed-by-change`, what `deviceSignatureRefusal` refuses.
   */
  async decide(actor: Actor, id: PolicyChangeId, decision: ChangeDecision): Promise<Result<PolicyChangeView, Refusal>> {
    const act = decision.type === 'cancel' ? 'view' : decision.type;
    const before = this.#find(actor, id, act);
    if (!before.ok) return before;
    const signatureFault = await signatureRefusal(actor, decision, before.value);
    // Verifying the signature awaits, so other decisions can land meanwhile. All other checks run
    // now.
    if (this.#host.vault()?.policy !== before.value.policy) return this.decide(actor, id, decision);
    const found = this.#find(actor, id, act);
    if (!found.ok) return found;
    const { change, decider, viewer } = found.value;
    const isOwn = viewer !== null && mayCancel(viewer, change.createdBy?.userId ?? null, 'propose');
    if (decision.type === 'cancel' && !isOwn) return refused({ code: 'forbidden' });
    const event = { ...decision, actor };
    const decided = decideChange(change, event, { current: decider, nowMs: Date.now() });
    if (!decided.ok) return decided;
    if (signatureFault !== null) return refused(signatureFault);
    await this.#apply(change, event);
    return this.#find(actor, id, 'view');
  }

  /** Expires a change if the time of its decision is over. */
  async expire(id: string): Promise<void> {
    const change = this.#host.storage.policies.change(id);
    if (change !== null) await this.#apply(change, { type: 'expire' });
  }

  /**
   * Returns the policy for the consumers, which bring it to the co-signers; null when all have
   * adopted it.
   */
  adoptionWork(): AdoptionWork | null {
    const { storage } = this.#host;
    const vault = this.#host.vault();
    if (vault === null || storage.queuedJob('', 'adopt-policy') === null) return null;
    return adoptionOf(vault);
  }

  /**
   * Records the version that each co-signer has, and which of them refused a policy for its expired
   * mandate. When every co-signer has adopted the newest policy, its adoption is complete.
   */
  async reportAdoption(report: AdoptionReport): Promise<void> {
    const { storage, commits } = this.#host;
    const vault = this.#host.vault();
    if (vault === null) return;
    const isNewest = vault.policy.version === report.version;
    const after: Vault = {
      ...vault,
      adoptedVersions: { ...vault.adoptedVersions, ...report.adoptedVersions },
      expiredAdoptions: isNewest ? report.expired : (vault.expiredAdoptions ?? []),
    };
    const isChanged = JSON.stringify(after) !== JSON.stringify(vault);
    const isComplete = isNewest && report.isComplete;
    const write = () => {
      if (isComplete) storage.completeJob('', 'adopt-policy');
      if (isChanged) storage.putVault(after);
    };
    if (isComplete || isChanged) await commits.run(write, () => this.#governance.replaceVault(after));
  }

  /** Applies an event to a change, with all consequences of an adoption. */
  async #apply(change: PolicyChange, event: PolicyChangeEvent): Promise<void> {
    const { storage, commits } = this.#host;
    const vault = this.#host.vault();
    if (vault === null) throw new Error('a vault that was not created has no policy');
    let after = vault;
    const write = () => {
      after = writeChangeDecision(storage, vault, { change, event });
      if (after !== vault) this.#governance.dropVotes(after.policy);
    };
    await commits.run(write, () => this.#governance.replaceVault(after));
  }

  #enterToPropose(actor: Actor | null): Result<{ readonly vault: Vault; readonly viewer: Member | null }, Refusal> {
    if (actor !== null) return this.#host.authorize(actor, 'propose');
    const vault = this.#host.vault();
    return vault === null ? refused({ code: 'forbidden' }) : accepted({ vault, viewer: null });
  }

  /** Returns a change for this act. Refuses, in order: `forbidden`, `policy-change-not-found`. */
  #find(actor: Actor, id: PolicyChangeId, act: 'view' | 'approve' | 'reject'): Result<PolicyChangeView, Refusal> {
    const entered = this.#host.authorize(actor, 'view');
    if (!entered.ok) return entered;
    const { vault, viewer } = entered.value;
    const change = this.#host.storage.policies.change(id);
    const view = change === null ? null : this.#view(change, vault, viewer);
    if (view === null) {
      // A member who decides on no change of the vault does not learn which changes exist.
      const isBarred = act !== 'view' && !hasPermission(viewer, 'decide');
      return refused({ code: isBarred ? 'forbidden' : 'policy-change-not-found' });
    }
    const mayDecide = { view: () => true, approve: mayApprove, reject: mayReject }[act];
    return mayDecide(viewer, view.change, view.decider) ? accepted(view) : refused({ code: 'forbidden' });
  }

  #view(change: PolicyChange, { policy }: Vault, viewer: Member | null): PolicyChangeView {
    return { change, policy, decider: this.#host.storage.policies.deciderOver(change, policy), viewer };
  }
}

/** Returns why the device signature of a decision is refused, or null. */
async function signatureRefusal(
  actor: Actor,
  decision: ChangeDecision,
  { change, decider }: Pick<PolicyChangeView, 'change' | 'decider'>,
): Promise<Refusal | null> {
  if (decision.type === 'cancel') return null;
  const { digest } = decision.type === 'approve' ? change : rejectionOf(change);
  return deviceSignatureRefusal({ actor, digest, device: decision.device }, decider);
}
