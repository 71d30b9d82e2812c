import { isRepeatedDecision } from '#domain/transaction/approvals.ts';
import { deviceSignatureRefusal, signatureFault, unsignedRefusal } from '#devices/device-signature.ts';
import { rejectionOfTransaction } from '#devices/rejection.ts';
import type { Actor } from '#domain/access/approval.ts';
import type { DeviceSignature } from '#domain/access/device.ts';
import type { TransactionId, UserId } from '#domain/id.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import { isPending, isStoppable } from '#domain/transaction/transaction.ts';
import { decide } from '#domain/transaction/transition.ts';
import { commit, decisionContext, endWithoutChain, findTransaction } from '#objects/vault/commands/transaction.ts';
import type { VaultContext } from '#objects/vault/context.ts';
import type { ApprovalOutcome, ChallengeView, TransactionView } from '#objects/vault/views.ts';

/** The decisions of signers on a transaction, which a device can sign. */

/** A request about one transaction. */
interface About {
  readonly id: TransactionId;
}

/**
 * Returns what a signer approves or rejects. Refuses, in order: `forbidden`,
 * `transaction-not-found`, `transaction-not-pending`.
 */
export function challenge(context: VaultContext, actor: Actor, { id }: About): Result<ChallengeView, Refusal> {
  const found = findTransaction(context, actor, { id, permission: 'decide' });
  if (!found.ok) return found;
  const { state, intent } = found.value.transaction;
  const isRejectable = found.value.policy.approvalMode === 'device' && isStoppable(found.value.transaction);
  if (!isPending(state) && !isRejectable) return refused({ code: 'transaction-not-pending', state });
  if (!isRejectable && Date.now() >= intent.expiresAtMs)
    return refused({ code: 'transaction-not-pending', state: 'EXPIRED' });
  const earlier = context.storage.recipients.earlier(found.value.transaction);
  return accepted({ ...found.value, earlier, keys: context.vault()?.keys ?? [] });
}

/**
 * Records an approval of the intent as it was created, with a device signature if the vault counts
 * no others. A repetition changes nothing. Refuses as `challenge` does, and what
 * `deviceSignatureRefusal` refuses.
 */
export function approve(
  context: VaultContext,
  actor: Actor,
  { id, device }: About & { readonly device: DeviceSignature | null },
): Promise<Result<ApprovalOutcome, Refusal>> {
  return decideAsSigner(context, actor, {
    id,
    device,
    signedDigest: ({ digest }) => digest,
    eventOf: ({ digest }) => ({ type: 'approve', actor, digest, device }),
  });
}

/**
 * Rejects a transaction permanently, whatever its approvals, with a device signature of
 * `rejectionOfTransaction` if the vault counts no others. In device mode it stops an approved
 * transaction, too, as `cancel` does. A repetition changes nothing, also with another reason.
 * Refuses, in order: `forbidden`, `transaction-not-found`, `transaction-not-pending`, what
 * `deviceSignatureRefusal` refuses.
 */
export async function reject(
  context: VaultContext,
  actor: Actor,
  { id, device, reason }: About & { readonly device: DeviceSignature | null; readonly reason?: string },
): Promise<Result<ApprovalOutcome, Refusal>> {
  const rejected = await decideAsSigner(context, actor, {
    id,
    device,
    signedDigest: (transaction) => rejectionOfTransaction(transaction).digest,
    eventOf: () => ({ type: 'reject', actor, device, ...(reason === undefined ? {} : { reason }) }),
  });
  if (!rejected.ok) return rejected;
  const view = await endWithoutChain(context, rejected.value.view);
  return view.ok ? accepted({ ...rejected.value, view: view.value }) : view;
}

/**
 * Returns the user of the device that signed a request in place of a token. The device belongs to
 * the policy in force. In token mode a device without a token opens nothing. Refuses
 * `device-signature-refused`.
 *
 * @param digest of the request, as lower-case hex
 */
export async function verifyDeviceRequest(
  { vault }: VaultContext,
  { digest, signature }: { readonly digest: string; readonly signature: DeviceSignature },
): Promise<Result<UserId, Refusal>> {
  const policy = vault()?.policy;
  const devices = policy?.approvalMode === 'device' ? policy.devices : [];
  const device = devices.find(({ keyId }) => keyId === signature.keyId);
  const fault = device === undefined ? 'unknown-device' : await signatureFault(device, digest, signature);
  if (device !== undefined && fault === null) return accepted(device.userId);
  return refused({ code: 'device-signature-refused', fault: fault ?? 'unknown-device' });
}

/** A decision of a signer, and the digest that the device of the signer signs. */
interface SignersDecision extends About {
  readonly device: DeviceSignature | null;
  readonly signedDigest: (transaction: Transaction) => string;
  readonly eventOf: (transaction: Transaction) => TransactionEvent;
}

async function decideAsSigner(
  context: VaultContext,
  actor: Actor,
  { id, device, signedDigest, eventOf }: SignersDecision,
): Promise<Result<ApprovalOutcome, Refusal>> {
  for (;;) {
    const found = findTransaction(context, actor, { id, permission: 'decide' });
    if (!found.ok) return found;
    const { transaction, policy } = found.value;
    const event = eventOf(transaction);
    if (device === null) return addDecision(context, found.value, { event, fault: unsignedRefusal(policy) });
    const fault = await deviceSignatureRefusal({ actor, digest: signedDigest(transaction), device }, policy);
    // The signature is judged by the policy in force, which can change while it is verified.
    if (context.vault()?.policy !== policy) continue;
    const now = findTransaction(context, actor, { id, permission: 'decide' });
    return now.ok ? addDecision(context, now.value, { event, fault }) : now;
  }
}

/** Records the decision of a signer. `fault` is the refusal of its device signature, or null. */
async function addDecision(
  context: VaultContext,
  view: TransactionView,
  { event, fault }: { readonly event: TransactionEvent; readonly fault: Refusal | null },
): Promise<Result<ApprovalOutcome, Refusal>> {
  const { transaction } = view;
  const decided = decide(transaction, event, decisionContext(context));
  if (!decided.ok) {
    return isRepeatedDecision(transaction, event) ? accepted({ view, changed: false }) : decided;
  }
  if (fault !== null) return refused(fault);
  const after = await commit(context, { before: transaction, event, decision: decided.value });
  return accepted({ view: { ...view, transaction: after }, changed: decided.value.changed });
}
