/**
 * The versions of the state of a class of Durable Objects.
 *
 * The state of an object has the version in its row. Version n is the state after the first n
 * migrations. A released migration is never changed, because objects have the state that it made: a
 * change of the state is a further migration.
 */
export interface ObjectSchema {
  /** In errors, such as `vault`. */
  readonly name: string;
  readonly migrations: readonly ((sql: SqlStorage) => void)[];
}

/** Calls of an object keep the message of an error, and lose its class. */
const UNREADABLE = 'unreadable state: ';

/** Thrown before anything is written: this code cannot read the state of an object. */
export class UnreadableState extends Error {
  constructor(text: string) {
    super(`${UNREADABLE}${text}`);
  }
}

/**
 * Returns the text of an `UnreadableState`, also of one that another object threw; null for every
 * other error.
 */
export function unreadableText(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const [, text] = error.message.split(UNREADABLE);
  return text ?? null;
}

const TABLE = 'schema_version';

/** Returns the version of the state; 0 when the object was never written. Writes nothing. */
export function stateVersion(sql: SqlStorage): number {
  const table = sql.exec('SELECT 1 FROM sqlite_master WHERE name = ?', TABLE).toArray();
  return table.length === 0 ? 0 : sql.exec<{ version: number }>(`SELECT version FROM ${TABLE}`).one().version;
}

/**
 * Brings existing state to the newest version, in one storage transaction. An object calls it
 * before anything else. An object that was never written stays empty, so reading what does not
 * exist writes nothing. Throws `UnreadableState` for the state of a newer release, and for state
 * without a version, which releases before 0.2.0 wrote.
 */
export function upgradeState(
  storage: Pick<DurableObjectStorage, 'sql' | 'transactionSync'>,
  schema: ObjectSchema,
): void {
  const { sql } = storage;
  const newest = schema.migrations.length;
  const version = stateVersion(sql);
  if (version > newest) throw new UnreadableState(newerText(schema, version));
  if (version === 0 && !isEmpty(sql)) throw new UnreadableState(`this ${schema.name} is older than release 0.2.0`);
  if (version > 0 && version < newest) storage.transactionSync(() => migrate(sql, schema, version));
}

/** Creates the state of a new object with its first write. It changes no existing state. */
export function createState(sql: SqlStorage, schema: ObjectSchema): void {
  if (stateVersion(sql) > 0) return;
  sql.exec(`CREATE TABLE ${TABLE} (only_row INTEGER PRIMARY KEY CHECK (only_row = 0), version INTEGER NOT NULL)`);
  sql.exec(`INSERT INTO ${TABLE} (only_row, version) VALUES (0, 0)`);
  migrate(sql, schema, 0);
}

function migrate(sql: SqlStorage, { migrations }: ObjectSchema, from: number): void {
  for (const migration of migrations.slice(from)) migration(sql);
  sql.exec(`UPDATE ${TABLE} SET version = ?`, migrations.length);
}

/** Tables of the platform begin with `_cf_`. */
function isEmpty(sql: SqlStorage): boolean {
  const own = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\' LIMIT 1";
  return sql.exec(own).toArray().length === 0;
}

function newerText({ name, migrations }: ObjectSchema, version: number): string {
  const known = `this release knows version ${migrations.length}`;
  return `a newer release wrote this ${name} (version ${version}; ${known}). Deploy that release again`;
}
