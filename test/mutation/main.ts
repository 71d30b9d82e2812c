import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ARGUED } from './argued.ts';
import type { CorePart } from './core.ts';
import { CORE } from './core.ts';
import type { Mutant } from './mutants.ts';
import { idleArguments, isAbout, mutantsOf } from './mutants.ts';
import { copyOf } from '../planted-bugs/planting.ts';
import type { Order, Verdict } from '../planted-bugs/test-process.ts';
import { parseTurn, rangeOf } from '../setup/turns.ts';

/**
 * `npm run test:mutation` makes every small change of the code that decides about money, one at a
 * time, in a copy of the project. A test has to notice each change (a test that hangs counts as one
 * that notices), or `argued.ts` has to state why no test can. Exit 1 for a change without such a
 * test or argument, and for an argument about a change that no longer exists or that a test does
 * notice.
 *
 *   npm run test:mutation                     all changes
 *   npm run test:mutation -- --file PATH      those of one file
 *   npm run test:mutation -- --turn 2/60      the third of sixty parts
 */

const COPIES = 2;
/** The time limit of the first run of each group. */
const CONTROL_MS = 10 * 60_000;
/** A run hangs when it takes this many times as long as without a change. */
const HANGS_AFTER = 5;
const MIN_HANG_MS = 10_000;

const { values: options } = parseArgs({ options: { file: { type: 'string' }, turn: { type: 'string' } } });

/** A copy of the project, with the process that runs its tests. */
class Bench {
  readonly #folder: string;
  #process: ChildProcess | null = null;
  /** The files that were written since the last request to the process. */
  readonly #changed = new Set<string>();
  /** The time limit of each group. A machine under load takes longer, and that is no hang. */
  readonly #limitsMs: number[] = [];

  constructor(root: string) {
    this.#folder = copyOf(root);
  }

  /**
   * Reports whether all tests pass with other texts of some files. The groups run in order until
   * one fails. The first call runs without an effective change, and measures each group.
   */
  async passes(sources: ReadonlyMap<string, string>, groups: readonly (readonly string[])[]): Promise<boolean> {
    const before = [...sources.keys()].map((file) => [file, readFileSync(join(this.#folder, file), 'utf8')] as const);
    for (const [file, source] of sources) this.#write(file, source);
    try {
      for (const [i, files] of groups.entries()) {
        const startedMs = performance.now();
        if (files.length > 0 && (await this.#request(files, this.#limitsMs[i] ?? CONTROL_MS)) !== 'not noticed')
          return false;
        this.#limitsMs[i] ??= Math.max(MIN_HANG_MS, HANGS_AFTER * (performance.now() - startedMs));
      }
      return true;
    } finally {
      for (const [file, source] of before) this.#write(file, source);
    }
  }

  #write(file: string, text: string): void {
    const path = join(this.#folder, file);
    writeFileSync(path, text);
    this.#changed.add(path);
  }

  end(): void {
    this.#process?.kill('SIGKILL');
    rmSync(this.#folder, { recursive: true });
  }

  async #request(files: readonly string[], limitMs: number): Promise<Verdict | 'hangs'> {
    const order: Order = { changed: [...this.#changed], files };
    this.#changed.clear();
    this.#process ??= await this.#started();
    const child = this.#process;
    let late: NodeJS.Timeout | undefined;
    const verdict = await new Promise<Verdict | 'hangs'>((resolve, reject) => {
      late = setTimeout(() => resolve('hangs'), limitMs);
      child.once('message', resolve);
      child.once('exit', (code) => reject(new Error(`the process of the tests ended with ${code}`)));
      child.send(order);
    });
    clearTimeout(late);
    child.removeAllListeners();
    if (verdict !== 'hangs') return verdict;
    child.kill('SIGKILL');
    this.#process = null;
    return verdict;
  }

  async #started(): Promise<ChildProcess> {
    const child = fork('test/planted-bugs/test-process.ts', [], { cwd: this.#folder });
    await once(child, 'message');
    return child;
  }
}

function survives({ part, source }: Pick<Mutant, 'part' | 'source'>, bench: Bench): Promise<boolean> {
  return bench.passes(new Map([[part.file, source]]), [part.tests, part.further]);
}

/**
 * Checks the runner itself: no test notices changes without effect, and a test notices a change
 * that breaks everything.
 */
async function control(parts: readonly CorePart[], bench: Bench): Promise<void> {
  const withLine = (file: string, line: string) => `${readFileSync(file, 'utf8')}\n${line}\n`;
  const commented = new Map(parts.map(({ file }) => [file, withLine(file, '// nothing')]));
  const [tests, further] = (['tests', 'further'] as const).map((group) => [
    ...new Set(parts.flatMap((part) => part[group])),
  ]);
  if (!(await bench.passes(commented, [tests ?? [], further ?? []]))) {
    throw new Error('the tests fail, or notice a comment');
  }
  for (const part of parts) {
    if (await survives({ part, source: withLine(part.file, "throw new Error('planted');") }, bench)) {
      throw new Error(`${part.file}: no test notices that it cannot be loaded`);
    }
  }
}

async function main(): Promise<number> {
  const root = process.cwd();
  const parts = CORE.filter(({ file }) => options.file === undefined || file === options.file);
  if (parts.length === 0) throw new Error(`${options.file} is not in test/mutation/core.ts`);
  const all = parts.flatMap((part) => mutantsOf(root, part));
  const [from, to] = rangeOf(parseTurn(options.turn ?? '0/1'), all.length);
  const mutants = all.slice(from, to);
  const partsOfTurn = [...new Set(mutants.map(({ part }) => part))];
  console.log(`changes ${from} to ${to} of ${all.length}, in ${partsOfTurn.length} files`);
  const benches = Array.from({ length: COPIES }, () => new Bench(root));
  const survivors: Mutant[] = [];
  const queue = [...mutants];
  try {
    await Promise.all(benches.map((bench) => control(partsOfTurn, bench)));
    const workOff = async (bench: Bench) => {
      for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
        if (!(await survives(mutant, bench))) continue;
        survivors.push(mutant);
        const isKnown = ARGUED.some((argument) => isAbout(argument, mutant));
        console.log(
          `${isKnown ? 'argued' : 'SURVIVES'} ${mutant.part.file}:${mutant.line}\n  - ${mutant.was}\n  + ${mutant.is}`,
        );
      }
    };
    await Promise.all(benches.map(workOff));
  } finally {
    for (const bench of benches) bench.end();
  }
  const open = survivors.filter((mutant) => !ARGUED.some((argument) => isAbout(argument, mutant)));
  const ofParts = ARGUED.filter(({ file }) => parts.some((part) => part.file === file));
  const idle = idleArguments(ofParts, survivors, [...all.slice(0, from), ...all.slice(to)]);
  for (const { file, is } of idle) console.log(`argued for nothing: ${file}: ${is}`);
  const argued = survivors.length - open.length;
  console.log(
    `${mutants.length} changes of ${partsOfTurn.length} files: ${mutants.length - survivors.length} are noticed, ` +
      `${argued} argued, ${open.length} not noticed`,
  );
  return open.length + idle.length;
}

if ((await main()) > 0) process.exitCode = 1;
