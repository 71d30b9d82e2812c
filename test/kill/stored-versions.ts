import { globSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** The stored state of one object, as the synthetic next release leaves it. */
export interface StoredObject {
  /** Such as `conclave-VaultObject`. */
  readonly className: string;
  readonly version: number;
  /** The rows that the migration found and changed once; null before it. */
  readonly migrated: { readonly found: number; readonly once: number; readonly otherwise: number } | null;
}

/**
 * Reads the storage of every object of a stack that was stopped.
 *
 * @param tables the table that the migration changes, by a part of the class name
 */
export function storedObjects(folder: string, tables: Readonly<Record<string, string>>): readonly StoredObject[] {
  const files = globSync(join(folder, 'state', 'v3', 'do', '*', '*.sqlite'));
  return files.flatMap((file) => {
    const className = basename(dirname(file));
    const table = Object.entries(tables).find(([part]) => className.includes(part))?.[1];
    return table === undefined ? [] : objectIn(file, className, table);
  });
}

function objectIn(file: string, className: string, table: string): readonly StoredObject[] {
  const db = new DatabaseSync(file, { readOnly: true });
  const number = (query: string) => Number(Object.values(db.prepare(query).get() ?? {})[0]);
  try {
    const has = (name: string) => number(`SELECT count(*) FROM sqlite_master WHERE name = '${name}'`) > 0;
    if (!has('schema_version')) return [];
    const version = number('SELECT version FROM schema_version');
    if (!has('next_release')) return [{ className, version, migrated: null }];
    const rows = (condition: string) => number(`SELECT count(*) FROM ${table} WHERE next_release ${condition}`);
    const found = number('SELECT number FROM next_release');
    return [{ className, version, migrated: { found, once: rows('= 1'), otherwise: rows('NOT IN (0, 1)') } }];
  } finally {
    db.close();
  }
}
