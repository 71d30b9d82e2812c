import * as z from 'zod';
import type { CosignerState } from '#domain/operations/alert.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { CosignerClient, CosignerFault } from '#cosigner-client/client.ts';

const pairStates = z.record(z.string(), z.object({ banned: z.boolean(), setupId: z.string().nullable() }));

/** By the number of each other co-signer: whether it is banned, and the common set-up. */
export type PairStates = z.infer<typeof pairStates>;

/** Returns the states that the co-signer itself reports. */
export async function pairStatesOf(cosigner: CosignerClient): Promise<Result<PairStates, CosignerFault>> {
  const answer = await cosigner.call('pairs/status', {});
  if (!answer.ok) return answer;
  const states = pairStates.safeParse(answer.value);
  if (states.success) return accepted(states.data);
  return refused({ cosigner: cosigner.index, code: 'unreachable', detail: null, culprit: cosigner.index });
}

/**
 * Reports whether each co-signer answers. All are called at once, so that several unreachable ones
 * take only one time-out.
 */
export function statesOfCosigners(cosigners: readonly CosignerClient[]): Promise<readonly CosignerState[]> {
  return Promise.all(
    cosigners.map(async (cosigner) => {
      const [states, recoveryKey] = await Promise.all([pairStatesOf(cosigner), recoveryKeyOf(cosigner)]);
      const caught = states.ok ? Object.entries(states.value).filter(([, { banned }]) => banned) : [];
      const banned = caught.map(([peer]) => Number.parseInt(peer, 10));
      return {
        node: cosigner.index,
        fault: states.ok ? null : states.refusal.code,
        banned,
        recoveryKey: states.ok ? recoveryKey : null,
      };
    }),
  );
}

const recoveryState = z.object({ recoveryKey: z.string().nullable() });

/**
 * Returns the recovery key that a co-signer reports, an empty text for none, and null when it does
 * not answer. A co-signer of release 0.2.0 does not know the question.
 */
async function recoveryKeyOf(cosigner: CosignerClient): Promise<string | null> {
  const answer = await cosigner.call('recovery/status', {});
  const state = answer.ok ? recoveryState.safeParse(answer.value) : null;
  return state?.success === true ? (state.data.recoveryKey ?? '') : null;
}
