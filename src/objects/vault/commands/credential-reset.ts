import { authorize } from '#domain/vault/membership.ts';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { signatureFault } from '#devices/device-signature.ts';
import { isInvited } from '#domain/access/invitation.ts';
import type { CredentialReset } from '#domain/access/credential-reset.ts';
import { announcedAtMs, cancellationBytes } from '#domain/access/credential-reset.ts';
import type { DeviceSignature } from '#domain/access/device.ts';
import type { CredentialResetId } from '#domain/id.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Actor } from '#domain/access/approval.ts';
import type { VaultContext } from '#objects/vault/context.ts';
import { enqueueNotification, writeVaultChange } from '#objects/vault/writes/vault-writes.ts';

/** The number of newest resets that members see. The history has all of them. */
const SHOWN_RESETS = 20;

const ACTIONS = {
  PENDING: 'request-credential-reset',
  COMPLETED: 'complete-credential-reset',
  CANCELLED: 'cancel-credential-reset',
  EXPIRED: 'expire-credential-reset',
} as const;

/** The vault's copy of its members' credential resets. The object of each user decides on them. */

/**
 * Records a version of a reset, with a history entry and a notification of every member. A known
 * version changes nothing. Returns the time before which nothing is issued, as announced to the
 * members, or null when the user is not a member.
 */
export async function recordCredentialReset(
  context: VaultContext,
  { reset }: { readonly reset: CredentialReset },
): Promise<number | null> {
  const { storage, commits } = context;
  const vault = context.vault();
  if (vault === null) return null;
  const known = storage.resets.read(reset.id);
  const isMember = vault.members.some(({ userId }) => userId === reset.userId);
  if (known === null && (!isMember || reset.state !== 'PENDING')) return null;
  if (known !== null && known.version >= reset.version) return known.effectiveAtMs;
  const nowMs = Date.now();
  const effectiveAtMs = known?.effectiveAtMs ?? announcedAtMs(reset, nowMs);
  await commits.run(() => {
    storage.resets.put({ ...reset, effectiveAtMs });
    writeVaultChange(storage, vault, {
      action: ACTIONS[reset.state],
      detail: detailOf({ ...reset, effectiveAtMs }),
      actor: actorOf(reset),
    });
    enqueueNotification(storage, reset);
  });
  return effectiveAtMs;
}

/**
 * Returns the newest resets first, or the one that the actor may cancel. Refuses, in order:
 * `forbidden`, `credential-reset-not-found`.
 */
export function readCredentialResets(
  context: VaultContext,
  actor: Actor,
  { id }: { readonly id: CredentialResetId | null },
): Result<readonly CredentialReset[], Refusal> {
  const entered = authorize(context.vault(), actor, 'view');
  if (!entered.ok) return entered;
  const { resets } = context.storage;
  if (id === null) return accepted(resets.newest(SHOWN_RESETS));
  const reset = cancellable(context, id);
  return reset === null ? refused({ code: 'credential-reset-not-found' }) : accepted([reset]);
}

/**
 * Returns the reset that a device of the user cancels. The device belongs to the policy in force,
 * so that a lost and removed device cancels nothing. Refuses, in order:
 * `credential-reset-not-found`, `device-signature-refused`.
 */
export async function verifyResetCancellation(
  context: VaultContext,
  { id, signature }: { readonly id: CredentialResetId; readonly signature: DeviceSignature },
): Promise<Result<CredentialReset, Refusal>> {
  const vault = context.vault();
  const reset = cancellable(context, id);
  if (vault === null || reset === null) return refused({ code: 'credential-reset-not-found' });
  const isOwn = ({ keyId, userId }: (typeof vault.policy.devices)[number]) =>
    keyId === signature.keyId && userId === reset.userId;
  const device = vault.policy.devices.find(isOwn);
  const digest = bytesToHex(sha256(cancellationBytes(reset, vault.id)));
  const fault = device === undefined ? 'unknown-device' : await signatureFault(device, digest, signature);
  return fault === null ? accepted(reset) : refused({ code: 'device-signature-refused', fault });
}

/**
 * Returns a reset that can be cancelled through this vault, or null. The user must have accepted
 * the vault: otherwise a vault that the thief of a service key creates, with a device of the thief
 * under the name of the user, would cancel every reset of the user.
 */
function cancellable({ vault, storage }: VaultContext, id: CredentialResetId): CredentialReset | null {
  const [current, reset] = [vault(), storage.resets.read(id)];
  return current === null || reset === null || isInvited(current.invitations, reset.userId) ? null : reset;
}

function detailOf({ id, userId, effectiveAtMs, cancellation }: CredentialReset): string {
  const cancelledBy = cancellation === null ? {} : { cancelledBy: cancellation.userId };
  const device = cancellation?.deviceKeyId == null ? {} : { device: cancellation.deviceKeyId };
  return JSON.stringify({ id, userId, effectiveAtMs, ...cancelledBy, ...device });
}

/**
 * Returns the user who cancelled with a credential; null for the operator, for time, and for a
 * device, which the detail names.
 */
function actorOf({ cancellation }: CredentialReset): Actor | null {
  if (cancellation === null || cancellation.tokenId === null) return null;
  // The address is omitted: the cancellation may come from another vault, and only that vault's
  // members may see it.
  return { userId: cancellation.userId, tokenId: cancellation.tokenId, address: null };
}
