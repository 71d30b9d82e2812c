import { expect, test } from 'vitest';
import { transactionCodec } from '#objects/vault/documents/transaction-document.ts';
import { VAULT_SCHEMA } from '#objects/vault/schema.ts';
import type { ValuedInclusion } from '#domain/transaction/transaction.ts';
import { createState, upgradeState } from '#store/object-schema.ts';
import { inclusion, preparedAttempt, signedAttempt, transactionIn } from '../../domain/cast.ts';
import { Database, objectSql } from '../memory-sql.ts';

/** Covers what the migrations of a vault change in the records of earlier releases. */

const ID = 'a'.repeat(26);
const NOT_MOVED = 'The token was not transferred.';

/** Returns a failed payment as release 0.2.0 stored it, after the upgrade, with its jobs. */
function upgraded(differences: Partial<ValuedInclusion>, note = '') {
  const db = new Database();
  const sql = objectSql(db);
  const storage = { sql, transactionSync: <T>(work: () => T): T => db.atomic(work) };
  createState(sql, { ...VAULT_SCHEMA, migrations: VAULT_SCHEMA.migrations.slice(0, 2) });
  const before = transactionIn('FAILED', {
    inclusion: inclusion({ succeeded: false, finalized: true, ...differences }),
  });
  const document = transactionCodec.encode({ ...before, intent: { ...before.intent, note } });
  sql.exec('INSERT INTO tx (id, version, pending, document) VALUES (?, 5, 0, ?)', ID, document);
  upgradeState(storage, VAULT_SCHEMA);
  const stored = sql.exec<{ document: string }>('SELECT document FROM tx').one().document;
  const jobs = sql.exec('SELECT tx_id, job, version, due_at_ms, tries FROM outbox').toArray();
  return { before, after: transactionCodec.decode(stored), document, stored, jobs };
}

test('a token payment that release 0.2.0 ended as reverted is polled once more, and nothing else of it changes', () => {
  const { before, after, jobs } = upgraded({ failure: NOT_MOVED });
  expect(after.inclusion).toEqual({ ...before.inclusion, finalized: false });
  expect({ ...after, inclusion: null }).toEqual({ ...before, inclusion: null, intent: after.intent });
  expect(jobs).toEqual([{ tx_id: ID, job: 'confirm', version: 5, due_at_ms: 0, tries: 0 }]);
});

test('a vault of an earlier release enters itself in the directory again, with its pending changes', () => {
  const db = new Database();
  const sql = objectSql(db);
  createState(sql, { ...VAULT_SCHEMA, migrations: VAULT_SCHEMA.migrations.slice(0, 8) });
  sql.exec("INSERT INTO vault (only_row, document) VALUES (0, '{}')");
  sql.exec("INSERT INTO history (seq, document, hash) VALUES (4, '{}', 'hash')");
  upgradeState({ sql, transactionSync: <T>(work: () => T): T => db.atomic(work) }, VAULT_SCHEMA);
  const jobs = sql.exec('SELECT tx_id, job, version, due_at_ms, tries FROM outbox').toArray();
  expect(jobs).toEqual([{ tx_id: '', job: 'project', version: 4, due_at_ms: 0, tries: 0 }]);
});

test('the spending of an approved payment counts until it is signed, as it does since', () => {
  const db = new Database();
  const sql = objectSql(db);
  createState(sql, { ...VAULT_SCHEMA, migrations: VAULT_SCHEMA.migrations.slice(0, 11) });
  const states = { unsigned: [], prepared: [preparedAttempt()], signed: [signedAttempt()] };
  for (const [id, attempts] of Object.entries(states)) {
    const document = transactionCodec.encode(transactionIn('SIGNING', { attempts }));
    sql.exec('INSERT INTO tx (id, version, pending, document) VALUES (?, 5, 0, ?)', id, document);
    sql.exec("INSERT INTO spent (tx_id, chain, token, amount, at_ms) VALUES (?, 'anvil', '', '1', 7)", id);
  }
  upgradeState({ sql, transactionSync: <T>(work: () => T): T => db.atomic(work) }, VAULT_SCHEMA);
  const rows = sql.exec<{ tx_id: string; at_ms: number }>('SELECT tx_id, at_ms FROM spent').toArray();
  expect(Object.fromEntries(rows.map((row) => [row.tx_id, row.at_ms]))).toEqual({
    unsigned: Number.MAX_SAFE_INTEGER,
    prepared: Number.MAX_SAFE_INTEGER,
    signed: 7,
  });
});

test('a payment that reverted is not touched, whatever its note says', () => {
  for (const note of ['', `"failure":"${NOT_MOVED}"`]) {
    const { document, stored, jobs } = upgraded({ failure: 'this address is blocked' }, note);
    expect(stored).toBe(document);
    expect(jobs).toEqual([]);
  }
});
