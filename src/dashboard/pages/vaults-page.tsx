import type { OwnVault } from '#dashboard/api.ts';
import { OwnCredentialResets } from '#dashboard/pages/credential-resets.tsx';
import { Hash } from '#dashboard/pages/record-fields.tsx';

export function VaultsPage({ vaults }: { readonly vaults: readonly OwnVault[] }) {
  return (
    <main id="main">
      <h1>Vaults</h1>
      <OwnCredentialResets />
      {vaults.length === 0 ? (
        <p class="quiet">You belong to no vault yet. An operator founds one, or its signers let you in.</p>
      ) : (
        <ul class="cards">
          {vaults.map(({ id, name, roles, threshold, approvalMode, wallets }) => (
            <li key={id} class="card">
              <h2>
                <a href={`#/vault/${id}`}>{name}</a>
              </h2>
              <p class="quiet">
                You are {roles.join(', ')}. It takes {threshold} approvals
                {approvalMode === 'device' ? ', each signed by a device' : ''}.
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
              {wallets.length === 0 && <p class="quiet">Its keys are being made.</p>}
            </li>
          ))}
        </ul>
      )}
    </main>
  );
}
