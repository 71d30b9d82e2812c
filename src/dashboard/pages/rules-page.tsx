import { mayIn, MissingRole } from '#dashboard/access.tsx';
import type { OwnVault } from '#dashboard/api.ts';
import { api, good } from '#dashboard/api.ts';
import { balancesOf } from '#dashboard/lists.ts';
import { LoadedContent, useLoaded } from '#dashboard/loading.tsx';

/**
 * Edits a policy: signers, threshold, recipients and limits. The form proposes it, and the signers
 * decide. The form is loaded when the page opens.
 */
export function RulesPage({ vault }: { readonly vault: OwnVault }) {
  const param = { vaultId: String(vault.id) };
  const line = api.vault[':vaultId'];
  const { loaded, reload } = useLoaded(`rules ${vault.id}`, async () => {
    const [{ policy, founding }, balances, { RulesForm }] = await Promise.all([
      good(line.policy.$get({ param, query: {} })),
      balancesOf(param.vaultId),
      import('#dashboard/policy/rules-form.tsx'),
    ]);
    return { policy, founding, balances, RulesForm };
  });
  return (
    <main id="main">
      <p>
        <a href={`#/vault/${vault.id}/policy`}>Policy of {vault.name}</a>
      </p>
      <h1>Edit policy</h1>
      <LoadedContent loaded={loaded} what="the policy" again={reload}>
        {({ policy, founding, balances, RulesForm }) =>
          mayIn(vault, 'propose') ? (
            <RulesForm vault={vault} policy={policy} isDraft={founding?.version === 1} balances={balances} />
          ) : (
            <MissingRole vault={vault} needs="signer or admin" />
          )
        }
      </LoadedContent>
    </main>
  );
}
