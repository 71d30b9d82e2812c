import type { InferResponseType } from 'hono/client';
import type { Transaction } from '#dashboard/api.ts';
import { api, good } from '#dashboard/api.ts';
import { LoadedContent, useLoaded } from '#dashboard/shell/loading.tsx';
import { Amount } from '#dashboard/amounts/amount.tsx';
import { assetName } from '#dashboard/amounts/asset-name.ts';
import { Warnings } from '#dashboard/pages/record-fields.tsx';

type Simulated = InferResponseType<(typeof api.transaction)[':txId']['simulation']['$get']>;

/**
 * Shows the simulated effects of a transaction as one node reports them. They are a warning and no
 * part of what is approved.
 */
export function Simulation({ transaction }: { readonly transaction: Transaction }) {
  const { id } = transaction;
  const { loaded, reload } = useLoaded(`simulation ${id}`, () =>
    good(api.transaction[':txId'].simulation.$get({ param: { txId: id } })),
  );
  return (
    <section aria-labelledby="simulation">
      <h2 id="simulation">Simulation</h2>
      <LoadedContent loaded={loaded} what="the simulation" again={reload}>
        {(simulated) => (
          <>
            <Warnings warnings={simulated.warnings} />
            <Outcome simulated={simulated} />
          </>
        )}
      </LoadedContent>
    </section>
  );
}

function Outcome({ simulated }: { readonly simulated: Simulated }) {
  const { outcome, detail, balanceChanges, allowances } = simulated;
  if (outcome === 'unknown') return <p class="quiet">Simulation unavailable: {detail}</p>;
  if (outcome === 'fails')
    return (
      <p class="problem" role="alert">
        The transaction would fail: {detail}
      </p>
    );
  return (
    <ul class="rows">
      {balanceChanges.map(({ asset, tokenId, amount }) => (
        <li key={`${asset.tokenAddress} ${tokenId}`}>
          <span class={amount.startsWith('-') ? 'bad' : 'good'}>{amount.startsWith('-') ? 'Sent' : 'Received'}</span>
          <Amount amount={amount.replace('-', '')} asset={asset} />
          {tokenId !== null && <span>token ID {tokenId}</span>}
        </li>
      ))}
      {allowances.map(({ asset, tokenId, spender, amount }) => (
        <li key={`${asset.tokenAddress} ${tokenId} ${spender}`}>
          <span class={amount === '0' ? 'good' : 'waiting'}>
            {amount === '0' ? 'Allowance revoked' : 'Allowance to'}
          </span>
          <code>{spender}</code>
          {amount === null ? <strong>all of</strong> : amount !== '0' && <Amount amount={amount} asset={asset} />}
          {(amount === null || amount === '0') && <span>{assetName(asset)}</span>}
          {tokenId !== null && <span>token ID {tokenId}</span>}
        </li>
      ))}
      {balanceChanges.length + allowances.length === 0 && <li>No balance changes except for the fee.</li>}
    </ul>
  );
}
