import { execFileSync, spawn } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { takeOverPlatform } from './platform/clocks.ts';
import type { Meter } from '../limits/limits.ts';
import { meterHere, raise } from '../limits/limits.ts';
import { parseTurn } from '../setup/turns.ts';
import type { Course, Outcome } from './history.ts';
import type { Family } from './world.ts';
import { addTo, type Sum, sumOf, textOf } from './totals.ts';

/**
 * `npm run test:simulation` lives random histories of the whole service and judges each of them
 * (docs/testing.md):
 *
 *     npm run test:simulation                         500 new ones
 *     npm run test:simulation -- --count 20000 --log test/simulation/runs.jsonl
 *     npm run test:simulation -- --seed 4711          one, with its trace
 *     npm run test:simulation -- --points             one payment, once for each death point
 *     npm run test:simulation -- --points --turn 1/4  the second quarter of them
 *     npm run test:simulation -- --pairs 2000         so many pairs of deaths
 *     npm run test:simulation -- --lies               every lie of an RPC node; also with --turn
 *     npm run test:simulation -- --days 365           a year of one busy vault
 *
 * Every tenth is lived twice and has to be the same again. Exit 1 when anything that must hold did
 * not: the seeds are named.
 */
const { values: options } = parseArgs({
  options: {
    seed: { type: 'string' },
    from: { type: 'string' },
    count: { type: 'string', default: '500' },
    points: { type: 'boolean', default: false },
    pairs: { type: 'string' },
    lies: { type: 'boolean', default: false },
    /** The number of days of the story of one busy vault. */
    days: { type: 'string' },
    log: { type: 'string' },
    /**
     * Stops at the first failing history, for a caller that only needs to know whether one fails.
     */
    stop: { type: 'boolean', default: false },
    /** Set in a process that another process of this command has started. */
    part: { type: 'boolean', default: false },
    /** The index of the process, which selects its share of the histories. */
    share: { type: 'string' },
    /** The part of all crash points to run, as `part/parts`. */
    turn: { type: 'string', default: '0/1' },
  },
});

const isSweep = options.points || options.lies || options.pairs !== undefined;
const PROCESSES = 2;
const AGAIN_EVERY = 10;

const log = console.log;
/** The start time by a clock that the simulation does not replace. */
const begun = process.hrtime.bigint();
const secondsNow = Math.floor(Date.now() / 1000);

/** Runs a history, logs its faults, and adds it to the sum. */
async function judged(course: Course, sum: Sum, live: (course: Course) => Promise<Outcome>): Promise<Outcome> {
  const outcome = await live(course);
  const points = [...(course.crashPoints ?? [])];
  const name = `seed ${course.seed}${points.length === 0 ? '' : `, deaths at ${points.join()}`}`;
  const again = course.seed % AGAIN_EVERY === 0 && course.log === undefined ? await live(course) : outcome;
  const faults = [...outcome.faults];
  if (again.traceHash !== outcome.traceHash) faults.push(`it goes another way the second time: ${again.traceHash}`);
  addTo(sum, { ...outcome, faults });
  if (faults.length > 0) log([`${name}, trace ${outcome.traceHash}:`, ...faults.map((one) => `  ${one}`)].join('\n'));
  return outcome;
}

async function simulated(): Promise<Sum> {
  // The arithmetic draws its blinding on first use. No history must depend on that.
  const { Point, SECRETS } = await import('#mpc/secp256k1.ts');
  Point.multiple(SECRETS.of(1n));
  takeOverPlatform();
  const { live } = await import('./history.ts');
  const sum = sumOf();
  const one = options.seed;
  if (options.lies) await sweepLies(sum);
  else if (options.days !== undefined) report(`${options.days} days`, await liveDays(options.days), sum);
  else if (one !== undefined) await judged({ seed: Number.parseInt(one, 10), log }, sum, live);
  else if (isSweep) await sweep(sum, live);
  else {
    const first = firstSeed();
    for (let seed = first; seed < first + countOf(); seed++) {
      await judged({ seed }, sum, live);
      if (options.stop && sum.bad > 0) break;
    }
  }
  return sum;
}

/**
 * Runs one planned history on each kind of chain, once for each point at which a part can die, or
 * for pairs of such points.
 */
async function sweep(sum: Sum, live: (course: Course) => Promise<Outcome>): Promise<void> {
  for (const families of [['evm'], ['bitcoin'], ['solana']] as const) await sweepOf(families, sum, live);
}

async function sweepOf(
  families: readonly Family[],
  sum: Sum,
  live: (course: Course) => Promise<Outcome>,
): Promise<void> {
  const share = Number.parseInt(options.share ?? '0', 10);
  // Each process has to know the number of crash points; only the first adds this run to its sum.
  const { points } = await judged({ seed: 1, families, crashPoints: new Set() }, share === 0 ? sum : sumOf(), live);
  const pairs = Number.parseInt(options.pairs ?? '0', 10);
  const { part, parts } = parseTurn(options.turn);
  // Each of the two processes runs every second point of this turn.
  if (options.points)
    for (let at = part + parts * share; at < points; at += parts * PROCESSES)
      await judged({ seed: 1, families, crashPoints: new Set([at]) }, sum, live);
  // The pairs are spread evenly over all pairs, and are the same each time.
  const all = (points * (points - 1)) / 2;
  for (let i = share; i < Math.min(pairs, all); i += PROCESSES) {
    const position = Math.floor((i * all) / Math.min(pairs, all));
    const [at, then] = pairAt(position, points);
    await judged({ seed: 1, families, crashPoints: new Set([at, then]) }, sum, live);
  }
}

/** Runs the lie stories of this turn; each of the two processes runs every second one. */
async function sweepLies(sum: Sum): Promise<void> {
  const { FAMILIES, lieStories, liveBurst, liveStory, nameOf } = await import('./lie-stories.ts');
  const share = Number.parseInt(options.share ?? '0', 10);
  const { part, parts } = parseTurn(options.turn);
  const stories = lieStories();
  for (let at = part + parts * share; at < stories.length; at += parts * PROCESSES) {
    const story = stories[at];
    if (story === undefined) break;
    report(`${at}, ${nameOf(story)}`, await liveStory(story), sum);
  }
  for (const [i, family] of FAMILIES.entries()) {
    const isOwn = i % parts === part && i % PROCESSES === share;
    if (isOwn) report(`${family}: payments in a row`, await liveBurst(family), sum);
  }
}

async function liveDays(days: string): Promise<Outcome> {
  const { liveYear } = await import('./year.ts');
  return liveYear(Number.parseInt(days, 10));
}

function report(name: string, outcome: Outcome, sum: Sum): void {
  addTo(sum, outcome);
  if (outcome.faults.length > 0) log([`${name}:`, ...outcome.faults.map((one) => `  ${one}`)].join('\n'));
}

/** Returns the pair of crash points at this index of all pairs in order. */
function pairAt(position: number, points: number): readonly [number, number] {
  let [first, rest] = [0, position];
  while (rest >= points - 1 - first) {
    rest -= points - 1 - first;
    first++;
  }
  return [first, first + 1 + rest];
}

function countOf(): number {
  return Number.parseInt(options.count, 10);
}

/** Returns the first seed: the current time in seconds, unless an option gives one. */
function firstSeed(): number {
  return options.from === undefined ? secondsNow : Number.parseInt(options.from, 10);
}

/** Runs the histories in two processes, one for each core of a small machine. */
async function shared(): Promise<Sum> {
  const [first, count] = [firstSeed(), countOf()];
  const size = Math.ceil(count / PROCESSES);
  const parts = Array.from({ length: PROCESSES }, (_, i) =>
    isSweep
      ? [
          '--share',
          String(i),
          ...(options.points ? ['--points'] : []),
          ...(options.lies ? ['--lies'] : []),
          '--turn',
          options.turn,
          '--pairs',
          options.pairs ?? '0',
        ]
      : ['--from', String(first + i * size), '--count', String(Math.min(size, count - i * size))],
  );
  const ended = await Promise.all(parts.map(partOf));
  const sum = sumOf();
  for (const { highest } of ended) raise(highest);
  for (const { sum: one } of ended) for (const key of Object.keys(sum) as (keyof Sum)[]) sum[key] += one[key];
  if (options.log !== undefined) {
    const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
    appendFileSync(options.log, `${JSON.stringify({ commit, from: first, count, ...sum })}\n`);
  }
  return sum;
}

/** What a process reports at its end: its sum, and the highest use of each limit. */
interface Part {
  readonly sum: Sum;
  readonly highest: Meter['highest'];
}

async function partOf(requested: readonly string[]): Promise<Part> {
  const given = [...process.execArgv, import.meta.filename, '--part', ...requested];
  const child = spawn(process.execPath, given, { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (text += piece));
  const code = await new Promise<number | null>((resolve) => {
    child.on('close', resolve);
  });
  const lines = text.trimEnd().split('\n');
  const last = lines.pop() ?? '';
  for (const line of lines) log(line);
  if (code !== 0 && !last.startsWith('{')) throw new Error(`a part of the simulation ended with ${code}`);
  return JSON.parse(last) as Part;
}

const isAlone = options.part || options.seed !== undefined || options.days !== undefined;
const total = isAlone ? await simulated() : await shared();
const seconds = Math.round(Number(process.hrtime.bigint() - begun) / 1e9);
const { highest } = meterHere();
if (options.part) log(JSON.stringify({ sum: total, highest } satisfies Part));
else {
  const uses = Object.entries(highest).map(([limit, { value, name }]) => `${value} ${limit} (${name})`);
  log(`at most, in one invocation: ${uses.join('; ')}`);
  log(`${textOf(total)}, ${seconds} s`);
}
if (total.bad > 0) process.exitCode = 1;
