import type { CosignerClient } from '#cosigner-client/client.ts';

/** The coordinator dies: its next call is never made, or its answer never read. */
export class Cut extends Error {}

/** Nodes that answer a coordinator until it dies at one of its calls, counted over all of them from 1. */
export function cutAt(
  cosigners: readonly CosignerClient[],
  lastCall: number,
  { isAnswerLost }: { readonly isAnswerLost: boolean },
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
