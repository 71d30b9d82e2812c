import * as z from 'zod';
import type { CosignerState } from '#domain/alert.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { CosignerClient, CosignerFault } from '#cosigner-client/client.ts';

const pairStates = z.record(z.string(), z.object({ banned: z.boolean(), setupId: z.string().nullable() }));

/** By the number of each other node: whether it was caught cheating, and the set-up with it. */
export type PairStates = z.infer<typeof pairStates>;

/** As the node says itself. */
export async function pairStatesOf(cosigner: CosignerClient): Promise<Result<PairStates, CosignerFault>> {
  const answer = await cosigner.call('pairs/status', {});
  if (!answer.ok) return answer;
  const states = pairStates.safeParse(answer.value);
  if (states.success) return accepted(states.data);
  return refused({ cosigner: cosigner.index, code: 'unreachable', detail: null, culprit: cosigner.index });
}

/** Whether each of them answers, all asked at once: nobody waits for one after the other that is away. */
export function statesOfCosigners(cosigners: readonly CosignerClient[]): Promise<readonly CosignerState[]> {
  return Promise.all(
    cosigners.map(async (cosigner) => {
      const states = await pairStatesOf(cosigner);
      const caught = states.ok ? Object.entries(states.value).filter(([, { banned }]) => banned) : [];
      const banned = caught.map(([peer]) => Number.parseInt(peer, 10));
      return { node: cosigner.index, fault: states.ok ? null : states.refusal.code, banned };
    }),
  );
}
