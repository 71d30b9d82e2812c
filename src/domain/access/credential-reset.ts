import type { CanonicalField } from '#domain/canonical/bytes.ts';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import type { CredentialResetId, DeviceKeyId, TokenId, UserId, VaultId } from '#domain/id.ts';

/**
 * A request of an operator to give a user another credential. In a vault of token mode, one
 * credential of each signer makes a quorum. Therefore every vault of the user announces the reset,
 * and nothing is issued before a delay in which members can cancel it.
 *
 * - `PENDING`: it is announced. The delay runs, or it has passed and the operator has not collected
 *   the credential yet (shown as READY).
 * - `COMPLETED`: the operator has collected the credential. The operator can collect it again until
 *   the user has used it.
 * - `CANCELLED`: the user, a member of a vault of the user, or a device of the user cancelled it.
 * - `EXPIRED`: it was not collected in time.
 */
export const STORED_RESET_STATES = ['PENDING', 'COMPLETED', 'CANCELLED', 'EXPIRED'] as const;
type StoredResetState = (typeof STORED_RESET_STATES)[number];

/**
 * The states that the API shows. `READY` is a pending reset whose delay has passed: it can still be
 * cancelled.
 */
export const CREDENTIAL_RESET_STATES = ['PENDING', 'READY', 'COMPLETED', 'CANCELLED', 'EXPIRED'] as const;
export type CredentialResetState = (typeof CREDENTIAL_RESET_STATES)[number];

/**
 * The party that cancelled a reset: a user with a credential, or a device of the user without one.
 */
export interface Cancellation {
  readonly userId: UserId;
  /** The token or session that carried the request; null for a device. */
  readonly tokenId: TokenId | null;
  readonly deviceKeyId: DeviceKeyId | null;
}

export interface CredentialReset {
  readonly id: CredentialResetId;
  readonly userId: UserId;
  /** The user's name, for vault members who have to judge the request. */
  readonly userName: string;
  /** Counts the changes. A vault that has this version, or a later one, has all of them. */
  readonly version: number;
  readonly state: StoredResetState;
  readonly requestedAtMs: number;
  /** The announced delay. A later change of the setting does not affect it. */
  readonly delayMs: number;
  /** Nothing is issued before this time. It only ever moves to a later time. */
  readonly effectiveAtMs: number;
  readonly expiresAtMs: number;
  /** When it was completed, cancelled or expired; null while it is pending. */
  readonly endedAtMs: number | null;
  readonly cancellation: Cancellation | null;
}

const SECOND_MS = 1000;
const HOUR_MS = 60 * 60 * SECOND_MS;
const DAY_MS = 24 * HOUR_MS;

/** A night and a working day. */
const DEFAULT_DELAY_SECONDS = 24 * 60 * 60;
/** A shorter delay would be over before a member reads the notification. */
const MIN_DELAY_SECONDS = 60 * 60;
const MAX_DELAY_SECONDS = 30 * 24 * 60 * 60;

/**
 * An operator who returns later requests a new reset: a credential that waits without end is a
 * permanent risk.
 */
const COLLECTION_PERIOD_MS = 7 * DAY_MS;

/**
 * A vault that is informed within this time after the request keeps the announced time. A vault
 * that is informed later gets the whole delay.
 */
const ANNOUNCEMENT_GRACE_MS = 60 * SECOND_MS;

/** Each reset adds history entries and notifies members. */
export const MAX_RESETS_A_DAY = 5;

/**
 * Returns the delay in milliseconds. Throws for a setting that is not a whole number of seconds
 * from an hour to 30 days: a typing error must not remove the protection.
 *
 * @param setting CREDENTIAL_RESET_DELAY_SECONDS; 24 hours when it is empty or absent
 */
export function resetDelayMs(setting: string | undefined): number {
  if (setting === undefined || setting === '') return DEFAULT_DELAY_SECONDS * SECOND_MS;
  const seconds = /^[0-9]{1,9}$/.test(setting) ? Number.parseInt(setting, 10) : 0;
  if (seconds < MIN_DELAY_SECONDS || seconds > MAX_DELAY_SECONDS) {
    throw new Error(`CREDENTIAL_RESET_DELAY_SECONDS must be from ${MIN_DELAY_SECONDS} to ${MAX_DELAY_SECONDS}.`);
  }
  return seconds * SECOND_MS;
}

/** Returns a new reset whose delay begins at `nowMs`. */
export function newReset(
  request: Pick<CredentialReset, 'id' | 'userId' | 'userName' | 'delayMs'>,
  nowMs: number,
): CredentialReset {
  const effectiveAtMs = nowMs + request.delayMs;
  return {
    ...request,
    version: 1,
    state: 'PENDING',
    requestedAtMs: nowMs,
    effectiveAtMs,
    expiresAtMs: effectiveAtMs + COLLECTION_PERIOD_MS,
    endedAtMs: null,
    cancellation: null,
  };
}

/**
 * Returns the time before which nothing is issued, as a vault that is informed at `nowMs` announces
 * it to its members.
 */
export function announcedAtMs(reset: CredentialReset, nowMs: number): number {
  const isPrompt = nowMs <= reset.requestedAtMs + ANNOUNCEMENT_GRACE_MS;
  return isPrompt ? reset.effectiveAtMs : Math.max(reset.effectiveAtMs, nowMs + reset.delayMs);
}

/**
 * Returns the reset with the time that a vault has announced to its members, when that time is
 * later.
 */
export function announced(reset: CredentialReset, effectiveAtMs: number): CredentialReset {
  if (reset.state !== 'PENDING' || effectiveAtMs <= reset.effectiveAtMs) return reset;
  return { ...reset, effectiveAtMs, expiresAtMs: effectiveAtMs + COLLECTION_PERIOD_MS };
}

export function resetStateAt(reset: CredentialReset, nowMs: number): CredentialResetState {
  if (reset.state !== 'PENDING') return reset.state;
  if (nowMs >= reset.expiresAtMs) return 'EXPIRED';
  return nowMs >= reset.effectiveAtMs ? 'READY' : 'PENDING';
}

/** Reports whether the reset can still complete, so that a second request changes nothing. */
export function isOpen(reset: CredentialReset, nowMs: number): boolean {
  const state = resetStateAt(reset, nowMs);
  return state === 'PENDING' || state === 'READY';
}

/** Returns the reset after its end, or after one more collection. */
export function ended(
  reset: CredentialReset,
  end: { readonly state: Exclude<StoredResetState, 'PENDING'>; readonly cancellation?: Cancellation },
  nowMs: number,
): CredentialReset {
  const { state, cancellation = null } = end;
  return { ...reset, version: reset.version + 1, state, cancellation, endedAtMs: nowMs };
}

/**
 * Returns the bytes whose SHA-256 a device signs to cancel a reset, in the vault whose policy names
 * the device.
 */
export function cancellationBytes(
  reset: Pick<CredentialReset, 'id' | 'userId'>,
  vaultId: VaultId,
): Uint8Array<ArrayBuffer> {
  const fields: readonly CanonicalField[] = [
    ['vaultId', String(vaultId)],
    ['userId', reset.userId],
    ['resetId', reset.id],
  ];
  return canonicalBytes('conclave/credential-reset-cancellation/v1', fields);
}
