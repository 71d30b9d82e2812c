import { mayIn, MissingRole } from '#dashboard/shell/access.tsx';
import type { OwnVault, Person } from '#dashboard/api.ts';
import { api, good } from '#dashboard/api.ts';
import { balancesOf } from '#dashboard/lists.ts';
import { RulesForm } from '#dashboard/policy/rules-form.tsx';
import { LoadedContent, useLoaded } from '#dashboard/shell/loading.tsx';
import { PageHeading, useTitle } from '#dashboard/shell/page-heading.tsx';

/**
 * Edits a policy: signers, threshold, recipients and limits. The form proposes it, and the signers
 * decide.
 */
export function RulesPage({ vault, me }: { readonly vault: OwnVault; readonly me: Person }) {
  const param = { vaultId: String(vault.id) };
  const line = api.vault[':vaultId'];
  useTitle(`Edit policy · ${vault.name}`);
  const { loaded, reload } = useLoaded(
    `rules ${vault.id}`,
    async () => {
      const [{ policy, founding }, balances] = await Promise.all([
        good(line.policy.$get({ param, query: {} })),
        balancesOf(param.vaultId),
      ]);
      return { policy, founding, balances };
    },
    { isForForm: true },
  );
  return (
    <main id="main">
      <p>
        <a href={`#/vault/${vault.id}/policy`}>Policy of {vault.name}</a>
      </p>
      <PageHeading>Edit policy</PageHeading>
      <LoadedContent loaded={loaded} what="the policy" again={reload}>
        {({ policy, founding, balances }) =>
          mayIn(vault, 'propose') ? (
            <RulesForm vault={vault} me={me} policy={policy} isDraft={founding?.version === 1} balances={balances} />
          ) : (
            <MissingRole vault={vault} needs="signer or admin" />
          )
        }
      </LoadedContent>
    </main>
  );
}
