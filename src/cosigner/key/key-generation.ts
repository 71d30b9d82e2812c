import { hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { DealingRequest } from '#cosigner/key/dealing.ts';
import { prepareDealing } from '#cosigner/key/dealing.ts';
import type { SessionPlan } from '#cosigner/session/protocol.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { taggedHash } from '#mpc/transcript.ts';

export interface KeyGenerationRequest extends Omit<DealingRequest, 'purpose' | 'context' | 'origin' | 'threshold'> {
  /** The policy in force in the vault of the key. */
  readonly policy: Policy;
}

/**
 * Returns the plan that generates a new key. All co-signers sign the hash of the policy as part of
 * the context. The hash fixes the vault, the signing threshold and every policy before it, so no
 * two co-signers ever generate a key under different policies.
 */
export function prepareKeyGeneration({ policy, ...request }: KeyGenerationRequest): SessionPlan {
  const { scheme, parties } = request;
  const threshold = policy.signingThreshold;
  const context = taggedHash(
    'cosigner/keygen',
    utf8ToBytes(scheme),
    Uint8Array.from(parties),
    Uint8Array.of(threshold),
    hexToBytes(policyHashOf(policy)),
  );
  return prepareDealing({ ...request, threshold, purpose: 'keygen', context, origin: null });
}
