import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * The folder that all processes of a test run share. Without the setting the processes share
 * nothing.
 */
export const RUN_FOLDER = 'CONCLAVE_TEST_RUN';

const POLL_MS = 50;

/**
 * Fills a folder that is expensive to fill once per test run: the first process that needs the
 * folder fills it, and the others wait. Returns its path, or null where the processes share
 * nothing. If a process fails, the next process fills the folder.
 */
export async function onceInRun(name: string, fill: (folder: string) => Promise<void>): Promise<string | null> {
  const shared = process.env[RUN_FOLDER];
  if (shared === undefined) return null;
  const [folder, lock, unfinished] = [join(shared, name), join(shared, `${name}.lock`), join(shared, `${name}.new`)];
  while (!existsSync(folder)) {
    if (!(await isMine(lock))) {
      await pause(POLL_MS);
      continue;
    }
    try {
      // Another process may have filled the folder between the check and the lock.
      if (existsSync(folder)) return folder;
      await rm(unfinished, { recursive: true, force: true });
      await mkdir(unfinished);
      await fill(unfinished);
      await rename(unfinished, folder);
    } finally {
      await rm(lock, { recursive: true });
    }
  }
  return folder;
}

/** Tries to take the lock. Returns true for exactly one of several processes that try at once. */
async function isMine(lock: string): Promise<boolean> {
  try {
    await mkdir(lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
