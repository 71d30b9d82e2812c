import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Case } from './cases.ts';
import { casesOf } from './cases.ts';
import { growthCases } from './growth.ts';
import { excessiveGrowth } from './growth-verdict.ts';
import type { JourneyTimes } from './journey.ts';
import { travel } from './journey.ts';
import { canPin, Load, SERVER_CORE } from './load.ts';
import type { LoadResult } from './load-process.ts';
import type { Memory } from './memory.ts';
import { MemoryWatch } from './memory.ts';
import { profileOf } from './profile.ts';
import { mebibytes, withMemory, withTable } from './performance-tables.ts';
import type { Scene } from './scene.ts';
import { startScene } from './scene.ts';

/**
 * `npm run bench [-- --growth | --profile | --brief] [-- --only NAMES] [-- --json FILE] [--
 * --write]`. Every figure is from one run: blocks of all cases are interleaved, forwards and
 * backwards, and a ratio is the median of the ratios of neighbouring blocks. Absolute figures are
 * those of this machine. `--growth` measures how they change with the number of transactions,
 * signers and vaults, and the memory that this takes. It ends with 1 when a request costs too much
 * more. `--profile` prints no figures, but the
 * functions that use the time of each case. `--brief` prints no figures either, but checks that
 * every case still succeeds.
 */

const PERFORMANCE = resolve(import.meta.dirname, '..', 'docs', 'performance.md');
const BLOCKS = 7;
const BLOCK_MS = 1_000;
const WARM_UP_MS = 1_500;
const LATENCY_MS = 4_000;
const PROFILE_MS = 20_000;
const BRIEF_MS = 200;
/** The number of printed functions; cheaper ones are negligible. */
const MAX_COSTS = 40;
/** A share of the closed-loop maximum: a service that is busy and not overloaded. */
const LATENCY_LOAD = 0.5;
/** The latency at a rate is void when the rate was not reached. */
const REACHED = 0.99;

interface Bench {
  readonly load: Load;
  readonly scene: Scene;
}

interface Pace {
  readonly durationMs: number;
  /** Null for the maximum rate. */
  readonly ratePerSecond: number | null;
}

interface Figures {
  rps: number;
  /** Includes the time in which the deferred work of a block is completed. */
  lastingRps: number;
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
  ratio: number;
}

const { values: options } = parseArgs({
  options: {
    growth: { type: 'boolean', default: false },
    profile: { type: 'boolean', default: false },
    brief: { type: 'boolean', default: false },
    only: { type: 'string' },
    json: { type: 'string' },
    /** Writes the figures into docs/performance.md. */
    write: { type: 'boolean', default: false },
  },
});
const JOURNEYS: Readonly<Record<string, string>> = {
  approvedToSigned: 'from the last approval to signed bytes, queues and all',
  minedToSucceeded: 'from the block to SUCCEEDED',
};

/**
 * Pins the whole process to one core, with the workerd that it starts; the load generator uses the
 * other.
 */
function pinned(): boolean {
  if (process.env['CONCLAVE_BENCH_PINNED'] !== undefined || !canPin()) return true;
  const command = ['-c', SERVER_CORE, process.execPath, ...process.argv.slice(1)];
  const child = spawnSync('taskset', command, {
    stdio: 'inherit',
    env: { ...process.env, CONCLAVE_BENCH_PINNED: '1' },
  });
  process.exitCode = child.status ?? 1;
  return false;
}

async function main(): Promise<void> {
  // A queue of the simulator has room for ten thousand messages, and growth creates events faster
  // than a hundred vaults can deliver them on one core.
  const { growth, profile: isReadable } = options;
  const scene = await startScene({ notificationsEnabled: !growth, isReadable, isInspected: growth || isReadable });
  const load = new Load();
  try {
    const all = growth ? growthCases(scene) : casesOf(scene);
    const chosen = chosenCases(all);
    if (isReadable) return await profile({ load, scene }, chosen);
    if (options.brief) return await tryOut({ load, scene }, chosen);
    const figures = new Map<string, Figures>();
    const watch = growth && scene.inspectorUrl !== null ? await MemoryWatch.at(scene.inspectorUrl) : null;
    if (chosen.length > 0) await measure({ load, scene }, chosen, figures);
    const journeys = options.only === undefined || options.only in JOURNEYS ? await travel(scene) : null;
    const memory = watch?.stop() ?? null;
    // The journeys run before the memory is read, because signing counts in the memory of the
    // co-signers. Their times are reported only without `--growth`.
    if (journeys !== null && !growth) addJourneys(journeys, figures);
    const requested = options.only?.split(',') ?? [...figures.keys()];
    const shown = Object.fromEntries([...figures].filter(([name]) => requested.includes(name)));
    print(shown, all);
    for (const [name, { most, inUse }] of memory ?? [])
      console.log(
        `${name.padEnd(22)}${mebibytes(most).padStart(6)} MiB at most, ${mebibytes(inUse)} in use at the end`,
      );
    if (growth) judgeGrowth(shown, all);
    if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(shown, null, 2)}\n`);
    if (options.write) writeTables({ figures: shown, cases: all, memory });
  } finally {
    load.stop();
    await scene.stop();
  }
}

/** Prints where the time of each case goes, in the isolates of the service. */
async function profile(bench: Bench, cases: readonly Case[]): Promise<void> {
  const { inspectorUrl } = bench.scene;
  if (inspectorUrl === null) throw new Error('a profile needs the inspector');
  for (const one of cases.filter(({ port }) => port !== bench.scene.ports.bare)) {
    await run(bench, one, { durationMs: WARM_UP_MS, ratePerSecond: null });
    const requests = await prepared(bench, one);
    const { costs, result } = await profileOf(inspectorUrl, () =>
      drive(bench, one, { durationMs: PROFILE_MS, ratePerSecond: null, requests }),
    );
    const { answered } = result;
    console.log(`\n${one.what}: ${answered} answers\n${'self µs'.padStart(9)}${'total µs'.padStart(9)}  each, in`);
    for (const { isolate, what, selfMs, totalMs } of costs.slice(0, MAX_COSTS)) {
      const [self, total] = [selfMs, totalMs].map((ms) => ((1000 * ms) / answered).toFixed(0).padStart(9));
      console.log(`${self}${total}  ${what} (${isolate})`);
    }
  }
}

/** Runs each case briefly. Throws the error of a case that fails. */
async function tryOut(bench: Bench, cases: readonly Case[]): Promise<void> {
  let answered = 0;
  for (const one of cases) answered += (await run(bench, one, { durationMs: BRIEF_MS, ratePerSecond: null })).answered;
  await travel(bench.scene);
  console.log(`${cases.length} cases, ${answered} good answers`);
}

/** Returns all cases, or the requested ones with their baselines. Throws for an unknown name. */
function chosenCases(all: readonly Case[]): readonly Case[] {
  const { only } = options;
  if (only === undefined) return all;
  if (only in JOURNEYS) return [];
  const names = only.split(',');
  if (!names.every((name) => all.some((one) => one.name === name)))
    throw new Error(`--only takes some of ${[...all.map(({ name }) => name), ...Object.keys(JOURNEYS)].join(', ')}`);
  const chosen = all.filter(({ name }) => names.includes(name));
  return all.filter((one) => chosen.some(({ name, baseline }) => one.name === name || one.name === baseline));
}

async function measure(bench: Bench, cases: readonly Case[], figures: Map<string, Figures>): Promise<void> {
  for (const one of cases) await run(bench, one, { durationMs: WARM_UP_MS, ratePerSecond: null });
  const rates = new Map<string, number[]>(cases.map(({ name }) => [name, []]));
  const lasting = new Map<string, number[]>(cases.map(({ name }) => [name, []]));
  for (let block = 0; block < BLOCKS; block++) {
    const order = block % 2 === 0 ? cases : cases.toReversed();
    for (const one of order) {
      const result = await run(bench, one, { durationMs: BLOCK_MS, ratePerSecond: null });
      rates.get(one.name)?.push((1000 * result.answered) / result.elapsedMs);
      const leftMs = await bench.scene.settle();
      lasting.get(one.name)?.push((1000 * result.answered) / (result.elapsedMs + leftMs));
    }
  }
  for (const one of cases) {
    const own = rates.get(one.name) ?? [];
    const rps = median(own);
    const ratePerSecond = one.openLoop ? rps * LATENCY_LOAD : null;
    const latency = await run(bench, one, { durationMs: LATENCY_MS, ratePerSecond });
    const isReached =
      ratePerSecond === null || latency.answered >= REACHED * Math.floor((ratePerSecond * latency.elapsedMs) / 1000);
    if (!isReached) console.error(`${one.name}: half of its rate was not reached; its latency is void`);
    const held = rates.get(one.baseline ?? one.name) ?? own;
    const ratio = median(own.map((rate, i) => rate / (held[i] ?? Number.NaN)));
    const { p50Ms, p95Ms, p99Ms } = isReached ? latency : { p50Ms: Number.NaN, p95Ms: Number.NaN, p99Ms: Number.NaN };
    const lastingRps = median(lasting.get(one.name) ?? []);
    figures.set(one.name, { rps, lastingRps, p50Ms, p95Ms, p99Ms, ratio });
  }
}

async function run(bench: Bench, one: Case, pace: Pace): Promise<LoadResult> {
  return drive(bench, one, { ...pace, requests: await prepared(bench, one) });
}

async function prepared({ scene }: Bench, one: Case): Promise<readonly string[]> {
  const requests = await one.requests();
  // The deferred work of the previous block must not count in this one.
  await scene.settle();
  return requests;
}

/** Runs a case. A fast wrong response is not a figure, so every response must be successful. */
async function drive(
  { load }: Bench,
  { name, port, connections, once }: Case,
  request: Pace & { readonly requests: readonly string[] },
): Promise<LoadResult> {
  const result = await load.run({ port, connections, once, ...request });
  const bad = Object.keys(result.statuses).filter((status) => !status.startsWith('2'));
  if (bad.length > 0) throw new Error(`${name} answered ${JSON.stringify(result.statuses)}`);
  return result;
}

/** Names the cases that grow too much. The process then ends with 1. */
function judgeGrowth(figures: Readonly<Record<string, Figures>>, cases: readonly Case[]): void {
  const grown = Object.entries(figures).map(([name, { ratio }]) => {
    return { name, ratio, baseline: cases.find((one) => one.name === name)?.baseline ?? null };
  });
  const excessive = excessiveGrowth(grown);
  for (const line of excessive) console.error(line);
  console.log(`growth: ${grown.length} cases, ${excessive.length} excessive`);
  if (excessive.length > 0) process.exitCode = 1;
}

function addJourneys(times: JourneyTimes, figures: Map<string, Figures>): void {
  for (const [name, sorted] of Object.entries(times) as [string, readonly number[]][]) {
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
    const rps = 1000 / at(0.5);
    figures.set(name, { rps, lastingRps: rps, p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99), ratio: 1 });
  }
}

function print(figures: Readonly<Record<string, Figures>>, cases: readonly Case[]): void {
  const columns = ['rps', 'lasting', 'p50 ms', 'p95 ms', 'p99 ms'].map((name) => name.padStart(9)).join('');
  console.log(`\n${'case'.padEnd(18)}${columns}  ratio`);
  for (const [name, { rps, lastingRps, p50Ms, p95Ms, p99Ms, ratio }] of Object.entries(figures)) {
    const numbers = [rps.toFixed(0), lastingRps.toFixed(0), ...[p50Ms, p95Ms, p99Ms].map((ms) => ms.toFixed(2))];
    const baseline = cases.find((one) => one.name === name)?.baseline ?? null;
    const held = baseline === null ? '' : `  ${ratio.toFixed(2)} of ${baseline}`;
    console.log(`${name.padEnd(18)}${numbers.map((text) => text.padStart(9)).join('')}${held}`);
  }
}

interface Measured {
  readonly figures: Readonly<Record<string, Figures>>;
  readonly cases: readonly Case[];
  /** The memory of each isolate; null when it was not measured. */
  readonly memory: ReadonlyMap<string, Memory> | null;
}

/**
 * Replaces the figures of the previous run: docs/performance.md has figures of one run, never of
 * two.
 */
function writeTables({ figures, cases, memory }: Measured): void {
  const rows = Object.entries(figures).map(([name, { rps, lastingRps, p50Ms, p95Ms, ratio }]) => {
    const one = cases.find((candidate) => candidate.name === name);
    const of = cases.find((candidate) => candidate.name === one?.baseline)?.what ?? null;
    const what = one?.what ?? JOURNEYS[name] ?? name;
    return { what, rps, lastingRps, p50Ms, p95Ms, ratio: of === null ? null : { value: ratio, of } };
  });
  const timed = withTable(readFileSync(PERFORMANCE, 'utf8'), rows, memory === null ? 'figures' : 'growth');
  writeFileSync(PERFORMANCE, memory === null ? timed : withMemory(timed, memory));
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low, high] = [sorted[middle - 1 + (sorted.length % 2)], sorted[middle]];
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2;
}

if (pinned()) {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    // Processes that run already would keep this process alive.
    process.exit(1);
  }
}
