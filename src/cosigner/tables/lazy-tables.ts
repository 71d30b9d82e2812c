import { COSIGNER_SCHEMA } from '#cosigner/schema.ts';
import { createState, stateVersion } from '#store/object-schema.ts';

type Row = Record<string, SqlStorageValue>;

/** The tables of one object of a co-signer. Most objects are only ever read. */
export class LazyTables {
  readonly #sql: SqlStorage;
  #created = false;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Creates tables with the first write, so that reading what does not exist writes nothing. */
  write(query: string, ...bindings: (string | number | null)[]): SqlStorageCursor<Row> {
    if (!this.#created) createState(this.#sql, COSIGNER_SCHEMA);
    this.#created = true;
    return this.#sql.exec(query, ...bindings);
  }

  read<T extends Row>(query: string, ...bindings: (string | number)[]): T[] {
    this.#created ||= stateVersion(this.#sql) > 0;
    return this.#created ? this.#sql.exec<T>(query, ...bindings).toArray() : [];
  }
}
