import type { CredentialReset } from '#domain/access/credential-reset.ts';
import { STORED_RESET_STATES } from '#domain/access/credential-reset.ts';
import type { CredentialResetId, UserId } from '#domain/id.ts';
import { parseCredentialResetId, parseDeviceKeyId, parseTokenId, parseUserId } from '#domain/id.ts';
import { stateVersion, UnreadableState } from '#store/object-schema.ts';

/**
 * The same table in a user's object, which decides, and in a vault's, which records what its
 * members were notified of.
 */
export const CREDENTIAL_RESET_TABLE = `
  CREATE TABLE credential_reset (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL,
    user_name TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    state TEXT NOT NULL CHECK (state IN ('PENDING', 'COMPLETED', 'CANCELLED', 'EXPIRED')),
    requested_at_ms INTEGER NOT NULL,
    delay_ms INTEGER NOT NULL,
    effective_at_ms INTEGER NOT NULL CHECK (effective_at_ms >= requested_at_ms + delay_ms),
    expires_at_ms INTEGER NOT NULL,
    ended_at_ms INTEGER CHECK ((ended_at_ms IS NULL) = (state = 'PENDING')),
    cancelled_by TEXT CHECK ((cancelled_by IS NULL) = (state <> 'CANCELLED')),
    token_id TEXT,
    device_key_id TEXT
  ) WITHOUT ROWID;
`;

interface Row {
  readonly [column: string]: SqlStorageValue;
  readonly id: string;
  readonly user_id: string;
  readonly user_name: string;
  readonly version: number;
  readonly state: string;
  readonly requested_at_ms: number;
  readonly delay_ms: number;
  readonly effective_at_ms: number;
  readonly expires_at_ms: number;
  readonly ended_at_ms: number | null;
  readonly cancelled_by: string | null;
  readonly token_id: string | null;
  readonly device_key_id: string | null;
}

/** Credential resets of one object. Every write happens inside the object's `transactionSync`. */
export class CredentialResetStorage {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  read(id: CredentialResetId): CredentialReset | null {
    return this.#rows('WHERE id = ?', id)[0] ?? null;
  }

  /** Returns the newest first. */
  newest(limit: number): readonly CredentialReset[] {
    return this.#rows('ORDER BY id DESC LIMIT ?', limit);
  }

  requestedSince(sinceMs: number): number {
    return this.#rows('WHERE requested_at_ms > ?', sinceMs).length;
  }

  /** Returns the resets that are not over, as far as this object has been informed. */
  pending(): readonly CredentialReset[] {
    return this.#rows("WHERE state = 'PENDING' ORDER BY id");
  }

  /**
   * Returns when a user last cancelled a reset of this person, by a credential or a device; null
   * for never.
   */
  lastCancelledAtMs(person: UserId, by: UserId): number | null {
    const ends = this.#rows('WHERE user_id = ? AND cancelled_by = ?', person, by).map(
      ({ endedAtMs }) => endedAtMs ?? 0,
    );
    return ends.length === 0 ? null : Math.max(...ends);
  }

  /** Stores a reset. Throws when a later version is stored: that is a bug, and the commit fails. */
  put(reset: CredentialReset): void {
    const known = this.read(reset.id);
    if (known !== null && known.version > reset.version)
      throw new Error('a credential reset is older than the stored version');
    const { cancellation } = reset;
    this.#sql.exec(
      'INSERT OR REPLACE INTO credential_reset VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
      reset.id,
      reset.userId,
      reset.userName,
      reset.version,
      reset.state,
      reset.requestedAtMs,
      reset.delayMs,
      reset.effectiveAtMs,
      reset.expiresAtMs,
      reset.endedAtMs,
      cancellation?.userId ?? null,
      cancellation?.tokenId ?? null,
      cancellation?.deviceKeyId ?? null,
    );
  }

  /** Returns the selected resets. Reading an object that does not exist leaves nothing behind. */
  #rows(clause: string, ...bindings: (string | number)[]): readonly CredentialReset[] {
    if (stateVersion(this.#sql) === 0) return [];
    return this.#sql
      .exec<Row>(`SELECT * FROM credential_reset ${clause}`, ...bindings)
      .toArray()
      .map(resetOf);
  }
}

function resetOf(row: Row): CredentialReset {
  const [id, userId] = [parseCredentialResetId(row.id), parseUserId(row.user_id)];
  const tokenId = row.token_id === null ? null : parseTokenId(row.token_id);
  const deviceKeyId = row.device_key_id === null ? null : parseDeviceKeyId(row.device_key_id);
  const state = STORED_RESET_STATES.find((one) => one === row.state);
  const cancelledBy = row.cancelled_by === null ? null : parseUserId(row.cancelled_by);
  const isLost =
    (cancelledBy === null) !== (row.cancelled_by === null) ||
    (tokenId === null) !== (row.token_id === null) ||
    (deviceKeyId === null) !== (row.device_key_id === null);
  if (id === null || userId === null || state === undefined || isLost) {
    throw new UnreadableState('a stored credential reset is damaged');
  }
  return {
    id,
    userId,
    userName: row.user_name,
    version: row.version,
    state,
    requestedAtMs: row.requested_at_ms,
    delayMs: row.delay_ms,
    effectiveAtMs: row.effective_at_ms,
    expiresAtMs: row.expires_at_ms,
    endedAtMs: row.ended_at_ms,
    cancellation: cancelledBy === null ? null : { userId: cancelledBy, tokenId, deviceKeyId },
  };
}
