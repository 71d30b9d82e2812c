import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';
import type { SigningOutcome, ThresholdSignRequest as SourcedRequest } from '#jobs/signing/threshold-sign.ts';
import { thresholdSign as signWithSource } from '#jobs/signing/threshold-sign.ts';
import { inOneInvocation } from './one-invocation.ts';
import { sourceOf } from './policy-source.ts';

/** A signing request of a coordinator whose policies are these, in order. */
export interface ThresholdSignRequest extends Omit<SourcedRequest, 'policies'> {
  readonly policies: readonly AdoptedPolicy[];
}

/** Runs `thresholdSign` of the coordinator, in one invocation. */
export function thresholdSign(
  cosigners: readonly CosignerClient[],
  { policies, ...request }: ThresholdSignRequest,
): Promise<SigningOutcome> {
  return signWithSource(inOneInvocation(cosigners), { ...request, policies: sourceOf(...policies) });
}
