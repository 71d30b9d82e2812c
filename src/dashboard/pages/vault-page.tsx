import type { ComponentChildren } from 'preact';
import { mayIn } from '#dashboard/shell/access.tsx';
import type { Balance, OwnVault } from '#dashboard/api.ts';
import { balancesKey, balancesOf } from '#dashboard/lists.ts';
import { VaultCredentialResets } from '#dashboard/pages/credential-resets.tsx';
import { History } from '#dashboard/pages/history.tsx';
import { useLive } from '#dashboard/live.ts';
import { LoadedContent, useLoaded } from '#dashboard/shell/loading.tsx';
import { Amount, PartAmount } from '#dashboard/amounts/amount.tsx';
import { byTrust } from '#dashboard/amounts/asset-name.ts';
import { PageHeading, useTitle } from '#dashboard/shell/page-heading.tsx';
import { usdText, usdTotal } from '#dashboard/amounts/money.ts';

/** Shows the balances and the transactions of a vault. Both update live. */
export function VaultPage({ vault }: { readonly vault: OwnVault }) {
  const vaultId = String(vault.id);
  const { name, wallets } = vault;
  useTitle(name);
  const balances = useLoaded(balancesKey(vaultId), () => balancesOf(vaultId));
  useLive(vaultId, {
    balance: (record) => balances.change((all) => withBalance(all, record)),
    missed: balances.reload,
  });
  return (
    <main id="main">
      <p>
        <a href="#/">All vaults</a>
      </p>
      <PageHeading>{name}</PageHeading>
      <VaultCredentialResets vaultId={vaultId}>
        <p class="doors">
          {mayIn(vault, 'create') && (
            <a class="button" href={`#/vault/${vaultId}/transfer`}>
              New transfer
            </a>
          )}
          <a class="button" href={`#/vault/${vaultId}/receive`}>
            Receive
          </a>
          <a class="button" href={`#/vault/${vaultId}/policy`}>
            Policy
          </a>
          <a class="button" href={`#/vault/${vaultId}/members`}>
            Members
          </a>
        </p>
        <section class="balances" aria-labelledby="balances">
          <h2 id="balances">Balances</h2>
          <LoadedContent loaded={balances.loaded} what="balances" again={balances.reload}>
            {(all) => <Balances balances={all} />}
          </LoadedContent>
        </section>
        <History vaultId={vaultId} chains={wallets.map(({ chain }) => chain)} />
      </VaultCredentialResets>
    </main>
  );
}

/** Ours: more unlisted tokens than this would push the history off the screen. */
const MAX_UNLISTED_SHOWN = 5;

/**
 * Shows the balances. Any outsider can send unlisted tokens, so many of them are folded, with their
 * number.
 */
function Balances({ balances }: { readonly balances: readonly Balance[] }) {
  if (balances.length === 0) return <p class="quiet">Nothing yet. Addresses appear once the keys are ready.</p>;
  const sorted = balances.toSorted(byTrust);
  const unlisted = sorted.filter(({ asset }) => asset.trust === 'unlisted');
  const isFolded = unlisted.length > MAX_UNLISTED_SHOWN;
  const shown = isFolded ? sorted.filter((one) => !unlisted.includes(one)) : sorted;
  return (
    <>
      <BalanceTable balances={shown}>
        <tfoot>
          <tr>
            <th scope="row" colSpan={2}>
              Total of assets with a price
            </th>
            <td colSpan={2}>
              <Total balances={balances} />
            </td>
          </tr>
        </tfoot>
      </BalanceTable>
      {isFolded && (
        <details>
          <summary>{unlisted.length} unlisted tokens</summary>
          <BalanceTable balances={unlisted} />
        </details>
      )}
    </>
  );
}

function BalanceTable(props: { readonly balances: readonly Balance[]; readonly children?: ComponentChildren }) {
  const { balances, children } = props;
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Chain</th>
          <th scope="col">Balance</th>
          <th scope="col">Value (USD)</th>
          <th scope="col">Outgoing, not final</th>
        </tr>
      </thead>
      {children}
      <tbody>
        {balances.map(({ chain, asset, tokenId, current, usdValue, incoming, outgoing, outgoingMined, agreement }) => (
          <tr key={keyOf({ chain, asset, tokenId })}>
            <td>{chain}</td>
            <td>
              <Amount amount={current} asset={asset} />
              {tokenId !== null && <span class="quiet">, token ID {tokenId}</span>}
              {incoming !== '0' && (
                <span class="quiet">
                  {' '}
                  of which <PartAmount amount={incoming} asset={asset} /> not final yet
                </span>
              )}
              {agreement === 'differs' && (
                <>
                  {' '}
                  <span class="state waiting">Differs from chain</span>
                </>
              )}
            </td>
            <td data-label="Value">{usdText(usdValue) ?? <span class="quiet">no price</span>}</td>
            <td data-label="Outgoing, not final">
              {outgoing === '0' && '—'}
              {outgoingMined !== '0' && (
                <div>
                  <PartAmount amount={outgoingMined} asset={asset} /> sent, already deducted
                </div>
              )}
              {outgoing !== outgoingMined && (
                <div>
                  <PartAmount amount={difference(outgoing, outgoingMined)} asset={asset} /> approved, not deducted yet
                </div>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Total({ balances }: { readonly balances: readonly Balance[] }) {
  const { total, unknown } = usdTotal(balances.map(({ usdValue }) => usdValue));
  return (
    <>
      {unknown === balances.length ? 'No asset has a price.' : usdText(total)}
      {unknown > 0 && unknown < balances.length && (
        <span class="quiet">
          , without {unknown} {unknown === 1 ? 'asset' : 'assets'} that {unknown === 1 ? 'has' : 'have'} no price
        </span>
      )}
    </>
  );
}

function difference(amount: string, part: string): string {
  return (BigInt(amount) - BigInt(part)).toString();
}

function withBalance(balances: readonly Balance[], record: Balance): Balance[] {
  const isKnown = balances.some((one) => keyOf(one) === keyOf(record));
  return isKnown ? balances.map((one) => (keyOf(one) === keyOf(record) ? record : one)) : [...balances, record];
}

function keyOf({ chain, asset, tokenId }: Pick<Balance, 'chain' | 'asset' | 'tokenId'>): string {
  return [chain, asset.tokenAddress ?? '', tokenId ?? ''].join(' ');
}
