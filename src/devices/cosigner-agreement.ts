import type { StatementVerdict } from '#devices/statement.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/**
 * The relation of a pinned co-signer's statement to the policy that the device shows.
 *
 * - `agrees`: it states this policy.
 * - `behind`: it states an earlier policy of the chain that ends with this policy.
 * - `other-history`: it states a policy of this or an earlier version that is not in that chain.
 * - `later-version`: it states a policy of a later version.
 * - `unknown`: nothing is proven, because there is no statement or none that counts.
 */
export const AGREEMENTS = ['agrees', 'behind', 'other-history', 'later-version', 'unknown'] as const;
export type Agreement = (typeof AGREEMENTS)[number];

export interface CosignerAgreement {
  readonly cosigner: number;
  readonly agreement: Agreement;
  /** The policy that it states, or why nothing is known. */
  readonly detail: string;
}

/** Policies that the hash of the last one fixes, the newest last. */
export interface ShownPolicies {
  readonly chain: readonly { readonly version: number; readonly hash: string }[];
  /**
   * The lowest version of the chain whose statement agrees; the version of the last one when
   * absent.
   */
  readonly since?: number;
}

/** Returns the agreement of each co-signer. The verdicts are about the last policy of the chain. */
export function agreementsOf(
  verdicts: readonly StatementVerdict[],
  { chain, since }: ShownPolicies,
): readonly CosignerAgreement[] {
  const last = chain.at(-1);
  if (last === undefined) throw new RangeError('there is no policy to agree with');
  return verdicts.map((one) => {
    const { cosigner } = one;
    if (one.verdict === 'unknown') return { cosigner, agreement: 'unknown', detail: one.reason };
    const stated = one.verdict === 'agrees' ? last : { version: one.policyVersion, hash: one.policyHash };
    const isInChain = chain.some(({ version, hash }) => version === stated.version && hash === stated.hash);
    if (isInChain) {
      const agreement = stated.version >= (since ?? last.version) ? 'agrees' : 'behind';
      return { cosigner, agreement, detail: `version ${stated.version} is in force` };
    }
    const agreement = stated.version > last.version ? 'later-version' : 'other-history';
    return { cosigner, agreement, detail: `it has version ${stated.version} in force, hash ${stated.hash}` };
  });
}

/**
 * Returns the co-signers that do not agree. The signer must name each of them before the device
 * signs. Refuses when fewer than t agree: then the device never signs.
 *
 * The coordinator and f <= t - 1 co-signers may be hostile. They deliver, omit and state anything.
 * The consequences are:
 *
 * - At least one of t agreements is an honest co-signer's, and an honest co-signer has a policy in
 *   force only by a chain of changes that each quorum approved. Therefore t agreements prove the
 *   policy, and t - 1 liars can never make a hidden policy look as if it were in force.
 * - One co-signer that does not agree must not stop the device: f liars could then stop every
 *   approval. When n - f honest co-signers have the policy and n - f >= t, the liars cannot prevent
 *   t agreements.
 * - It must not be ignored either. `later-version` can be an honest co-signer with a newer policy
 *   that the coordinator withholds from this device and from the others. Then the agreement is that
 *   of one honest co-signer that is behind and of t - 1 liars, and these t sign under the older
 *   policy, with devices that the newer one revoked. It can be a lie as well. No count decides:
 *   with t agreements at most n - t co-signers state a later version, which is less than t, because
 *   t is a majority, so all of them may lie. The signer decides, after checking with the other
 *   signers whether there was a change.
 * - `other-history` is a lie, or two changes of one version were both approved by a quorum and
 *   shown to different co-signers. `behind` is a lie, or a change was withheld from an honest
 *   co-signer, which with t - 1 liars still signs under the older policy.
 * - `unknown` is named like the others: a coordinator turns any statement into `unknown` by not
 *   delivering it, so an exemption would void the rest.
 */
export function dissentersIn(
  agreements: readonly CosignerAgreement[],
  threshold: number,
): Result<readonly CosignerAgreement[], 'too-few-agree'> {
  const exceptions = agreements.filter(({ agreement }) => agreement !== 'agrees');
  return agreements.length - exceptions.length < threshold ? refused('too-few-agree') : accepted(exceptions);
}
