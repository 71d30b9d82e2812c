import type { OwnVault } from '#dashboard/api.ts';
import { OwnCredentialResets } from '#dashboard/pages/credential-resets.tsx';
import { Hash } from '#dashboard/pages/record-fields.tsx';
import { approvalsText } from '#dashboard/text.ts';

export function VaultsPage({ vaults }: { readonly vaults: readonly OwnVault[] }) {
  return (
    <main id="main">
      <h1>Vaults</h1>
      <OwnCredentialResets />
      {vaults.length === 0 ? (
        <p class="quiet">You are not a member of any vault. Ask an administrator to add you to a vault.</p>
      ) : (
        <ul class="cards">
          {vaults.map(({ id, name, roles, threshold, approvalMode, wallets }) => (
            <li key={id} class="card">
              <h2>
                <a href={`#/vault/${id}`}>{name}</a>
              </h2>
              <p class="quiet">
                Your roles: {roles.join(', ')}. {approvalsText(threshold)} required
                {approvalMode === 'device' ? ', each with a device signature' : ''}.
              </p>
              <dl class="facts">
                {wallets.map(({ chain, address }) => (
                  <div key={chain}>
                    <dt>{chain}</dt>
                    <dd>
                      <Hash value={address} />
                    </dd>
                  </div>
                ))}
              </dl>
              {wallets.length === 0 && <p class="quiet">Generating keys…</p>}
            </li>
          ))}
        </ul>
      )}
    </main>
  );
}
