import * as z from 'zod';
import { selfTestOf } from '#cosigner-client/self-test.ts';
import type { CosignerState } from '#domain/operations/cosigner.ts';
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
 * Reports the state of each co-signer. All are called at once, so that several unreachable ones
 * take only one time-out.
 *
 * @param keyIds the keys whose shares the co-signers open, at most eight
 */
export function statesOfCosigners(
  cosigners: readonly CosignerClient[],
  keyIds: readonly string[],
): Promise<readonly CosignerState[]> {
  return Promise.all(
    cosigners.map(async (cosigner) => {
      const [states, tested] = await Promise.all([pairStatesOf(cosigner), selfTestOf(cosigner, keyIds)]);
      const node = cosigner.index;
      if (!states.ok) {
        const { code, detail } = states.refusal;
        const setting = code === 'misconfigured' ? detail : null;
        return { node, fault: code, setting, banned: [], recoveryKey: null, test: null };
      }
      const caught = Object.entries(states.value).filter(([, { banned }]) => banned);
      const banned = caught.map(([peer]) => Number.parseInt(peer, 10));
      const answers = { node, setting: null, banned };
      if (tested.ok) return { ...answers, fault: null, ...tested.value };
      // A co-signer of release 0.2.0 does not know the path.
      const isOld = tested.refusal.code === 'malformed';
      const recoveryKey = isOld ? await recoveryKeyOf(cosigner) : null;
      return { ...answers, fault: isOld ? null : tested.refusal.code, recoveryKey, test: null };
    }),
  );
}

const recoveryState = z.object({ recoveryKey: z.string().nullable() });

/**
 * Returns the recovery key that a co-signer reports, an empty text for none, and null when it does
 * not answer. An older co-signer does not know the path.
 */
async function recoveryKeyOf(cosigner: CosignerClient): Promise<string | null> {
  const answer = await cosigner.call('recovery/status', {});
  const state = answer.ok ? recoveryState.safeParse(answer.value) : null;
  return state?.success === true ? (state.data.recoveryKey ?? '') : null;
}
