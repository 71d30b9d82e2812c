import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { wholeChromiumHere } from '../browser/chromium.ts';
import { PROOF_PARTS } from './parts.ts';

/**
 * `npm run proof` runs every suite in full, each test file apart from the others, in parts of at
 * most ten minutes. After an interruption it continues with the first part that has not passed on
 * this commit.
 *
 *   npm run proof                  the parts that are left
 *   npm run proof -- --minutes 20  until so much time has passed
 *   npm run proof -- --status      which parts have passed, and the last commit proven whole
 *
 * Exit 1 when a part fails: it is run again the next time. Exit 2 for a checkout that is not a
 * commit.
 */

interface Proof {
  readonly commit: string;
  /** The seconds that each passed part took, by its name. */
  readonly passed: Readonly<Record<string, number>>;
  /** ISO 8601: the time when the last part passed; null while a part is left. */
  readonly wholeAt: string | null;
}

const FOLDER = '.proof';
const MINUTE_MS = 60_000;

const { values: options } = parseArgs({
  options: { status: { type: 'boolean', default: false }, minutes: { type: 'string' } },
});

function git(...words: readonly string[]): string {
  return execFileSync('git', words, { encoding: 'utf8' }).trim();
}

function proofOf(commit: string): Proof {
  const file = join(FOLDER, `${commit}.json`);
  if (!existsSync(file)) return { commit, passed: {}, wholeAt: null };
  return JSON.parse(readFileSync(file, 'utf8')) as Proof;
}

function keep(proof: Proof): void {
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, `${proof.commit}.json`), JSON.stringify(proof, null, 2));
}

/** The newest complete proof, of any commit. */
function lastWhole(): Proof | null {
  const files = existsSync(FOLDER) ? readdirSync(FOLDER) : [];
  const proofs = files.map((file) => proofOf(file.replace('.json', ''))).filter(({ wholeAt }) => wholeAt !== null);
  return proofs.toSorted((one, other) => String(one.wholeAt).localeCompare(String(other.wholeAt))).at(-1) ?? null;
}

function showStatus(commit: string): void {
  const { passed } = proofOf(commit);
  for (const { name } of PROOF_PARTS) {
    const seconds = passed[name];
    console.log(`${seconds === undefined ? '     left' : `${String(seconds).padStart(7)} s`}  ${name}`);
  }
  const whole = lastWhole();
  console.log(
    whole === null ? 'No commit was proven whole here.' : `${whole.commit} was proven whole, ${whole.wholeAt}.`,
  );
}

/** Runs the parts that are left. Returns the names of the parts that failed. */
function prove(commit: string, deadlineMs: number): readonly string[] {
  const failed: string[] = [];
  const { CONCLAVE_TURN: _turn, ...everything } = process.env;
  const browser = wholeChromiumHere();
  const env = { ...everything, CONCLAVE_ISOLATED_TESTS: 'true', ...(browser === null ? {} : { CHROMIUM: browser }) };
  for (const { name, command } of PROOF_PARTS) {
    const proof = proofOf(commit);
    if (name in proof.passed) continue;
    if (Date.now() > deadlineMs) break;
    const startedMs = Date.now();
    console.log(`--- ${name}: ${command.join(' ')}`);
    const [program = '', ...words] = command;
    const { status } = spawnSync(program, words, { env, stdio: 'inherit' });
    const seconds = Math.round((Date.now() - startedMs) / 1000);
    console.log(`--- ${name}: ${status === 0 ? 'passed' : 'FAILED'} in ${seconds} s`);
    if (status === 0) keep({ ...proof, passed: { ...proof.passed, [name]: seconds } });
    else failed.push(name);
  }
  return failed;
}

const commit = git('rev-parse', 'HEAD');
if (options.status) showStatus(commit);
else if (git('status', '--porcelain') !== '') {
  console.error('A proof is of a commit, and files here differ from it: commit them first.');
  process.exitCode = 2;
} else {
  const minutes = options.minutes === undefined ? Infinity : Number.parseInt(options.minutes, 10);
  const failed = prove(commit, Date.now() + minutes * MINUTE_MS);
  const proof = proofOf(commit);
  const left = PROOF_PARTS.filter(({ name }) => !(name in proof.passed));
  if (left.length === 0) keep({ ...proof, wholeAt: proof.wholeAt ?? new Date().toISOString() });
  for (const name of failed) console.log(`failed: ${name}`);
  console.log(
    left.length === 0 ? `${commit} is proven whole.` : `${left.length} of ${PROOF_PARTS.length} parts are left.`,
  );
  if (failed.length > 0) process.exitCode = 1;
}
