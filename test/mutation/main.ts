import type { ChildProcess } from 'node:child_process';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Argued } from './argued.ts';
import { ARGUED } from './argued.ts';
import type { CorePart } from './core.ts';
import { CORE } from './core.ts';
import type { Mutation } from './operators.ts';
import { mutationsOf } from './operators.ts';
import { copyOf } from '../planted-bugs/planting.ts';
import type { Order, Verdict } from '../planted-bugs/test-process.ts';

/**
 * `npm run test:mutation [-- --file PATH]` makes every small change of the code that decides about
 * money, one at a time, in a copy of the project. A test has to notice each change (a test that
 * hangs counts as one that notices), or `argued.ts` has to state why no test can. Exit 1 for a
 * change without such a test or argument, and for an argument about a change that no longer exists
 * or that a test does notice.
 */

const COPIES = 2;
const MAX_MS = 60_000;

const { values: options } = parseArgs({ options: { file: { type: 'string' } } });

interface Mutant {
  readonly part: CorePart;
  /** The number of lines of the whole file. */
  readonly source: string;
  readonly line: number;
  readonly was: string;
  readonly is: string;
}

function mutantsOf(root: string, part: CorePart): readonly Mutant[] {
  const whole = readFileSync(join(root, part.file), 'utf8');
  return mutationsOf(part.file, whole).map((mutation) => mutantOf(part, whole, mutation));
}

function mutantOf(part: CorePart, whole: string, { start, end, is }: Mutation): Mutant {
  const from = whole.lastIndexOf('\n', start) + 1;
  const to = (whole.indexOf('\n', end) + 1 || whole.length + 1) - 1;
  const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
  return {
    part,
    source: `${whole.slice(0, start)}${is}${whole.slice(end)}`,
    line: whole.slice(0, start).split('\n').length,
    was: oneLine(whole.slice(from, to)),
    is: oneLine(`${whole.slice(from, start)}${is}${whole.slice(end, to)}`),
  };
}

/** A copy of the project, with the process that runs its tests. */
class Bench {
  readonly #folder: string;
  #process: ChildProcess | null = null;
  /** The files that were written since the last request to the process. */
  readonly #changed = new Set<string>();

  constructor(root: string) {
    this.#folder = copyOf(root);
  }

  async survives({ part, source }: Pick<Mutant, 'part' | 'source'>): Promise<boolean> {
    const path = join(this.#folder, part.file);
    const whole = readFileSync(path, 'utf8');
    this.#write(path, source);
    try {
      for (const files of [part.tests, part.further]) {
        if (files.length > 0 && (await this.#request(files)) !== 'not noticed') return false;
      }
      return true;
    } finally {
      this.#write(path, whole);
    }
  }

  #write(path: string, text: string): void {
    writeFileSync(path, text);
    this.#changed.add(path);
  }

  end(): void {
    this.#process?.kill('SIGKILL');
    rmSync(this.#folder, { recursive: true });
  }

  async #request(files: readonly string[]): Promise<Verdict | 'hangs'> {
    const order: Order = { changed: [...this.#changed], files };
    this.#changed.clear();
    this.#process ??= await this.#started();
    const child = this.#process;
    let late: NodeJS.Timeout | undefined;
    const verdict = await new Promise<Verdict | 'hangs'>((resolve, reject) => {
      late = setTimeout(() => resolve('hangs'), MAX_MS);
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

/**
 * Checks the runner itself: no test notices a change without effect, and a test notices a change
 * that breaks everything.
 */
async function control(parts: readonly CorePart[], bench: Bench): Promise<void> {
  for (const part of parts) {
    const whole = readFileSync(part.file, 'utf8');
    if (!(await bench.survives({ part, source: `${whole}\n// nothing\n` }))) {
      throw new Error(`${part.file}: its tests fail, or notice a comment`);
    }
    if (await bench.survives({ part, source: `${whole}\nthrow new Error('planted');\n` })) {
      throw new Error(`${part.file}: no test notices that it cannot be loaded`);
    }
  }
}

function isArgued({ part, was, is }: Mutant): (argued: Argued) => boolean {
  return (argued) => argued.file === part.file && argued.was === was && argued.is === is;
}

async function main(): Promise<number> {
  const root = process.cwd();
  const parts = CORE.filter(({ file }) => options.file === undefined || file === options.file);
  const mutants = parts.flatMap((part) => mutantsOf(root, part));
  const benches = Array.from({ length: COPIES }, () => new Bench(root));
  const survivors: Mutant[] = [];
  const queue = [...mutants];
  try {
    for (const bench of benches) await control(parts, bench);
    const workOff = async (bench: Bench) => {
      for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
        if (!(await bench.survives(mutant))) continue;
        survivors.push(mutant);
        const isKnown = ARGUED.some(isArgued(mutant));
        console.log(
          `${isKnown ? 'argued' : 'SURVIVES'} ${mutant.part.file}:${mutant.line}\n  - ${mutant.was}\n  + ${mutant.is}`,
        );
      }
    };
    await Promise.all(benches.map(workOff));
  } finally {
    for (const bench of benches) bench.end();
  }
  const open = survivors.filter((mutant) => !ARGUED.some(isArgued(mutant)));
  const idle = ARGUED.filter(({ file }) => parts.some((part) => part.file === file)).filter(
    (argued) => !survivors.some((mutant) => isArgued(mutant)(argued)),
  );
  for (const { file, is } of idle) console.log(`argued for nothing: ${file}: ${is}`);
  const argued = survivors.length - open.length;
  console.log(
    `${mutants.length} changes of ${parts.length} files: ${mutants.length - survivors.length} are noticed, ` +
      `${argued} argued, ${open.length} not noticed`,
  );
  return open.length + idle.length;
}

if ((await main()) > 0) process.exitCode = 1;
