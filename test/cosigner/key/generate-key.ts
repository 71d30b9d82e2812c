import type { KeyScheme } from '#domain/asset/chain.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';
import type { KeyCandidate } from '#domain/vault.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';
import type { KeyRequest } from '#jobs/keys/generate-key.ts';
import { nextKeyStep } from '#jobs/keys/generate-key.ts';
import { policy } from '../../domain/cast.ts';

/**
 * Returns the request for a key under the first policy of the cast, with which two co-signers sign.
 */
export function twoOfThree<S extends KeyScheme>(scheme: S): KeyRequest & { readonly scheme: S } {
  return { scheme, threshold: 2, policies: [{ policy, mandate: null }] };
}

/**
 * Generates a key with these co-signers in one call, by running all steps that a coordinator runs
 * one by one.
 */
export async function generateKey(
  cosigners: readonly CosignerClient[],
  request: KeyRequest,
): Promise<Result<Omit<KeyCandidate, 'provenBy'>, { readonly reason: string }>> {
  let candidate: KeyCandidate | null = null;
  for (;;) {
    const step: Awaited<ReturnType<typeof nextKeyStep>> = await nextKeyStep(cosigners, request, candidate);
    if (!step.ok) return step;
    if (step.value.type === 'key') return accepted(step.value.key);
    if (step.value.type === 'candidate') candidate = step.value.candidate;
  }
}
