import { PageHeading, useTitle } from '#dashboard/shell/page-heading.tsx';
import type { OwnVault } from '#dashboard/api.ts';
import type { Permission } from '#domain/access/member.ts';
import { hasPermission } from '#domain/access/member.ts';

/** Reports whether the reader may do this in a vault. The service checks each request itself. */
export function mayIn(vault: Pick<OwnVault, 'roles'>, permission: Permission): boolean {
  return hasPermission(vault, permission);
}

/** Stands for a form that the reader has no role for. */
export function MissingRole({ vault, needs }: { readonly vault: OwnVault; readonly needs: string }) {
  return (
    <p class="problem">
      Your roles in {vault.name} ({vault.roles.join(', ')}) do not permit this. It needs the role {needs}.
    </p>
  );
}

/** Stands for the page of a vault of which the reader is no member. */
export function NotAMember({ vaultId }: { readonly vaultId: string }) {
  useTitle('Vault not found');
  return (
    <main id="main">
      <PageHeading>Vault {vaultId}</PageHeading>
      <p class="problem" role="alert">
        You are not a member of this vault, or it does not exist. If an administrator has just added you, accept the
        vault on the page of your vaults.
      </p>
      <p>
        <a href="#/">Back to your vaults</a>
      </p>
    </main>
  );
}
