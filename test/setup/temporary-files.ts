import { mkdirSync, statfsSync } from 'node:fs';

/** The folder that Linux keeps in memory. */
const MEMORY = '/dev/shm';

/** The largest space that a test run needs. A container often has no more than 64 MB there. */
const BYTES_NEEDED = 2_000_000_000n;

/**
 * Puts the temporary files of this process and of its child processes into memory, if there is
 * room: workerd writes storage with every request, and no test keeps it. A TMPDIR that is already
 * set is not changed.
 */
export function keepTemporaryFilesInMemory(): void {
  if (process.env['TMPDIR'] !== undefined || !hasRoom()) return;
  const folder = `${MEMORY}/conclave-tests`;
  mkdirSync(folder, { recursive: true });
  process.env['TMPDIR'] = folder;
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY, { bigint: true });
    return bavail * bsize >= BYTES_NEEDED;
  } catch {
    return false;
  }
}
