import { concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { DealingRequest } from '#cosigner/key/dealing.ts';
import { prepareDealing } from '#cosigner/key/dealing.ts';
import type { SessionPlan } from '#cosigner/session/protocol.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { taggedHash } from '#mpc/transcript.ts';

export interface KeyGenerationRequest extends Omit<DealingRequest, 'purpose' | 'context' | 'origin'> {
  /** Every version so far, in order. The key is stored with them. */
  readonly policies: readonly Policy[];
}

/**
 * Returns the plan that generates a new key. All co-signers sign the policies as part of the
 * context, so no two of them ever pin different policies.
 */
export function prepareKeyGeneration({ policies, ...request }: KeyGenerationRequest): SessionPlan {
  const { scheme, parties, threshold } = request;
  const context = taggedHash(
    'cosigner/keygen',
    utf8ToBytes(scheme),
    Uint8Array.from(parties),
    Uint8Array.of(threshold),
    policiesBytes(policies),
  );
  return prepareDealing({ ...request, purpose: 'keygen', context, origin: null });
}

/** Returns the concatenated hashes of the policies, in order. */
export function policiesBytes(policies: readonly Policy[]): Uint8Array {
  return concatBytes(...policies.map((policy) => hexToBytes(policyHashOf(policy))));
}
