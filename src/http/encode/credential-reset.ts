import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import * as z from 'zod';
import type { CredentialReset } from '#domain/access/credential-reset.ts';
import { cancellationBytes, CREDENTIAL_RESET_STATES, resetStateAt } from '#domain/access/credential-reset.ts';
import type { VaultId } from '#domain/id.ts';
import { rfc3339, rfc3339OrNull } from '#http/encode/rfc3339.ts';

const time = z.iso.datetime();

const resetFields = {
  id: z.string(),
  userId: z.string(),
  userName: z.string(),
  state: z.enum(CREDENTIAL_RESET_STATES).meta({
    description:
      'PENDING: the delay has not passed. READY: the delay has passed, and no credential is collected. Both can be ' +
      'cancelled.',
  }),
  requestedAt: time,
  effectiveAt: time.meta({ description: 'No credential is issued before this time' }),
  expiresAt: time,
  endedAt: time.nullable(),
  cancelledBy: z.strictObject({ userId: z.string(), deviceKeyId: z.string().nullable() }).nullable(),
};

export const credentialResetSchema = z.strictObject(resetFields).meta({ id: 'CredentialReset' });

export const vaultCredentialResetSchema = z
  .strictObject({
    ...resetFields,
    digest: z
      .string()
      .meta({ description: 'Hex SHA-256 of the field `canonical`. A device of the user signs it to cancel the reset' }),
    canonical: z.string().meta({ description: 'Canonical bytes of the cancellation, in hex' }),
  })
  .meta({ id: 'VaultCredentialReset' });

/** Returns a credential reset in the form of every endpoint. */
export function credentialResetRecord(reset: CredentialReset): z.infer<typeof credentialResetSchema> {
  const { cancellation, endedAtMs } = reset;
  return {
    id: reset.id,
    userId: reset.userId,
    userName: reset.userName,
    state: resetStateAt(reset, Date.now()),
    requestedAt: rfc3339(reset.requestedAtMs),
    effectiveAt: rfc3339(reset.effectiveAtMs),
    expiresAt: rfc3339(reset.expiresAtMs),
    endedAt: rfc3339OrNull(endedAtMs),
    cancelledBy: cancellation === null ? null : { userId: cancellation.userId, deviceKeyId: cancellation.deviceKeyId },
  };
}

/**
 * Returns a credential reset in a vault, with the digest that a device signs to cancel it there.
 */
export function vaultCredentialResetRecord(
  reset: CredentialReset,
  vaultId: VaultId,
): z.infer<typeof vaultCredentialResetSchema> {
  const bytes = cancellationBytes(reset, vaultId);
  return { ...credentialResetRecord(reset), digest: bytesToHex(sha256(bytes)), canonical: bytesToHex(bytes) };
}
