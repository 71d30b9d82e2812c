import { expect, test } from 'vitest';
import { transactionCodec } from '#objects/vault/documents/transaction-document.ts';
import { VAULT_SCHEMA } from '#objects/vault/schema.ts';
import { RecipientTable } from '#objects/vault/tables/recipient-table.ts';
import type { Transaction, TransactionState } from '#domain/transaction/transaction.ts';
import { createState, upgradeState } from '#store/object-schema.ts';
import { amount, CREATED_AT_MS, messageIntent, transactionIn, transferIntent } from '../../../domain/cast.ts';
import { Database, objectSql } from '../../memory-sql.ts';

/** Covers the number of earlier transactions to a recipient. */

const { to } = transferIntent();
const OTHER = '0x00000000000000000000000000000000000000ff';
const DAY_MS = 86_400_000;

/** Returns the table of a vault with these transactions, oldest first. */
function recipientsWith(records: readonly Transaction[], sql = objectSql(new Database())) {
  createState(sql, VAULT_SCHEMA);
  for (const [i, record] of records.entries()) {
    const document = transactionCodec.encode(record);
    sql.exec('INSERT INTO tx (id, version, pending, document) VALUES (?, 5, 0, ?)', String(i), document);
  }
  return new RecipientTable(sql);
}

const signedAt = (atMs: number, state: TransactionState = 'SUCCEEDED', differences: Partial<Transaction> = {}) => {
  const record = transactionIn(state, { ...differences, updatedAtMs: CREATED_AT_MS + 900 * DAY_MS });
  const attempts = record.attempts.map((one) =>
    one.signed === null ? one : { ...one, signed: { ...one.signed, atMs } },
  );
  return { ...record, attempts };
};
const pending = transactionIn('SUBMITTED');
const NONE = { count: 0, lastAtMs: null };

test('the first payment has none before it, itself included, and the thirteenth has twelve', () => {
  expect(recipientsWith([pending]).earlier(pending)).toEqual(NONE);
  const twelve = Array.from({ length: 12 }, (_, i) => signedAt(CREATED_AT_MS + i * DAY_MS));
  const last = CREATED_AT_MS + 11 * DAY_MS;
  expect(recipientsWith([...twelve.toReversed(), pending]).earlier(pending)).toEqual({ count: 12, lastAtMs: last });
});

test.each<[string, Transaction]>([
  ...(['SUBMITTED', 'SIGNING', 'BROADCAST', 'CONFIRMING', 'FAILED', 'REJECTED', 'CANCELLED', 'EXPIRED'] as const).map(
    (state): [string, Transaction] => [`one in the state ${state}`, transactionIn(state)],
  ),
  ['one on another chain', transactionIn('SUCCEEDED', { chain: 'sepolia' })],
  ['one to another address', transactionIn('SUCCEEDED', { intent: { ...transferIntent(), to: OTHER } })],
  ['a message', transactionIn('SUCCEEDED', { intent: messageIntent() })],
])('%s does not count', (_name, record) => {
  expect(recipientsWith([record]).earlier(pending)).toEqual(NONE);
});

test('an allowance is counted by its spender and is no payment, and a message has no recipient', () => {
  const { to: _to, tokenAddress: _token, kind: _kind, amount: _amount, ...frame } = transferIntent();
  const allowance = { ...frame, kind: 'erc20-approve', tokenAddress: OTHER, spender: to, amount: amount('7') } as const;
  const table = recipientsWith([signedAt(CREATED_AT_MS, 'SUCCEEDED', { intent: allowance })]);
  expect(table.earlier(pending)).toEqual(NONE);
  expect(table.earlier({ chain: 'anvil', intent: allowance })).toEqual({ count: 1, lastAtMs: CREATED_AT_MS });
  expect(table.earlier({ chain: 'anvil', intent: { ...allowance, spender: OTHER } })).toEqual(NONE);
  expect(table.earlier({ chain: 'anvil', intent: messageIntent() })).toBeNull();
});

test('records of an earlier release count, and the query reads the index alone', () => {
  const db = new Database();
  const sql = objectSql(db);
  createState(sql, { ...VAULT_SCHEMA, migrations: VAULT_SCHEMA.migrations.slice(0, 9) });
  const document = transactionCodec.encode(signedAt(CREATED_AT_MS));
  sql.exec("INSERT INTO tx (id, version, pending, document) VALUES ('a', 5, 0, ?)", document);
  upgradeState({ sql, transactionSync: <T>(work: () => T): T => db.atomic(work) }, VAULT_SCHEMA);
  const queries: string[] = [];
  const watched = { exec: (query: string, ...rest: never[]) => (queries.push(query), sql.exec(query, ...rest)) };
  expect(new RecipientTable(watched as unknown as SqlStorage).earlier(pending)?.count).toBe(1);
  const plan = sql.exec<{ detail: string }>(`EXPLAIN QUERY PLAN ${queries[0]}`, 'anvil', 'transfer', to).toArray();
  expect(plan.map(({ detail }) => detail).join()).toMatch(/SEARCH tx USING (COVERING )?INDEX tx_recipient/);
});
