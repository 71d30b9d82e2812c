import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** Names the folder that all processes of a test run share; a run without it shares nothing. */
export const RUN_FOLDER = 'CONCLAVE_TEST_RUN';

const POLL_MS = 50;

/**
 * A folder that is expensive to fill: the first process of a test run that needs it fills it, and
 * the others wait. Returns its path, or null where the processes share nothing. A process that
 * fails leaves the task to the next one.
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
      // Another process may have filled it between the check and the lock.
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

/** Reports whether this process has taken the lock: one of several that try at once does. */
async function isMine(lock: string): Promise<boolean> {
  try {
    await mkdir(lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
