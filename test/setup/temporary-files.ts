import { mkdirSync, statfsSync } from 'node:fs';

/** A folder in memory, as Linux has one. */
const MEMORY = '/dev/shm';

/** What a run needs at most; a container often has no more than 64 MB there. */
const BYTES_NEEDED = 2_000_000_000n;

/**
 * Puts the temporary files of this process and of those that it starts into memory, where there is
 * room: storage in workerd is written with every request and kept by no test. A TMPDIR that is set
 * stays.
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
