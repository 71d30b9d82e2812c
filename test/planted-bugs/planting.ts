import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Leaves out large folders, and files that were built for another machine. */
const LEFT = new Set(['node_modules', 'dist', '.git', '.conclave', '.wrangler']);

/**
 * Makes a copy of the files that the tests need, in which bugs are planted. It uses the packages of
 * the project.
 */
export function copyOf(root: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'conclave-mutant-'));
  for (const name of readdirSync(root)) {
    if (!LEFT.has(name)) cpSync(join(root, name), join(folder, name), { recursive: true });
  }
  for (const name of ['node_modules', 'dist']) symlinkSync(join(root, name), join(folder, name));
  return folder;
}

/** Reports whether a test file runs in the pool of Workers. */
export function isOfWorkers(file: string): boolean {
  return file.endsWith('.worker.test.ts');
}

/**
 * A test that a bug makes hang fails after this time. It is shorter than the time of its process,
 * whose end would be no result.
 */
const MAX_TEST_MS = 90_000;

/**
 * Returns the command that runs test files. Tests of Workers run in their pool, the others without
 * it.
 *
 * @param upTo the number of failures at which the run stops. A pool that stops at the first failure
 * prints nothing of it, so a caller that needs the output runs all tests
 */
export function testsOf(files: readonly string[], upTo: 'first' | 'last'): readonly string[] {
  const config = files.some(isOfWorkers) ? ['--project', 'worker'] : ['--config', 'test/setup/plain.vitest.config.ts'];
  const until = upTo === 'first' ? ['--bail', '1'] : [];
  const limits = ['testTimeout', 'hookTimeout'].flatMap((name) => [`--${name}`, String(MAX_TEST_MS)]);
  return ['node_modules/vitest/vitest.mjs', 'run', ...until, ...limits, ...config, ...files];
}

export interface Run {
  readonly failed: 'not' | 'itself' | 'late';
  /** The last lines of its output. */
  readonly words: string;
}

/** Runs a command. A command that exceeds its time counts as no result. */
export async function run(command: readonly string[], cwd: string, mostMs: number): Promise<Run> {
  // Exhaustive loops run in part only. A bug that just another part would notice is not a useful
  // planted bug.
  const env = { ...process.env, CONCLAVE_TURN: '0' };
  const child = spawn(process.execPath, command, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let words = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (words = `${words}${text}`.slice(-4_000)));
  }
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
    child.kill('SIGKILL');
  }, mostMs);
  const code = await new Promise<number | null>((resolve) => {
    child.on('close', resolve);
  });
  clearTimeout(late);
  return { failed: isLate ? 'late' : code === 0 ? 'not' : 'itself', words };
}
