import type { CosignerClient } from '#cosigner-client/client.ts';

/**
 * The error that stands for the death of the coordinator: its next call is never made, or the
 * answer is never read.
 */
export class Cut extends Error {}

/** The call at which a coordinator dies, counted over all co-signers from 1. */
export interface CutPoint {
  readonly lastCall: number;
  /** True when the call is made and its answer is lost; false when the call is never made. */
  readonly isAnswerLost: boolean;
}

/** Returns every point at which a run of this number of calls can be cut off. */
export function cutsOf(calls: number): readonly CutPoint[] {
  const calledAt = Array.from({ length: calls }, (_, i) => i + 1);
  return calledAt.flatMap((lastCall) => [
    { lastCall, isAnswerLost: false },
    { lastCall, isAnswerLost: true },
  ]);
}

/** Returns clients of the co-signers that answer until the coordinator dies at the cut point. */
export function cutAt(
  cosigners: readonly CosignerClient[],
  { lastCall, isAnswerLost }: CutPoint,
): readonly CosignerClient[] {
  let calls = 0;
  return cosigners.map((cosigner) => ({
    index: cosigner.index,
    call: async (path, body) => {
      calls += 1;
      if (calls >= lastCall && !(isAnswerLost && calls === lastCall)) throw new Cut();
      const answer = await cosigner.call(path, body);
      if (calls >= lastCall) throw new Cut();
      return answer;
    },
  }));
}
