import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, randomBytes } from '@noble/hashes/utils.js';
import { newPolicyChangeId } from '#domain/id.ts';
import { thresholdForChange } from '#domain/policy.ts';
import type { PolicyChange, PolicyChangeEvent } from '#domain/policy-change.ts';
import { ADOPTION_PERIOD_MS, decideChange, decisionEndOf, mandateBytes } from '#domain/policy-change.ts';
import type { Refusal } from '#domain/refusal.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Actor } from '#domain/transaction.ts';
import type { Vault } from '#domain/vault.ts';
import type { PolicyWish, WishFault } from '#objects/membership.ts';
import { nextPolicy, withPolicy } from '#objects/membership.ts';
import { policyHash } from '#objects/new-transaction.ts';
import type { VaultStorage } from '#objects/vault-storage.ts';
import { writeVaultChange } from '#objects/vault-writes.ts';

/** All of them have to be read by every signer, and the first that is adopted ends the others. */
const MOST_PENDING = 10;

export interface Proposal {
  readonly wish: PolicyWish;
  readonly note: string | null;
  /** Null: an operator. */
  readonly actor: Actor | null;
}

/**
 * A change as it would be proposed now; one that wants the same and is pending already is that one.
 * Refuses, in order: what `nextPolicy` refuses, `policy-unchanged`, `too-many-policy-changes`.
 */
export function newChange(
  storage: VaultStorage,
  vault: Vault,
  proposal: Proposal,
): Result<{ readonly change: PolicyChange; readonly isNew: boolean }, WishFault | Refusal> {
  const next = nextPolicy(vault, proposal.wish);
  if (!next.ok) return next;
  const policy = next.value;
  const hash = policyHash(policy);
  const same = policyHash({ ...policy, version: vault.policy.version, previousHash: vault.policy.previousHash });
  if (same === policyHash(vault.policy)) return refused({ code: 'policy-unchanged' });
  const already = storage.policies.pendingChangeTo(hash);
  if (already !== null) return accepted({ change: already, isNew: false });
  if (storage.policies.pendingChanges().length >= MOST_PENDING)
    return refused({ code: 'too-many-policy-changes', limit: MOST_PENDING });
  const nowMs = Date.now();
  const decisionEndsAtMs = nowMs + vault.configuration.decisionPeriodSeconds * 1000;
  const mandate = {
    id: newPolicyChangeId(nowMs, randomBytes(10)),
    policy,
    note: proposal.note,
    createdAtMs: nowMs,
    expiresAtMs: decisionEndsAtMs + ADOPTION_PERIOD_MS,
  };
  const digest = bytesToHex(sha256(mandateBytes(mandate, hash)));
  const open = { state: 'PENDING', approvals: [], rejection: null } as const;
  return accepted({
    change: {
      ...mandate,
      ...open,
      decisionEndsAtMs,
      digest,
      requiredApprovals: thresholdForChange(vault.policy),
      createdBy: proposal.actor,
      updatedAtMs: nowMs,
    },
    isNew: true,
  });
}

/** Everything that a new change brings with it. */
export function writeNewChange(storage: VaultStorage, vault: Vault, change: PolicyChange): void {
  storage.policies.putChange(change, policyHash(change.policy));
  storage.owe({ transactionId: change.id, job: 'expire-policy', version: 0, dueAtMs: decisionEndOf(change), tries: 0 });
  writeVaultChange(storage, vault, { ...lineOf(change), action: 'propose-policy', actor: change.createdBy });
}

/**
 * Writes what an event does to a change, and gives the vault after it: under another policy when the change is adopted. All other
 * pending changes follow a policy that is no more then. Runs inside a commit; the refusals were answered before.
 */
export function writeChangeDecision(
  storage: VaultStorage,
  vault: Vault,
  { change, event }: { readonly change: PolicyChange; readonly event: PolicyChangeEvent },
): Vault {
  const decided = decideChange(change, event, { current: vault.policy, nowMs: Date.now() });
  if (!decided.ok) throw new Error(`a refusal must be answered before it is applied: ${decided.refusal.code}`);
  const after = decided.value;
  if (after === change) return vault;
  storage.policies.putChange(after, policyHash(after.policy));
  const actor = 'actor' in event ? event.actor : null;
  writeVaultChange(storage, vault, { ...lineOf(after), action: `${event.type}-policy`, actor });
  if (after.state !== 'PENDING') storage.discharge(after.id, 'expire-policy');
  if (after.state !== 'ADOPTED') return vault;
  const { id, policy, note, createdAtMs, expiresAtMs, approvals } = after;
  storage.policies.adopt(
    { policy, mandate: { id, policy, note, createdAtMs, expiresAtMs, approvals } },
    policyHash(policy),
  );
  const governed = withPolicy(vault, policy);
  storage.putVault(governed);
  oweAdoption(storage, governed);
  writeVaultChange(storage, governed, { action: 'adopt-policy', detail: id, actor: null });
  for (const other of storage.policies.pendingChanges()) {
    writeChangeDecision(storage, governed, { change: other, event: { type: 'supersede' } });
  }
  return governed;
}

/**
 * The co-signers adopt a policy while its mandate counts, and not with the next signature: a vault that signs nothing for
 * longer than a mandate lasts would otherwise have a policy that no co-signer can adopt any more.
 */
export function oweAdoption(storage: VaultStorage, { keys, policy }: Vault): void {
  if (keys.length === 0 || policy.version === 1) return;
  storage.owe({ transactionId: '', job: 'adopt-policy', version: 0, dueAtMs: Date.now(), tries: 0 });
}

function lineOf(change: PolicyChange) {
  return { detail: change.id, digest: change.digest, reason: change.state };
}
