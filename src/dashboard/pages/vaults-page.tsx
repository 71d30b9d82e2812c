import type { ComponentChildren } from 'preact';
import { Namesakes } from '#dashboard/members/invitations.tsx';
import type { OwnVault } from '#dashboard/api.ts';
import { LoadedContent } from '#dashboard/shell/loading.tsx';
import { usdText } from '#dashboard/amounts/money.ts';
import { OwnCredentialResets } from '#dashboard/pages/credential-resets.tsx';
import { MemberLabel } from '#dashboard/pages/member-names.tsx';
import { Hash, Subject, Time } from '#dashboard/pages/record-fields.tsx';
import { PageHeading, useTitle } from '#dashboard/shell/page-heading.tsx';
import type { Pending, PendingItem, PendingList } from '#dashboard/pending.ts';
import { visibleText } from '#domain/visible-text.ts';
import { approvalsText } from '#dashboard/text.ts';

/** Shows what waits for the reader, and then the vaults of the reader. */
export function VaultsPage(props: {
  readonly vaults: readonly OwnVault[];
  readonly pending: PendingList;
  /** The vaults that the reader has not accepted. */
  readonly children: ComponentChildren;
}) {
  const { vaults, pending, children } = props;
  useTitle('Vaults');
  return (
    <main id="main">
      <PageHeading>Vaults</PageHeading>
      <section aria-labelledby="pending">
        <h2 id="pending">Needs your decision</h2>
        <OwnCredentialResets />
        <LoadedContent loaded={pending.loaded} what="what waits for you" again={pending.reload}>
          {(value) => <PendingRows pending={value} vaults={vaults} more={pending.more} />}
        </LoadedContent>
      </section>
      {/* Below a list that is still loading, the vaults would be pushed down. */}
      {pending.loaded.state !== 'loading' && (
        <>
          {children}
          <VaultCards vaults={vaults} />
        </>
      )}
    </main>
  );
}

function VaultCards({ vaults }: { readonly vaults: readonly OwnVault[] }) {
  if (vaults.length === 0) {
    return <p class="quiet">You are not a member of any vault. Ask an administrator to add you to a vault.</p>;
  }
  return (
    <ul class="cards">
      {vaults.map((vault) => {
        const { id, name, roles, threshold, approvalMode, wallets } = vault;
        return (
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
            <Namesakes vault={vault} vaults={vaults} />
          </li>
        );
      })}
    </ul>
  );
}

function PendingRows(props: {
  readonly pending: Pending;
  readonly vaults: readonly OwnVault[];
  readonly more: () => void;
}) {
  const { pending, vaults, more } = props;
  const { items, total, hasMore, incompleteVaults } = pending;
  // The banner above shows a reset of the reader, with a button to cancel it.
  const rows = items.filter(({ vaultId }) => vaultId !== null);
  return (
    <>
      {total === 0 && incompleteVaults.length === 0 && <p class="quiet">Nothing waits for you.</p>}
      {rows.length > 0 && (
        <ul class="rows">
          {rows.map((item) => (
            <PendingRow key={item.id} item={item} />
          ))}
        </ul>
      )}
      {incompleteVaults.length > 0 && (
        <p class="problem" role="alert">
          More may wait in these vaults, which this list could not read completely:{' '}
          {incompleteVaults.map((id, i) => (
            <span key={id}>
              {i > 0 && ', '}
              <a href={`#/vault/${id}`}>{vaults.find((vault) => vault.id === id)?.name ?? `Vault ${id}`}</a>
            </span>
          ))}
        </p>
      )}
      {hasMore && (
        <button type="button" onClick={more}>
          Load more
        </button>
      )}
    </>
  );
}

function PendingRow({ item }: { readonly item: PendingItem }) {
  const by = item.createdBy;
  switch (item.kind) {
    case 'transaction': {
      const { transaction } = item;
      const usd = usdText(item.usdValue);
      return (
        <li>
          <a href={`#/transaction/${item.id}`}>
            <Subject transaction={transaction} />
          </a>
          {usd !== null && <span>{usd}</span>}
          <Progress item={item} />
          <p class="details quiet">
            {item.vaultName}, {transaction.chain}, proposed by <Author userId={by} />, until{' '}
            <Time iso={item.deadline} />
          </p>
          <Note text={transaction.note} by={by} />
        </li>
      );
    }
    case 'policy-change':
      return (
        <li>
          <a href={`#/vault/${item.vaultId}/policy`}>{changeText(item)}</a>
          <Progress item={item} />
          <p class="details quiet">
            {item.vaultName}, proposed by <Author userId={by} />, until <Time iso={item.deadline} />
          </p>
          <Note text={item.note} by={by} />
        </li>
      );
    case 'credential-reset':
      return (
        <li>
          <a href={`#/vault/${item.vaultId}`}>
            Check the credential reset of <MemberLabel userId={item.credentialReset.userId} />
          </a>
          <p class="details quiet">
            {item.vaultName}, requested by an operator, credentials can be issued from <Time iso={item.deadline} />
          </p>
        </li>
      );
  }
}

function Author({ userId }: { readonly userId: string | null }) {
  return userId === null ? <>an operator</> : <MemberLabel userId={userId} />;
}

function Progress({ item }: { readonly item: Exclude<PendingItem, { readonly kind: 'credential-reset' }> }) {
  const { approvalsCounted, requiredApprovals } = item;
  return (
    <span class="state waiting">
      {approvalsCounted} of {approvalsText(requiredApprovals)}
    </span>
  );
}

/** A note is a claim of its author, so it stands in quotation marks with the name. */
function Note({ text, by }: { readonly text: string | null; readonly by: string | null }) {
  if (text === null) return null;
  return (
    <p class="claimed quiet">
      Note by <Author userId={by} />: “{visibleText(text)}”
    </p>
  );
}

function changeText(change: Extract<PendingItem, { readonly kind: 'policy-change' }>): string {
  const { version, renewsVersion } = change;
  if (renewsVersion === 1) return 'Approve the first policy';
  return renewsVersion === null ? `Change the policy to version ${version}` : `Renew version ${version} of the policy`;
}
