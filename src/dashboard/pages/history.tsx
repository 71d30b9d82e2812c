import { useState } from 'preact/hooks';
import type { InferRequestType } from 'hono/client';
import type { Transaction } from '#dashboard/api.ts';
import { api } from '#dashboard/api.ts';
import { pageOf } from '#dashboard/lists.ts';
import { useLive } from '#dashboard/live.ts';
import { ErrorText, reasonOf, LoadedContent, useLoaded } from '#dashboard/loading.tsx';
import { State, STATE_NAMES, Subject, Time } from '#dashboard/pages/record-fields.tsx';

const PAGE = '25';

type Line = (typeof api.vault)[':vaultId']['transactions'];
type Query = InferRequestType<Line['$get']>['query'];
type Filter = Pick<Query, 'state' | 'direction' | 'displayType' | 'chain' | 'visible'>;

interface Page {
  readonly transactions: readonly Transaction[];
  readonly nextCursor: string | null;
}

/** Shows the transactions of a vault, newest first and live, filtered by the reader's choice. */
export function History({ vaultId, chains }: { readonly vaultId: string; readonly chains: readonly string[] }) {
  const [filter, choose] = useState<Filter>({});
  const read = (cursor: string | null): Promise<Page> =>
    pageOf<Page>((query) => {
      const limited = { limit: PAGE, ...filter, ...query };
      return api.vault[':vaultId'].transactions.$get({ param: { vaultId }, query: limited });
    }, cursor);
  const { loaded, reload, change } = useLoaded(`${vaultId} ${JSON.stringify(filter)}`, () => read(null));
  useLive(vaultId, { transaction: (record) => change((page) => withRecord(page, record, filter)), missed: reload });
  return (
    <section aria-labelledby="history">
      <h2 id="history">History</h2>
      <Filters filter={filter} chains={chains} choose={choose} />
      <LoadedContent loaded={loaded} what="the history" again={reload}>
        {(page) => (
          <Rows
            page={page}
            isFiltered={Object.keys(filter).length > 0}
            more={async () => {
              const next = await read(page.nextCursor);
              change((before) => withPage(before, next));
            }}
          />
        )}
      </LoadedContent>
    </section>
  );
}

/** The first value of each filter selects all transactions. */
const CHOICES = [
  ['direction', 'Direction', 'All directions', { out: 'Outgoing', in: 'Incoming' }],
  ['state', 'Status', 'All statuses', STATE_NAMES],
  [
    'displayType',
    'Type',
    'All types',
    {
      SENT: 'Sent',
      RECEIVED: 'Received',
      TRADED: 'Trades',
      MINTED: 'Mints',
      CONTRACT_INTERACTION: 'Contract calls',
      MESSAGE: 'Messages',
    },
  ],
  ['visible', 'Visibility', 'Visible', { all: 'Visible and hidden', false: 'Hidden' }],
] as const;

function Filters(props: {
  readonly filter: Filter;
  readonly chains: readonly string[];
  readonly choose: (filter: Filter) => void;
}) {
  const { filter, chains, choose } = props;
  const chainChoice = [
    'chain',
    'Chain',
    'All chains',
    Object.fromEntries(chains.map((chain) => [chain, chain])),
  ] as const;
  const set = (name: keyof Filter, value: string) => {
    const { [name]: _before, ...others } = filter;
    choose(value === '' ? others : { ...others, [name]: value });
  };
  return (
    <div class="filters" role="group" aria-label="Filters">
      {[...CHOICES, chainChoice].map(([name, label, all, choices]) => (
        <select
          key={name}
          aria-label={label}
          value={filter[name] ?? ''}
          onChange={(event) => set(name, event.currentTarget.value)}
        >
          <option value="">{all}</option>
          {Object.entries(choices).map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      ))}
    </div>
  );
}

function Rows(props: { readonly page: Page; readonly isFiltered: boolean; readonly more: () => Promise<void> }) {
  const { page, isFiltered, more } = props;
  const { transactions, nextCursor } = page;
  const [fault, setError] = useState<string | null>(null);
  const isEmpty = transactions.length === 0;
  if (isEmpty && nextCursor === null)
    return <p class="quiet">{isFiltered ? 'No matching transactions.' : 'No transactions yet.'}</p>;
  return (
    <>
      {isEmpty && <p class="quiet">No matching transactions among the newest ones.</p>}
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
            {transaction.actionsForMe.includes('approve') && <strong class="mine">Needs your approval</strong>}
          </li>
        ))}
      </ul>
      <ErrorText why={fault} />
      {nextCursor !== null && (
        <button
          type="button"
          onClick={() => {
            setError(null);
            more().catch((error: unknown) => setError(reasonOf(error)));
          }}
        >
          Load more
        </button>
      )}
    </>
  );
}

/**
 * Inserts a changed record, newest first and without duplicates. A record that the filter excludes
 * is removed.
 */
function withRecord(page: Page, record: Transaction, filter: Filter): Page {
  const others = page.transactions.filter(({ id }) => id !== record.id);
  if (!isRequested(record, filter)) return { ...page, transactions: others };
  const isKnown = others.length < page.transactions.length;
  const transactions = isKnown
    ? page.transactions.map((one) => (one.id === record.id ? record : one))
    : [record, ...others].toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
  return { ...page, transactions };
}

function isRequested(record: Transaction, { visible = 'true', ...rest }: Filter): boolean {
  if (visible !== 'all' && String(record.visible) !== visible) return false;
  return (['state', 'direction', 'displayType', 'chain'] as const).every(
    (name) => rest[name] === undefined || rest[name] === record[name],
  );
}

/** Appends a page. A record that has arrived live appears once. */
function withPage(before: Page, next: Page): Page {
  const known = new Set(before.transactions.map(({ id }) => id));
  return { ...next, transactions: [...before.transactions, ...next.transactions.filter(({ id }) => !known.has(id))] };
}
