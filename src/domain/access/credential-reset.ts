import type { CanonicalField } from '#domain/canonical/bytes.ts';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import type { CredentialResetId, DeviceKeyId, TokenId, UserId, VaultId } from '#domain/id.ts';

/**
 * An operator wants to give a person another credential. In a vault of token mode a credential of each signer is a quorum, so
 * the event is announced to every vault of the person, and nothing is issued before a delay in which people can cancel it.
 *
 *     PENDING   announced; the delay runs, or it has passed and the operator has collected nothing (shown as READY)
 *     COMPLETED the operator has collected the credential; again, for as long as the person has not used it
 *     CANCELLED by the person, a member of a vault of the person's, or a device of the person's
 *     EXPIRED   not collected in time
 */
export const STORED_RESET_STATES = ['PENDING', 'COMPLETED', 'CANCELLED', 'EXPIRED'] as const;
type StoredResetState = (typeof STORED_RESET_STATES)[number];

/** What the interface shows. `READY` is a pending one whose delay has passed: it can still be cancelled. */
export const CREDENTIAL_RESET_STATES = ['PENDING', 'READY', 'COMPLETED', 'CANCELLED', 'EXPIRED'] as const;
export type CredentialResetState = (typeof CREDENTIAL_RESET_STATES)[number];

/** Who cancelled a reset: a person with a credential, or a device of the person's without one. */
export interface Cancellation {
  readonly userId: UserId;
  /** Of the token or session that carried the request; null for a device. */
  readonly tokenId: TokenId | null;
  readonly deviceKeyId: DeviceKeyId | null;
}

export interface CredentialReset {
  readonly id: CredentialResetId;
  readonly userId: UserId;
  /** The person's name, for members of vaults who have to judge the request. */
  readonly userName: string;
  /** Counts the changes. A vault that has this version, or a later one, has all of them. */
  readonly version: number;
  readonly state: StoredResetState;
  readonly requestedAtMs: number;
  /** The delay that was announced. A later change of the setting does not touch it. */
  readonly delayMs: number;
  /** Nothing is issued before. It only ever moves to a later time. */
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
/** A shorter delay would be over before a person reads the notification. */
const MIN_DELAY_SECONDS = 60 * 60;
const MAX_DELAY_SECONDS = 30 * 24 * 60 * 60;

/** An operator who comes later requests anew: a credential that waits for ever is a standing risk. */
const COLLECTION_PERIOD_MS = 7 * DAY_MS;

/** A vault that is informed within this time after the request keeps the announced time; a vault that is informed later gets the whole delay. */
const ANNOUNCEMENT_GRACE_MS = 60 * SECOND_MS;

/** Each one makes lines in histories and wakes people. */
export const MAX_RESETS_A_DAY = 5;

/**
 * Returns the delay in milliseconds. Throws for a setting that is no whole number of seconds from an hour to 30 days: a typing
 * error must not open the door at once.
 *
 * @param setting CREDENTIAL_RESET_DELAY_SECONDS; 24 hours where it is empty or absent
 */
export function resetDelayMs(setting: string | undefined): number {
  if (setting === undefined || setting === '') return DEFAULT_DELAY_SECONDS * SECOND_MS;
  const seconds = /^[0-9]{1,9}$/.test(setting) ? Number.parseInt(setting, 10) : 0;
  if (seconds < MIN_DELAY_SECONDS || seconds > MAX_DELAY_SECONDS) {
    throw new Error(`CREDENTIAL_RESET_DELAY_SECONDS must be from ${MIN_DELAY_SECONDS} to ${MAX_DELAY_SECONDS}.`);
  }
  return seconds * SECOND_MS;
}

/** Returns a new reset, which begins to wait at `nowMs`. */
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

/** Returns the time before which nothing is issued, as a vault that is informed at `nowMs` announces it to its members. */
export function announcedAtMs(reset: CredentialReset, nowMs: number): number {
  const isPrompt = nowMs <= reset.requestedAtMs + ANNOUNCEMENT_GRACE_MS;
  return isPrompt ? reset.effectiveAtMs : Math.max(reset.effectiveAtMs, nowMs + reset.delayMs);
}

/** Returns the reset with the time that a vault has announced to its members, where that is a later one. */
export function announced(reset: CredentialReset, effectiveAtMs: number): CredentialReset {
  if (reset.state !== 'PENDING' || effectiveAtMs <= reset.effectiveAtMs) return reset;
  return { ...reset, effectiveAtMs, expiresAtMs: effectiveAtMs + COLLECTION_PERIOD_MS };
}

export function resetStateAt(reset: CredentialReset, nowMs: number): CredentialResetState {
  if (reset.state !== 'PENDING') return reset.state;
  if (nowMs >= reset.expiresAtMs) return 'EXPIRED';
  return nowMs >= reset.effectiveAtMs ? 'READY' : 'PENDING';
}

/** Reports whether it can still come to something, so that a second request changes nothing. */
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

/** The fields whose SHA-256 a device signs to cancel a reset, in the vault whose policy names the device. */
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
