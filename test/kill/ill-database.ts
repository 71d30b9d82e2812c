import { globSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';

/** The time to wait for the lock. The service itself writes for a much shorter time. */
const PATIENCE_MS = 2_000;

/** Returns the path of the file that stores the local D1. */
export function databaseFile(folder: string): string {
  const pattern = `${folder}/state/v3/d1/miniflare-D1DatabaseObject/*.sqlite`;
  const files = globSync(pattern).filter((file) => !file.endsWith('metadata.sqlite'));
  const [file] = files;
  if (file === undefined || files.length > 1) throw new Error(`${files.length} local databases in ${folder}`);
  return file;
}

/** Locks the file of D1 for this time, during which D1 refuses every query. */
export async function lockDatabase(folder: string, forMs: number): Promise<void> {
  const database = new DatabaseSync(databaseFile(folder), { timeout: PATIENCE_MS });
  try {
    database.exec('BEGIN IMMEDIATE');
    await pause(forMs);
    database.exec('ROLLBACK');
  } finally {
    database.close();
  }
}
