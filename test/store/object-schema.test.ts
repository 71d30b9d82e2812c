import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { ObjectSchema } from '#store/object-schema.ts';
import { createState, stateVersion, UnreadableState, upgradeState } from '#store/object-schema.ts';
import { Database, objectSql } from '../objects/memory-sql.ts';

/** Covers the upgrade of stored state, with a class of objects that counts. */

const FIRST = (sql: SqlStorage) => void sql.exec('CREATE TABLE count (n INTEGER NOT NULL)');
const doubled = (sql: SqlStorage) => void sql.exec('UPDATE count SET n = 2 * n');
const withUnit = (sql: SqlStorage) => void sql.exec("ALTER TABLE count ADD COLUMN unit TEXT NOT NULL DEFAULT 'one'");
const schema = (...migrations: ObjectSchema['migrations']): ObjectSchema => ({ name: 'counter', migrations });

/** The storage of one object. */
function newStorage() {
  const db = new Database();
  const sql = objectSql(db);
  return { sql, transactionSync: <T>(work: () => T): T => db.atomic(work) };
}

/** Returns an object of the first release that has counted to three. */
function counted() {
  const storage = newStorage();
  createState(storage.sql, schema(FIRST));
  storage.sql.exec('INSERT INTO count (n) VALUES (3)');
  return storage;
}

const rows = ({ sql }: ReturnType<typeof newStorage>) => sql.exec('SELECT * FROM count').toArray();

test('reading an object that was never written leaves nothing behind', () => {
  const { sql, ...storage } = newStorage();
  upgradeState({ sql, ...storage }, schema(FIRST, doubled));
  expect(stateVersion(sql)).toBe(0);
  expect(sql.exec('SELECT name FROM sqlite_master').toArray()).toEqual([]);
});

test('the first write of a new object makes the state of the newest version, and the next ones change nothing', () => {
  const storage = newStorage();
  createState(storage.sql, schema(FIRST, withUnit));
  storage.sql.exec("INSERT INTO count (n, unit) VALUES (3, 'two')");
  createState(storage.sql, schema(FIRST, withUnit));
  upgradeState(storage, schema(FIRST, withUnit));
  expect([stateVersion(storage.sql), rows(storage)]).toEqual([2, [{ n: 3, unit: 'two' }]]);
});

test('existing state gets each missing migration once and in order, however often it is opened', () => {
  const storage = counted();
  for (let i = 0; i < 3; i++) upgradeState(storage, schema(FIRST, doubled, withUnit));
  expect([stateVersion(storage.sql), rows(storage)]).toEqual([3, [{ n: 6, unit: 'one' }]]);
  upgradeState(storage, schema(FIRST, doubled, withUnit, doubled));
  expect([stateVersion(storage.sql), rows(storage)]).toEqual([4, [{ n: 12, unit: 'one' }]]);
});

test('a migration that fails in the middle leaves the state of before, which a later release upgrades', () => {
  const storage = counted();
  const broken = (sql: SqlStorage) => {
    doubled(sql);
    throw new Error('a bug');
  };
  for (let i = 0; i < 2; i++) expect(() => upgradeState(storage, schema(FIRST, doubled, broken))).toThrow('a bug');
  expect([stateVersion(storage.sql), rows(storage)]).toEqual([1, [{ n: 3 }]]);
  upgradeState(storage, schema(FIRST, doubled, withUnit));
  expect([stateVersion(storage.sql), rows(storage)]).toEqual([3, [{ n: 6, unit: 'one' }]]);
});

test('the state of a newer release is refused in plain words, without a write', () => {
  const storage = counted();
  upgradeState(storage, schema(FIRST, withUnit, doubled));
  const before = rows(storage);
  const text =
    'a newer release wrote this counter (version 3; this release knows version 2). Deploy that release again';
  expect(() => upgradeState(storage, schema(FIRST, withUnit))).toThrow(new UnreadableState(text));
  expect([stateVersion(storage.sql), rows(storage)]).toEqual([3, before]);
});

test('state without a version is refused, and tables of the platform are no state', () => {
  const storage = newStorage();
  storage.sql.exec('CREATE TABLE _cf_KV (k INTEGER)');
  upgradeState(storage, schema(FIRST));
  storage.sql.exec('CREATE TABLE count (n INTEGER)');
  expect(() => upgradeState(storage, schema(FIRST))).toThrow('this counter is older than release 0.2.0');
});

test('every object class upgrades its state before anything else', () => {
  const classes = globSync('src/**/*.ts').filter((path) =>
    readFileSync(path, 'utf8').includes('extends DurableObject<'),
  );
  expect(classes.length).toBe(6);
  const upgradesFirst = /super\(ctx, env\);\s+upgradeState\(ctx\.storage, [A-Z_]+\);/;
  expect(classes.filter((path) => !upgradesFirst.test(readFileSync(path, 'utf8')))).toEqual([]);
});
