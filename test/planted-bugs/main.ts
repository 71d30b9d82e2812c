import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Bug } from './bug.ts';
import { BUGS } from './all-bugs.ts';
import { parseTurn, rangeOf } from '../setup/turns.ts';
import { copyOf, isOfWorkers, run, testsOf } from './planting.ts';

/**
 * `npm run test:planted-bugs` plants each bug in a copy of the project and runs the tests that are
 * named with it. They have to fail, within three minutes each. Exit 1 for a bug that no test has
 * noticed.
 *
 *   npm run test:planted-bugs                     all of them
 *   npm run test:planted-bugs -- --only WORDS     those with these words in their name
 *   npm run test:planted-bugs -- --turn 2/30      the third of thirty parts
 *   npm run test:planted-bugs -- --turn 2/30 --changed-since HEAD~5
 *       also some of those in files that changed since then
 */

const COPIES = 2;
const MAX_MS = 3 * 60_000;
/** The control run without bugs runs all of these tests one after the other. */
const CONTROL_MS = 20 * 60_000;
const HISTORIES = '300';
const GAMES = '1000';

/** Only some bugs of changed files are added: a rename changes the files of all bugs. */
const MAX_CHANGED = 10;

const { values: options } = parseArgs({
  options: { only: { type: 'string' }, turn: { type: 'string' }, 'changed-since': { type: 'string' } },
});

/** Returns the selected bugs, and logs a line that names them. */
function selected(): readonly Bug[] {
  const named = BUGS.filter(({ name }) => options.only === undefined || name.includes(options.only));
  const turn = parseTurn(options.turn ?? '0/1');
  const [from, to] = rangeOf(turn, named.length);
  const revision = options['changed-since'];
  const files = revision === undefined ? [] : filesChangedSince(revision);
  const changed = named.filter(({ file }, i) => files.includes(file) && (i < from || i >= to));
  // If many files changed, each commit selects other bugs among them.
  const [first] = rangeOf(turn, changed.length);
  const ofChanged = [...changed.slice(first), ...changed.slice(0, first)].slice(0, MAX_CHANGED);
  console.log(
    `planted bugs ${from} to ${to} of ${named.length}, ` +
      `and ${ofChanged.length} of ${changed.length} others in changed files`,
  );
  return [...ofChanged, ...named.slice(from, to)];
}

function filesChangedSince(revision: string): readonly string[] {
  return execFileSync('git', ['diff', '--name-only', revision, 'HEAD'], { encoding: 'utf8' }).split('\n');
}

/** Returns the command that has to fail. */
function commandOf(caughtBy: Bug['caughtBy'], upTo: 'first' | 'last'): readonly string[] {
  if (typeof caughtBy !== 'string') return testsOf(caughtBy, upTo);
  const folder = `test/${caughtBy}`;
  const script = ['--no-warnings', '--import', `./${folder}/register.ts`, `${folder}/main.ts`];
  // Passing tests run in two processes. A failing run ends at its first failure.
  const until = caughtBy === 'adversary' && upTo === 'last' ? [] : ['--part', '--stop'];
  return [...script, ...until, '--from', '1', '--count', caughtBy === 'adversary' ? GAMES : HISTORIES];
}

interface Verdict {
  readonly isCaught: boolean;
  readonly ms: number;
  readonly words: string;
}

/** Plants the bug, runs the tests that should notice it, and removes it again. */
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
    const { failed, words } = await run(commandOf(bug.caughtBy, 'first'), folder, MAX_MS);
    return { isCaught: failed === 'itself', ms: Date.now() - started, words };
  } finally {
    writeFileSync(path, whole);
  }
}

/**
 * Checks that every test passes without a bug: a test that cannot start would fail for every bug.
 */
async function control(bugs: readonly Bug[], folder: string): Promise<void> {
  const kinds = new Map<string, Bug['caughtBy']>();
  for (const bug of bugs) kinds.set(String(bug.caughtBy), bug.caughtBy);
  const files = new Set([...kinds.values()].flatMap((kind) => (typeof kind === 'string' ? [] : kind)));
  const ofWorkers = [...files].filter(isOfWorkers);
  const others = [...files].filter((file) => !ofWorkers.includes(file));
  const groups = [others, ofWorkers].filter((group) => group.length > 0);
  const scripts = [...kinds.values()].filter((kind) => typeof kind === 'string');
  for (const caughtBy of [...groups, ...scripts]) {
    const { failed, words } = await run(commandOf(caughtBy, 'last'), folder, CONTROL_MS);
    if (failed !== 'not') throw new Error(`without any bug this fails: ${String(caughtBy)}\n${words}`);
  }
  console.log('Without a bug nothing fails.');
}

async function main(): Promise<readonly string[]> {
  const root = process.cwd();
  const bugs = selected();
  const queue = [...bugs];
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
  } finally {
    for (const folder of folders) rmSync(folder, { recursive: true });
  }
  // The names are printed again below the long log.
  for (const name of missed) console.log(`MISSED: ${name}`);
  console.log(`${bugs.length - missed.length} of ${bugs.length} planted bugs are caught`);
  return missed;
}

if ((await main()).length > 0) process.exitCode = 1;
