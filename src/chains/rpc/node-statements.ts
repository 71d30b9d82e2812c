import type { NodeStatement, Observation } from '#chains/observation.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import { denialOf, isUnshown } from '#chains/rpc/node-pool.ts';
import type { Result } from '#domain/result.ts';
import { isSameInclusion } from '#domain/transaction/inclusion.ts';
import type { Inclusion } from '#domain/transaction/transaction.ts';

/**
 * Returns what each RPC node states of a transaction, so that an operator can find the wrong one.
 *
 * @param claim the inclusion that is judged; null when no node states any
 */
export function statementsOf(
  answers: readonly Result<Observation, NodeProblem>[],
  hosts: readonly string[],
  claim: Inclusion | null,
): readonly NodeStatement[] {
  return answers.map((answer, i) => ({ host: hosts[i] ?? '', states: stateOf(answer, claim) }));
}

function stateOf(answer: Result<Observation, NodeProblem>, claim: Inclusion | null): NodeStatement['states'] {
  if (isUnshown(answer)) return 'included-unshown';
  if (!answer.ok) return denialOf(answer) === null ? 'nothing' : 'not-included';
  const { value } = answer;
  if (value.type === 'included') {
    return claim !== null && isSameInclusion(value.inclusion, claim) ? 'included' : 'included-elsewhere';
  }
  const isUsed = value.type === 'absent' && (value.nonceTaken || value.isUnexplained === true);
  return isUsed ? 'nonce-used' : 'not-included';
}
