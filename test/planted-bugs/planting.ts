import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Not what is big, or of another machine. */
const LEFT = new Set(['node_modules', 'dist', '.git', '.conclave', '.wrangler']);

/**
 * A copy of what the tests need, in which bugs are planted; the packages are those of the project.
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
 * Test files, as a command. Tests of Workers run in their pool, the others without it.
 *
 * @param upTo a pool that is stopped at the first failure prints nothing of it, so a caller that
 * needs its output lets all of them run
 */
export function testsOf(files: readonly string[], upTo: 'first' | 'last'): readonly string[] {
  const config = files.some(isOfWorkers) ? ['--project', 'worker'] : ['--config', 'test/setup/plain.vitest.config.ts'];
  const until = upTo === 'first' ? ['--bail', '1'] : [];
  return ['node_modules/vitest/vitest.mjs', 'run', ...until, ...config, ...files];
}

export interface Run {
  readonly failed: 'not' | 'itself' | 'late';
  /** The last of what it said. */
  readonly words: string;
}

/** Runs a command; one that does not end in time proves nothing. */
export async function run(command: readonly string[], cwd: string, mostMs: number): Promise<Run> {
  // Exhaustive loops take a part: what only another part would notice is no test of a bug.
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
