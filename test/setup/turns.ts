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
