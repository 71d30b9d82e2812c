import type { KeyScheme } from '#domain/asset/chain.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';
import type { KeyCandidate } from '#domain/vault/vault.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';
import { nextKeyStep } from '#jobs/keys/generate-key.ts';
import { policy } from '../../domain/cast.ts';
import { inOneInvocation } from '../one-invocation.ts';
import { sourceOf } from '../policy-source.ts';

/** A key of a vault whose policies are these, in order. */
export interface KeyRequest {
  readonly scheme: KeyScheme;
  readonly policies: readonly AdoptedPolicy[];
}

/**
 * Returns the request for a key under the first policy of the cast, with which two co-signers sign.
 */
export function twoOfThree<S extends KeyScheme>(scheme: S): KeyRequest & { readonly scheme: S } {
  return { scheme, policies: [{ policy, mandate: null }] };
}

/**
 * Generates a key with these co-signers in one call, by running all steps that a coordinator runs
 * one by one.
 */
export async function generateKey(
  cosigners: readonly CosignerClient[],
  { scheme, policies }: KeyRequest,
): Promise<Result<Omit<KeyCandidate, 'provenBy'>, { readonly reason: string }>> {
  const request = { scheme, policies: sourceOf(...policies) };
  let candidate: KeyCandidate | null = null;
  for (;;) {
    const step: Awaited<ReturnType<typeof nextKeyStep>> = await nextKeyStep(
      inOneInvocation(cosigners),
      request,
      candidate,
    );
    if (!step.ok) return step;
    if (step.value.type === 'key') return accepted(step.value.key);
    if (step.value.type === 'candidate') candidate = step.value.candidate;
  }
}
