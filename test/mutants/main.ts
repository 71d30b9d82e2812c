import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Bug } from './bug.ts';
import { COSIGNER_BUGS } from './cosigner-bugs.ts';
import { FLOW_BUGS } from './flow-bugs.ts';
import { OUTSIDE_BUGS } from './outside-bugs.ts';
import { VOTE_BUGS } from './vote-bugs.ts';

/**
 * `npm run test:mutants [-- --only WORDS]`: plants each seeded bug in a copy of the project and wants what is named with it to fail, within a
 * minute. This is the test of the tests. Exit 1 for a bug that nobody has noticed.
 */

const BUGS = [...FLOW_BUGS, ...VOTE_BUGS, ...COSIGNER_BUGS, ...OUTSIDE_BUGS];
const COPIES = 2;
const MOST_MS = 60_000;
/** All of them, one after the other. */
const CONTROL_MS = 5 * 60_000;
/** Not what is big, or of another machine. */
const LEFT = new Set(['node_modules', 'dist', '.git', '.conclave']);
const HISTORIES = '40';

const { values: options } = parseArgs({ options: { only: { type: 'string' } } });

/** A copy of what the tests need; the packages are those of the project. */
function copyOf(root: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'conclave-mutant-'));
  for (const name of readdirSync(root)) {
    if (!LEFT.has(name)) cpSync(join(root, name), join(folder, name), { recursive: true });
  }
  for (const name of ['node_modules', 'dist']) symlinkSync(join(root, name), join(folder, name));
  return folder;
}

/**
 * What has to fail, as a command. Tests of Workers run in their pool, the others without it.
 *
 * @param upTo a pool that is stopped at the first failure says nothing of it, so who wants its words lets all of them run
 */
function commandOf(caughtBy: Bug['caughtBy'], upTo: 'first' | 'last'): readonly string[] {
  if (caughtBy === 'simulation') {
    const sim = ['--no-warnings', '--import', './test/simulation/register.ts', 'test/simulation/main.ts'];
    return [...sim, '--part', '--stop', '--from', '1', '--count', HISTORIES];
  }
  const isOfWorkers = caughtBy.some((file) => file.startsWith('test/worker/'));
  const config = isOfWorkers ? ['--project', 'worker'] : ['--config', 'test/mutants/vitest.config.ts'];
  const until = upTo === 'first' ? ['--bail', '1'] : [];
  return ['node_modules/vitest/vitest.mjs', 'run', ...until, ...config, ...caughtBy];
}

interface Verdict {
  readonly isCaught: boolean;
  readonly ms: number;
  readonly words: string;
}

/** Plants the bug, asks those who should notice, and takes it out again. */
async function verdictOn(bug: Bug, folder: string): Promise<Verdict> {
  const path = join(folder, bug.file);
  const whole = readFileSync(path, 'utf8');
  if (whole.split(bug.was).length !== 2) throw new Error(`'${bug.name}': its place is not there once in ${bug.file}`);
  writeFileSync(
    path,
    whole.replace(bug.was, () => bug.is),
  );
  const started = Date.now();
  try {
    const { failed, words } = await run(commandOf(bug.caughtBy, 'first'), folder, MOST_MS);
    return { isCaught: failed === 'itself', ms: Date.now() - started, words };
  } finally {
    writeFileSync(path, whole);
  }
}

/** Whoever does not come to an end in time has shown nobody anything. */
async function run(
  command: readonly string[],
  cwd: string,
  mostMs: number,
): Promise<{ readonly failed: 'not' | 'itself' | 'late'; readonly words: string }> {
  const child = spawn(process.execPath, command, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
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

/** Without any bug everything that is to fail has to pass: a test that can not even begin would catch them all. */
async function control(bugs: readonly Bug[], folder: string): Promise<void> {
  const kinds = new Map<string, Bug['caughtBy']>();
  for (const bug of bugs) kinds.set(String(bug.caughtBy), bug.caughtBy);
  const files = new Set([...kinds.values()].flatMap((kind) => (kind === 'simulation' ? [] : kind)));
  const ofWorkers = [...files].filter((file) => file.startsWith('test/worker/'));
  const others = [...files].filter((file) => !ofWorkers.includes(file));
  const groups = [others, ofWorkers].filter((group) => group.length > 0);
  for (const caughtBy of [...groups, ...(kinds.has('simulation') ? (['simulation'] as const) : [])]) {
    const { failed, words } = await run(commandOf(caughtBy, 'last'), folder, CONTROL_MS);
    if (failed !== 'not') throw new Error(`without any bug this fails: ${String(caughtBy)}\n${words}`);
  }
  console.log('Without a bug nothing fails.');
}

async function main(): Promise<readonly string[]> {
  const root = process.cwd();
  const bugs = BUGS.filter(({ name }) => options.only === undefined || name.includes(options.only));
  // Tests of Workers share a bundle beside the packages: those one after the other.
  const ofWorkers = ({ caughtBy }: Bug) =>
    caughtBy !== 'simulation' && caughtBy.some((one) => one.includes('/worker/'));
  const queue = bugs.filter((bug) => !ofWorkers(bug));
  const last = bugs.filter(ofWorkers);
  const missed: string[] = [];
  const judge = async (bug: Bug, folder: string) => {
    const { isCaught, ms, words } = await verdictOn(bug, folder);
    console.log(`${isCaught ? 'caught' : 'MISSED'} in ${(ms / 1000).toFixed(1)} s: ${bug.name}`);
    if (isCaught) return;
    missed.push(bug.name);
    console.log(words);
  };
  const folders = Array.from({ length: COPIES }, () => copyOf(root));
  try {
    await control(bugs, folders[0] ?? '');
    const workOff = async (folder: string) => {
      for (let bug = queue.shift(); bug !== undefined; bug = queue.shift()) await judge(bug, folder);
    };
    await Promise.all(folders.map(workOff));
    for (const bug of last) await judge(bug, folders[0] ?? '');
  } finally {
    for (const folder of folders) rmSync(folder, { recursive: true });
  }
  console.log(`${bugs.length - missed.length} of ${bugs.length} seeded bugs are caught`);
  return missed;
}

if ((await main()).length > 0) process.exitCode = 1;
