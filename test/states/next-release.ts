import { SUPPORTED_PROTOCOLS } from '#cosigner/protocol-version.ts';
import { WIRE_VERSIONS } from '#domain/access/cosigner-request.ts';
import type { ObjectSchema } from '#store/object-schema.ts';

/**
 * The synthetic release after this one. It changes what releases change: the state of a class, the
 * protocol between co-signers, and the requests to them. It also speaks what this release speaks.
 */

/**
 * Adds a migration to a schema. It leaves a trace when it runs twice or on a part of the rows:
 * `NEXT_COLUMN` is 1 in every row that existed, and `NEXT_TABLE` has their number.
 */
export function migrateNext(schema: ObjectSchema, table: string): void {
  (schema.migrations as ObjectSchema['migrations'][number][]).push((sql) => {
    sql.exec(`ALTER TABLE ${table} ADD COLUMN next_release INTEGER NOT NULL DEFAULT 0`);
    sql.exec(`UPDATE ${table} SET next_release = next_release + 1`);
    sql.exec(`CREATE TABLE next_release AS SELECT count(*) AS number FROM ${table}`);
  });
}

/** Speaks a newer protocol and newer requests, before those of this release. */
export function speakNext(): void {
  (SUPPORTED_PROTOCOLS as string[]).unshift('f'.repeat(64));
  (WIRE_VERSIONS as number[]).unshift(WIRE_VERSIONS.length + 1);
}
