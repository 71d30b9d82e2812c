import type { InferResponseType } from 'hono/client';
import type { api } from '#dashboard/api.ts';

type Line = (typeof api.vault)[':vaultId'];
type Change = InferResponseType<Line['policy-change']['$get']>['policyChanges'][number];
type NeededRenewal = InferResponseType<Line['policy']['$get']>['renewalsNeeded'][number];

/**
 * Lists the versions that co-signers can no longer adopt because the mandate has expired, with the
 * actions of members.
 */
export function Renewals(props: {
  readonly needed: readonly NeededRenewal[];
  readonly changes: readonly Change[];
  /** Null for a member who may not propose a renewal. */
  readonly renew: ((version: number) => void) | null;
}) {
  const { needed, changes, renew } = props;
  const isPending = (version: number) =>
    changes.some(({ state, renewsVersion }) => state === 'PENDING' && renewsVersion === version);
  if (needed.length === 0) return null;
  return (
    <section aria-labelledby="renewals">
      <h2 id="renewals">Expired mandates</h2>
      <ul class="plain">
        {needed.map(({ version, cosigners }) => (
          <li key={version}>
            {cosigners.length === 0
              ? 'The vault cannot generate keys'
              : `Co-signer ${cosigners.join(', ')} cannot adopt version ${version}`}{' '}
            before the signers of version {version - 1} renew the mandate of version {version}.{' '}
            {isPending(version) ? (
              <span class="quiet">A renewal is pending below.</span>
            ) : (
              renew !== null && (
                <button type="button" onClick={() => renew(version)}>
                  Renew version {version}
                </button>
              )
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
