import { execFileSync } from 'node:child_process';

/** Number of the turn: a number of commits, or `all` for a run of everything. */
export const TURN = 'CONCLAVE_TURN';

/** The number of commits, so that each commit takes its turn; 0 outside a git checkout. */
export function turnOfCommit(): string {
  try {
    return execFileSync('git', ['rev-list', '--count', 'HEAD'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return '0';
  }
}

/**
 * The cases of an exhaustive loop whose turn it is: one of so many parts at each commit, and all of them in `npm run proof`. For loops in which a
 * fault may be found some commits late; attacks and the rows of the spec are tested at every commit.
 */
export function inTurn<T>(cases: readonly T[], parts: number): readonly T[] {
  const turn = process.env[TURN] ?? '0';
  return turn === 'all' ? cases : cases.filter((_, i) => i % parts === Number.parseInt(turn, 10) % parts);
}

/** One of several equal parts: `2/19` is the third of nineteen. */
export interface Turn {
  readonly part: number;
  readonly parts: number;
}

/** Reads `K/N` with K from 0 up to N - 1. Throws for anything else. */
export function parseTurn(text: string): Turn {
  const [, part = '', parts = ''] = /^([0-9]{1,6})\/([1-9][0-9]{0,5})$/.exec(text) ?? [];
  const turn = { part: Number.parseInt(part, 10), parts: Number.parseInt(parts, 10) };
  if (part === '' || turn.part >= turn.parts) throw new Error(`not a part of a whole, such as 2/19: ${text}`);
  return turn;
}

/** Where a part of so many neighbours begins and ends: from the first, up to the second and without it. */
export function rangeOf({ part, parts }: Turn, count: number): readonly [from: number, to: number] {
  return [Math.floor((part * count) / parts), Math.floor(((part + 1) * count) / parts)];
}
