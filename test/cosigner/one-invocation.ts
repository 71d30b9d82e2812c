import { refused } from '#domain/result.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';
import { LIMITS } from '../limits/limits.ts';

/** Co-signers 1 to 3 can be bound. The fourth and the fifth always have an address. */
const MAX_BOUND = 3;

/**
 * Returns clients of the co-signers as one invocation of a Worker has them: the platform refuses
 * every further call of a bound co-signer.
 */
export function inOneInvocation(cosigners: readonly CosignerClient[]): readonly CosignerClient[] {
  let calls = 0;
  return cosigners.map((cosigner) => ({
    index: cosigner.index,
    call: async (path, body) => {
      if (cosigner.index <= MAX_BOUND) calls += 1;
      if (calls <= LIMITS['service calls']) return cosigner.call(path, body);
      return refused({ cosigner: cosigner.index, code: 'unreachable', detail: 'too many calls', culprit: null });
    },
  }));
}
