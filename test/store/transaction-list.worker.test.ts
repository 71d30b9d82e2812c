import { env } from 'cloudflare:workers';
import { beforeAll, expect, test } from 'vitest';
import { firstTransactionId, parseVaultId } from '#domain/id.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import type { TransactionQuery } from '#store/transactions.ts';
import { list } from '#store/transactions.ts';

/**
 * The cost of a list, in rows that D1 reads. A stranger can add any number of hidden records to a
 * vault, and D1 processes the queries of all vaults one by one.
 */

const { DB } = env as unknown as CoordinatorEnv;

const [FLOODED, QUIET] = [vaultId(1), vaultId(2)];
const HIDDEN = 12_000;
const VISIBLE = 50;

const everything: Omit<TransactionQuery, 'vaultId'> = {
  order: 'newest',
  after: null,
  limit: 50,
  filters: {},
  visible: true,
  createdAfterMs: null,
  createdBeforeMs: null,
  updatedAfterMs: null,
};

type Row = Readonly<Record<(typeof COLUMN)[keyof typeof COLUMN], string | null>> & {
  readonly id: string;
  readonly visible: number;
  readonly created_at_ms: number;
  readonly updated_at_ms: number;
};

beforeAll(async () => {
  await insert(FLOODED, VISIBLE, true, 0);
  await insert(FLOODED, HIDDEN, false, VISIBLE);
  await insert(QUIET, VISIBLE, true, 0);
});

/** Inserts rows of one vault. Their ids and times begin at a number of milliseconds. */
async function insert(vault: number, count: number, isVisible: boolean, fromMs: number): Promise<void> {
  const first = firstTransactionId(vaultId(vault), 0).slice(0, -26);
  // The first ten characters of a ULID are its time. These times need three of them.
  const digits = "'0123456789ABCDEFGHJKMNPQRSTVWXYZ'";
  const digit = (shift: number) => `substr(${digits}, ((t >> ${shift}) & 31) + 1, 1)`;
  const id = `'${first}0000000' || ${digit(10)} || ${digit(5)} || ${digit(0)} || '0000000000000000'`;
  await DB.prepare(
    `WITH RECURSIVE times(t) AS (SELECT ?1 UNION ALL SELECT t + 1 FROM times WHERE t + 1 < ?1 + ?2)
     INSERT INTO transactions (id, vault_id, version, state, display_type, chain, direction, visible, created_at_ms,
       updated_at_ms, watched, record, memo, external_id, tx_hash, kind, created_by, tokens, counterparties)
     SELECT ${id}, ?3, 1, CASE t % 3 WHEN 0 THEN 'FAILED' ELSE 'SUCCEEDED' END, CASE t % 5 WHEN 0 THEN 'SENT' ELSE 'RECEIVED' END,
       CASE t % 7 WHEN 0 THEN 'base' ELSE 'ethereum' END, CASE WHEN t % 2 = 0 OR t > 11000 THEN 'out' ELSE 'in' END, ?4, t, t * 7 % 12050, 0, '{}',
       CASE t % 11 WHEN 0 THEN 'm' END, CASE t % 13 WHEN 0 THEN printf('e%d', t) END, CASE t % 2 WHEN 0 THEN printf('h%d', t) END,
       CASE t % 4 WHEN 0 THEN 'transfer' ELSE 'activity' END, CASE t % 4 WHEN 0 THEN 'alice' END,
       CASE t % 3 WHEN 0 THEN ' 0xa 0xb ' ELSE ' ' END, CASE t % 5 WHEN 0 THEN ' 0xbb ' ELSE ' 0xb 0xc ' END
     FROM times`,
  )
    .bind(fromMs, count, vault, isVisible ? 1 : 0)
    .run();
}

test.each([
  ['the default list', {}],
  ['the oldest ones', { order: 'oldest' }],
  ['a state', { filters: { state: ['FAILED'] } }],
  ['two states', { filters: { state: ['FAILED', 'SUCCEEDED'] } }],
  ['a display type', { filters: { displayType: ['SENT'] } }],
  ['a chain', { filters: { chain: ['base'] } }],
  ['a direction', { filters: { direction: ['in'] } }],
  ['a memo', { filters: { memo: ['m'] } }],
  ['an external id', { filters: { externalId: ['e26'] } }],
  ['a hash', { filters: { txHash: ['h2', 'h4'] } }],
  ['a time of creation', { createdAfterMs: 10, createdBeforeMs: 40 }],
] as const)('%s reads as few rows in a vault with 12,000 hidden records as in one without', async (_, filter) => {
  const rows = async (vault: number) => rowsReadBy({ ...everything, ...filter, vaultId: vaultId(vault) });
  const quiet = await rows(QUIET);
  expect(quiet).toBeGreaterThan(0);
  expect(await rows(FLOODED)).toBeLessThanOrEqual(2 * quiet);
});

test.each([
  ['all records', { visible: null }],
  ['hidden records of a state', { visible: false, filters: { state: ['FAILED'] } }],
  ['all records of a chain', { visible: null, filters: { chain: ['base'] } }],
] as const)('a page of %s reads a few rows', async (_, filter) => {
  expect(await rowsReadBy({ ...everything, ...filter, vaultId: FLOODED })).toBeLessThan(6 * everything.limit);
});

test('a page of several filters that match few rows reads some thousand rows at most', async () => {
  const filters = { state: ['FAILED'], displayType: ['SENT'], chain: ['base'], direction: ['in'] };
  const rare = { visible: false, filters };
  expect(await rowsReadBy({ ...everything, ...rare, vaultId: FLOODED, createdBeforeMs: 5_500 })).toBeLessThan(13_000);
});

/** The column of each filter. Two of them have several values between spaces. */
const COLUMN = {
  externalId: 'external_id',
  txHash: 'tx_hash',
  memo: 'memo',
  state: 'state',
  displayType: 'display_type',
  chain: 'chain',
  direction: 'direction',
  kind: 'kind',
  createdBy: 'created_by',
  tokenAddress: 'tokens',
  counterparty: 'counterparties',
} as const;

const FILTERS: readonly TransactionQuery['filters'][] = [
  ...[{}, { state: ['FAILED'] }, { memo: ['m'] }].flatMap((one) =>
    [{}, { chain: ['base'] }].flatMap((two) =>
      [{}, { direction: ['in'] }].map((three) => ({ ...one, ...two, ...three })),
    ),
  ),
  { state: ['FAILED', 'SUCCEEDED'], displayType: ['SENT'] },
  { externalId: ['e13', 'e26', 'none'] },
  { txHash: ['h2', 'h6'], state: ['FAILED'] },
  { kind: ['transfer'], createdBy: ['alice', 'bob'] },
  { tokenAddress: ['0xb'] },
  { counterparty: ['0xb', '0xz'], chain: ['base', 'ethereum'] },
  { chain: ['base'], direction: ['in', 'out'] },
  // One page does not read all rows of either value, and one ends before the other.
  { direction: ['in', 'out'], createdBy: ['alice'] },
];

test('the pages of any query have each matching row once, in both orders', async () => {
  const { results } = await DB.prepare('SELECT * FROM transactions WHERE vault_id = ? ORDER BY id DESC')
    .bind(FLOODED)
    .all<Row>();
  const either = <T>(...values: readonly T[]): readonly (T | null)[] => [null, ...values];
  let [queries, found] = [0, 0];
  for (const filters of FILTERS)
    for (const order of ['newest', 'oldest'] as const)
      for (const visible of either(true, false))
        for (const updatedAfterMs of either(100, 11_900))
          for (const [createdAfterMs, createdBeforeMs] of [
            [null, null],
            [30, 9_000],
          ] as const) {
            const query = { order, filters, visible, updatedAfterMs, createdAfterMs, createdBeforeMs };
            const matches = results.filter(
              (row) =>
                Object.entries(COLUMN).every(([name, column]) => {
                  const values = filters[name as keyof typeof COLUMN];
                  return (
                    values === undefined || values.some((value) => row[column]?.split(' ').includes(value) === true)
                  );
                }) &&
                (visible === null || row.visible === (visible ? 1 : 0)) &&
                (updatedAfterMs === null || row.updated_at_ms > updatedAfterMs) &&
                (createdAfterMs === null || row.created_at_ms > createdAfterMs) &&
                (createdBeforeMs === null || row.created_at_ms < createdBeforeMs),
            );
            const ids = matches.map(({ id }) => id);
            expect(
              await allIds({ ...everything, ...query, vaultId: FLOODED, limit: 3_000 }),
              JSON.stringify(query),
            ).toEqual(order === 'newest' ? ids : ids.toReversed());
            found += ids.length;
            queries += 1;
          }
  expect(queries).toBe(20 * 36);
  expect(found).toBeGreaterThan(50_000);
});

/** Returns the ids of all pages. */
async function allIds(query: TransactionQuery): Promise<readonly string[]> {
  const ids: string[] = [];
  let after: string | null = null;
  do {
    const page = await list(DB, { ...query, after });
    expect(page.records.length).toBeLessThanOrEqual(query.limit);
    ids.push(...page.records.map(({ id }) => id));
    expect(page.next === null || after === null || page.next < after === (query.order === 'newest')).toBe(true);
    after = page.next;
  } while (after !== null);
  return ids;
}

/** Returns the number of rows that D1 reads for one page. */
async function rowsReadBy(query: TransactionQuery): Promise<number> {
  let read = 0;
  const count = <T>(result: D1Result<T>): D1Result<T> => {
    read += result.meta.rows_read;
    return result;
  };
  const counting = new Proxy(DB, {
    get(target, name) {
      if (name !== 'batch') return Reflect.get(target, name).bind(target);
      return async (statements: D1PreparedStatement[]) => (await target.batch(statements)).map(count);
    },
  });
  await list(counting, query);
  return read;
}

function vaultId(value: number) {
  const id = parseVaultId(value);
  if (id === null) throw new Error('not a vault id');
  return id;
}
