import type { Codec } from '#store/document.ts';
import type { ObjectSchema } from '#store/object-schema.ts';
import { createState, stateVersion } from '#store/object-schema.ts';

/** The table of a credential's document. */
type CredentialTable = 'token' | 'session';

/**
 * Returns the schema of a credential's object. A credential that was withdrawn before its creation
 * is never created, whenever the request to create it arrives. See `ObjectSchema` before you change
 * it.
 *
 * @param later the migrations after the first
 */
export function credentialSchema(
  name: string,
  table: CredentialTable,
  later: ObjectSchema['migrations'] = [],
): ObjectSchema {
  const tables = `
    CREATE TABLE ${table} (only_row INTEGER PRIMARY KEY CHECK (only_row = 0), document TEXT NOT NULL);
    CREATE TABLE withdrawn (only_row INTEGER PRIMARY KEY CHECK (only_row = 0));
  `;
  return { name, migrations: [(sql) => void sql.exec(tables), ...later] };
}

/** The stored state of one credential. Trying one that does not exist leaves nothing behind. */
export class CredentialStorage<T> {
  readonly #storage: DurableObjectStorage;
  readonly #schema: ObjectSchema;
  readonly #table: CredentialTable;
  readonly #codec: Codec<T>;

  constructor(
    storage: DurableObjectStorage,
    {
      schema,
      table,
      codec,
    }: { readonly schema: ObjectSchema; readonly table: CredentialTable; readonly codec: Codec<T> },
  ) {
    this.#storage = storage;
    this.#schema = schema;
    this.#table = table;
    this.#codec = codec;
  }

  /** Returns the credential, or null before its creation. */
  read(): T | null {
    const { sql } = this.#storage;
    if (stateVersion(sql) === 0) return null;
    const row = sql.exec<{ document: string }>(`SELECT document FROM ${this.#table}`).toArray()[0];
    return row === undefined ? null : this.#codec.decode(row.document);
  }

  isWithdrawn(): boolean {
    const { sql } = this.#storage;
    return stateVersion(sql) > 0 && sql.exec('SELECT 1 FROM withdrawn').toArray().length > 0;
  }

  create(credential: T): void {
    this.#write(() => this.put(credential));
  }

  put(credential: T): void {
    const put = `INSERT OR REPLACE INTO ${this.#table} (only_row, document) VALUES (0, ?)`;
    this.#storage.sql.exec(put, this.#codec.encode(credential));
  }

  /** Records that the credential is never created. */
  withdraw(): void {
    this.#write(() => void this.#storage.sql.exec('INSERT OR IGNORE INTO withdrawn (only_row) VALUES (0)'));
  }

  /** Deletes everything. The object is then like one that was never written. */
  async erase(): Promise<void> {
    await this.#storage.deleteAll();
  }

  #write(writes: () => void): void {
    this.#storage.transactionSync(() => {
      createState(this.#storage.sql, this.#schema);
      writes();
    });
  }
}
