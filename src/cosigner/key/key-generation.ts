import { concatBytes, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { DealingRequest } from '#cosigner/key/dealing.ts';
import { prepareDealing } from '#cosigner/key/dealing.ts';
import type { SessionPlan } from '#cosigner/session/protocol.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { taggedHash } from '#mpc/transcript.ts';

export interface KeyGenerationRequest extends Omit<DealingRequest, 'purpose' | 'context' | 'origin'> {
  /** Pinned with the key: every version so far, in order. */
  readonly policies: readonly Policy[];
}

/** A new key. The policies are part of what everybody signs, so no two nodes ever pin different ones. */
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

/** The hash of each, in order. */
export function policiesBytes(policies: readonly Policy[]): Uint8Array {
  return concatBytes(...policies.map((policy) => hexToBytes(policyHashOf(policy))));
}
