import type { Attempt, RpcRejection, Transaction } from '#domain/transaction/transaction.ts';

/**
 * After this many identical refusals in a row, sending the same bytes again is useless, and members
 * see the answer. Ours.
 */
export const MAX_IDENTICAL_REJECTIONS = 3;

/**
 * Returns the count after one more refusal. RPC nodes include current balances and prices in their
 * answers, so numbers do not distinguish two answers.
 */
export function countRejection(before: RpcRejection | null, answer: string): RpcRejection {
  const isSame = before !== null && wordingOf(before.answer) === wordingOf(answer);
  return { answer, times: isSame ? before.times + 1 : 1 };
}

/**
 * Reports whether RPC nodes have refused the bytes with the same answer so often that a repetition
 * cannot help.
 */
export function isRejectedRepeatedly(refusal: RpcRejection | null): boolean {
  return refusal !== null && refusal.times >= MAX_IDENTICAL_REJECTIONS;
}

/**
 * Returns the answer of the RPC nodes that explains the state of a transaction, or null. Before the
 * refusals repeat they explain nothing, unless the transaction was given up for them.
 */
export function publicRejection({
  attempts,
  givenUp,
  inclusion,
  state,
}: Pick<Transaction, 'givenUp' | 'inclusion' | 'state'> & {
  readonly attempts: readonly Pick<Attempt, 'refusal'>[];
}): string | null {
  const isUp = givenUp !== null || (state === 'FAILED' && inclusion === null);
  const refusal = (isUp ? attempts.findLast((one) => one.refusal != null) : attempts.at(-1))?.refusal ?? null;
  return refusal !== null && (isUp || isRejectedRepeatedly(refusal)) ? refusal.answer : null;
}

function wordingOf(answer: string): string {
  return answer
    .toLowerCase()
    .replace(/0x[0-9a-f]+/g, '#')
    .replace(/[0-9]+(?:\.[0-9]+)?/g, '#');
}
