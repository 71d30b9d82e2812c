import type { Attempt, RpcRejection, Transaction } from '#domain/transaction/transaction.ts';

/** So many identical refusals in a row mean that sending the same bytes again mends nothing: a person sees the words. Ours. */
export const MAX_IDENTICAL_REJECTIONS = 3;

/** The count after one more refusal. Nodes write balances and prices of now into their words, so numbers do not tell two answers apart. */
export function countRejection(before: RpcRejection | null, answer: string): RpcRejection {
  const isSame = before !== null && wordingOf(before.answer) === wordingOf(answer);
  return { answer, times: isSame ? before.times + 1 : 1 };
}

/** Reports whether nodes have refused the bytes in the same words so often that only something else can help. */
export function isRejectedRepeatedly(refusal: RpcRejection | null): boolean {
  return refusal !== null && refusal.times >= MAX_IDENTICAL_REJECTIONS;
}

/**
 * The words of the RPC nodes that explain the state of a transaction; null where there are none. Before the refusals repeat they
 * explain nothing, unless the transaction was given up for them.
 */
export function publicRejection({
  attempts,
  givenUp = null,
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
