import type { PolicySource } from '#cosigner-client/bring-policies.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import { present } from '../chains/evm/cast.ts';

/** Returns the policies of a coordinator that has no report of any co-signer. */
export function sourceOf(...policies: readonly AdoptedPolicy[]): PolicySource {
  const { policy } = present(policies.at(-1));
  return {
    policy,
    adoptedVersions: {},
    after: async (version) => policies.filter((adopted) => adopted.policy.version > version),
  };
}
