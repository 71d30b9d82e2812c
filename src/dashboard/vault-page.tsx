import type { Balance, Transaction } from '#dashboard/api.ts';
import { api, good } from '#dashboard/api.ts';
import { useLive } from '#dashboard/live.ts';
import { Shown, useLoaded } from '#dashboard/loading.tsx';
import { Amount, State, Subject, Time } from '#dashboard/parts.tsx';
import { usdText } from '#dashboard/words.ts';

const PAGE = '25';

interface Page {
  readonly transactions: readonly Transaction[];
  readonly nextCursor: string | null;
}

/** What a vault has, and what it has done: both as they are now, without anybody's looking again. */
export function VaultPage({ vaultId, name }: { readonly vaultId: string; readonly name: string }) {
  const param = { vaultId };
  const line = api.vault[':vaultId'];
  const balances = useLoaded(vaultId, async () => (await good(line.balances.$get({ param, query: {} }))).balances);
  const read = (cursor?: string) => {
    const query = cursor === undefined ? { limit: PAGE } : { limit: PAGE, cursor };
    return good(line.transactions.$get({ param, query })) as Promise<Page>;
  };
  const history = useLoaded(vaultId, () => read());
  useLive(vaultId, {
    transaction: (record) => history.change((page) => withRecord(page, record)),
    balance: (record) => balances.change((all) => withBalance(all, record)),
  });
  const more = async (page: Page) => {
    const next = await read(page.nextCursor ?? undefined);
    const known = new Set(page.transactions.map(({ id }) => id));
    const transactions = [...page.transactions, ...next.transactions.filter(({ id }) => !known.has(id))];
    history.change(() => ({ ...next, transactions }));
  };
  return (
    <main id="main">
      <p>
        <a href="#/">All vaults</a>
      </p>
      <h1>{name}</h1>
      <p class="doors">
        <a class="button" href={`#/vault/${vaultId}/transfer`}>
          New transfer
        </a>
        <a class="button" href={`#/vault/${vaultId}/receive`}>
          Receive
        </a>
        <a class="button" href={`#/vault/${vaultId}/policy`}>
          Policy
        </a>
      </p>
      <section aria-labelledby="balances">
        <h2 id="balances">Balances</h2>
        <Shown loaded={balances.loaded} what="balances" again={balances.reload}>
          {(all) => <Balances balances={all} />}
        </Shown>
      </section>
      <section aria-labelledby="history">
        <h2 id="history">History</h2>
        <Shown loaded={history.loaded} what="the history" again={history.reload}>
          {(page) => <History page={page} more={() => void more(page).catch(history.reload)} />}
        </Shown>
      </section>
    </main>
  );
}

function Balances({ balances }: { readonly balances: readonly Balance[] }) {
  if (balances.length === 0) return <p class="quiet">Nothing yet. Its addresses come with its keys.</p>;
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Chain</th>
          <th scope="col">Balance</th>
          <th scope="col">US dollars</th>
          <th scope="col">On its way</th>
        </tr>
      </thead>
      <tbody>
        {balances.map(({ chain, asset, tokenId, current, usdValue, incoming, outgoing, agreement }) => (
          <tr key={keyOf({ chain, asset, tokenId })}>
            <td>{chain}</td>
            <td>
              <Amount amount={current} asset={asset} />
              {agreement === 'differs' && <span class="state waiting">the chain says otherwise</span>}
            </td>
            <td>{usdText(usdValue) ?? '—'}</td>
            <td>
              {incoming !== '0' && (
                <>
                  in <Amount amount={incoming} asset={asset} />{' '}
                </>
              )}
              {outgoing !== '0' && (
                <>
                  out <Amount amount={outgoing} asset={asset} />
                </>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function History({ page, more }: { readonly page: Page; readonly more: () => void }) {
  const { transactions, nextCursor } = page;
  if (transactions.length === 0) return <p class="quiet">Nothing has happened here yet.</p>;
  return (
    <>
      <ul class="rows">
        {transactions.map((transaction) => (
          <li key={transaction.id}>
            <a href={`#/transaction/${transaction.id}`}>
              <Subject transaction={transaction} />
            </a>
            <State state={transaction.state} />
            <span class="quiet">
              {transaction.chain} <Time iso={transaction.createdAt} />
            </span>
            {transaction.actionsForMe.includes('approve') && <strong class="mine">waits for you</strong>}
          </li>
        ))}
      </ul>
      {nextCursor !== null && (
        <button type="button" onClick={more}>
          Earlier ones
        </button>
      )}
    </>
  );
}

/** Newest first, each once; what was hidden goes. */
function withRecord(page: Page, record: Transaction): Page {
  const others = page.transactions.filter(({ id }) => id !== record.id);
  if (!record.visible) return { ...page, transactions: others };
  const isKnown = others.length < page.transactions.length;
  const transactions = isKnown
    ? page.transactions.map((one) => (one.id === record.id ? record : one))
    : [record, ...others].toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
  return { ...page, transactions };
}

function withBalance(balances: readonly Balance[], record: Balance): Balance[] {
  const isKnown = balances.some((one) => keyOf(one) === keyOf(record));
  return isKnown ? balances.map((one) => (keyOf(one) === keyOf(record) ? record : one)) : [...balances, record];
}

function keyOf({ chain, asset, tokenId }: Pick<Balance, 'chain' | 'asset' | 'tokenId'>): string {
  return [chain, asset.tokenAddress ?? '', tokenId ?? ''].join(' ');
}
