import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Argued } from './argued.ts';
import type { CorePart } from './core.ts';
import type { Mutation } from './operators.ts';
import { mutationsOf } from './operators.ts';

/** One small change of a file, as the run makes and prints it. */
export interface Mutant {
  readonly part: CorePart;
  /** The text of the whole file with the change. */
  readonly source: string;
  readonly line: number;
  readonly was: string;
  readonly is: string;
}

/** Returns the mutants of a part in the order of the file. */
export function mutantsOf(root: string, part: CorePart): readonly Mutant[] {
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

export function isAbout({ file, was, is }: Argued, mutant: Mutant): boolean {
  return file === mutant.part.file && was === mutant.was && is === mutant.is;
}

/**
 * Returns the arguments that no survivor needs. An argument about a mutant of another turn is
 * judged in that turn.
 */
export function idleArguments(
  argued: readonly Argued[],
  survivors: readonly Mutant[],
  otherTurns: readonly Mutant[],
): readonly Argued[] {
  return argued.filter((argument) => ![...survivors, ...otherTurns].some((mutant) => isAbout(argument, mutant)));
}
