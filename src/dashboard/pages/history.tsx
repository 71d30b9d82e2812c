import { useState } from 'preact/hooks';
import type { InferRequestType } from 'hono/client';
import { useSearchParams } from 'wouter-preact';
import type { Transaction } from '#dashboard/api.ts';
import { api } from '#dashboard/api.ts';
import { firstPages, pageOf } from '#dashboard/lists.ts';
import { useLive } from '#dashboard/live.ts';
import { ErrorText, reasonOf, LoadedContent, useLoaded } from '#dashboard/shell/loading.tsx';
import { useNumberInAddress } from '#dashboard/shell/navigation.ts';
import { State, STATE_NAMES, Subject, Time } from '#dashboard/pages/record-fields.tsx';

const PAGE = '25';

type Line = (typeof api.vault)[':vaultId']['transactions'];
type Query = InferRequestType<Line['$get']>['query'];
/** One value of each filter at most. */
type Filter = { readonly [name in (typeof FILTERS)[number]]?: string } & Pick<Query, 'visible'>;

interface Page {
  readonly transactions: readonly Transaction[];
  readonly nextCursor: string | null;
}

/** The filters, whose names are those of the address and of the API. */
const FILTERS = ['direction', 'state', 'displayType', 'visible', 'chain'] as const;

/** Ours: 2,500 records. A longer history is read with filters. */
const MAX_PAGES_SHOWN = 100;

/**
 * Shows the transactions of a vault, newest first and live, filtered by the reader's choice. The
 * filters and the number of pages stand in the address: Back and a reload keep them.
 */
export function History({ vaultId, chains }: { readonly vaultId: string; readonly chains: readonly string[] }) {
  const [params, setParams] = useSearchParams();
  const [pages, showPages] = useNumberInAddress('pages', MAX_PAGES_SHOWN);
  const filter = filterIn(params);
  const read = (query: object) => {
    const limited = { limit: PAGE, ...filter, ...query };
    return api.vault[':vaultId'].transactions.$get({ param: { vaultId }, query: limited });
  };
  const { loaded, reload, change } = useLoaded(`history ${vaultId} ${JSON.stringify(filter)}`, async () =>
    joined(await firstPages<Page>(read, pages)),
  );
  useLive(vaultId, { transaction: (record) => change((page) => withRecord(page, record, filter)), missed: reload });
  const choose = (name: string, value: string) =>
    setParams((before) => {
      before.delete('pages');
      if (value === '') before.delete(name);
      else before.set(name, value);
      return before;
    });
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
              const next = await pageOf<Page>(read, page.nextCursor);
              change((before) => withPage(before, next));
              showPages(pages + 1);
            }}
          />
        )}
      </LoadedContent>
    </section>
  );
}

/** Returns the filters of an address. The service refuses a value that it does not know. */
function filterIn(params: URLSearchParams): Filter {
  const set = FILTERS.flatMap((name) => {
    const value = params.get(name);
    return value === null || value === '' ? [] : [[name, value] as const];
  });
  return Object.fromEntries(set);
}

function joined(pages: readonly Page[]): Page {
  return pages.reduce((before, next) => withPage(before, next));
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
  readonly choose: (name: string, value: string) => void;
}) {
  const { filter, chains, choose } = props;
  const chainChoice = [
    'chain',
    'Chain',
    'All chains',
    Object.fromEntries(chains.map((chain) => [chain, chain])),
  ] as const;
  return (
    <div class="filters" role="group" aria-label="Filters">
      {[...CHOICES, chainChoice].map(([name, label, all, choices]) => (
        <select
          key={name}
          aria-label={label}
          value={filter[name] ?? ''}
          onChange={(event) => choose(name, event.currentTarget.value)}
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
