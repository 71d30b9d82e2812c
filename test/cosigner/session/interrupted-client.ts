import type { CosignerClient } from '#cosigner-client/client.ts';

/** The coordinator dies: its next call is never made, or its answer never read. */
export class Cut extends Error {}

/** Where a coordinator dies: at one of its calls, counted over all co-signers from 1. */
export interface CutPoint {
  readonly lastCall: number;
  /** Whether the call is made and its answer lost, or the call is never made. */
  readonly isAnswerLost: boolean;
}

/** Every point at which a run of so many calls can be cut off. */
export function cutsOf(calls: number): readonly CutPoint[] {
  const calledAt = Array.from({ length: calls }, (_, i) => i + 1);
  return calledAt.flatMap((lastCall) => [
    { lastCall, isAnswerLost: false },
    { lastCall, isAnswerLost: true },
  ]);
}

/** Co-signers that answer a coordinator until it dies. */
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
