import type { AccessAct } from '#domain/access/disabled-access.ts';
import type { TokenId, UserId } from '#domain/id.ts';
import { parseTokenId, parseUserId } from '#domain/id.ts';
import { stateVersion, UnreadableState } from '#store/object-schema.ts';

/**
 * The acts of operators on the access of the person. `applied`: the credentials obey it.
 * `informed`: every vault has recorded it.
 */
export const ACCESS_ACT_TABLE = `
  CREATE TABLE access_act (
    version INTEGER PRIMARY KEY,
    user_id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('disable-user', 'enable-user', 'end-credential', 'add-credential')),
    token_id TEXT CHECK ((token_id IS NULL) = (kind IN ('disable-user', 'enable-user'))),
    service_key TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    applied INTEGER NOT NULL DEFAULT 0 CHECK (applied IN (0, 1)),
    informed INTEGER NOT NULL DEFAULT 0 CHECK (informed IN (0, 1))
  );
`;

/** What an operator requests. */
export type RequestedAct =
  | { readonly kind: 'disable-user' | 'enable-user' }
  | { readonly kind: 'end-credential' | 'add-credential'; readonly tokenId: TokenId };

/** An act of an operator on the access of this user. */
export interface StoredAct {
  readonly userId: UserId;
  readonly act: AccessAct;
}

interface Row {
  readonly [column: string]: SqlStorageValue;
  readonly version: number;
  readonly user_id: string;
  readonly kind: string;
  readonly token_id: string | null;
  readonly service_key: string;
  readonly at_ms: number;
}

/** The acts on the access of one person. Every write is in the object's `transactionSync`. */
export class AccessActStorage {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  isDisabled(): boolean {
    return this.#rows('WHERE token_id IS NULL ORDER BY version DESC LIMIT 1')[0]?.act.kind === 'disable-user';
  }

  add(userId: UserId, act: RequestedAct, { serviceKey, atMs }: Pick<AccessAct, 'serviceKey' | 'atMs'>): void {
    const add = 'INSERT INTO access_act (user_id, kind, token_id, service_key, at_ms) VALUES (?, ?, ?, ?, ?)';
    this.#sql.exec(add, userId, act.kind, 'tokenId' in act ? act.tokenId : null, serviceKey, atMs);
  }

  /** Returns the acts which the credentials do not obey yet, in order. */
  unapplied(): readonly StoredAct[] {
    return this.#rows('WHERE applied = 0 ORDER BY version');
  }

  /** Returns the acts which some vault has not recorded yet, in order. */
  unannounced(): readonly StoredAct[] {
    return this.#rows('WHERE informed = 0 ORDER BY version');
  }

  markApplied({ version }: Pick<AccessAct, 'version'>): void {
    this.#sql.exec('UPDATE access_act SET applied = 1 WHERE version = ?', version);
  }

  /** Marks every act up to this one. */
  markInformed({ version }: Pick<AccessAct, 'version'>): void {
    this.#sql.exec('UPDATE access_act SET informed = 1 WHERE version <= ?', version);
  }

  /** Reading a person without an object leaves nothing behind. */
  #rows(clause: string): readonly StoredAct[] {
    if (stateVersion(this.#sql) === 0) return [];
    return this.#sql.exec<Row>(`SELECT * FROM access_act ${clause}`).toArray().map(storedAct);
  }
}

function storedAct(row: Row): StoredAct {
  const userId = parseUserId(row.user_id);
  const tokenId = parseTokenId(row.token_id ?? '');
  const common = { version: row.version, serviceKey: row.service_key, atMs: row.at_ms };
  if (userId !== null && (row.kind === 'end-credential' || row.kind === 'add-credential') && tokenId !== null)
    return { userId, act: { kind: row.kind, tokenId, ...common } };
  if (userId !== null && (row.kind === 'disable-user' || row.kind === 'enable-user'))
    return { userId, act: { kind: row.kind, ...common } };
  throw new UnreadableState('a stored act on the access of a person is damaged');
}
