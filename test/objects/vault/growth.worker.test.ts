import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { ChainTransaction } from '#domain/activity/activity.ts';
import { NATIVE } from '#domain/asset/movement.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { TransactionId } from '#domain/id.ts';
import type { VaultDoors } from '#objects/vault/doors/doors.ts';
import type { VaultStub } from '#objects/vault/doors/stub.ts';
import { alice, bob, carol, UNPRICED } from '../../domain/cast.ts';
import {
  approve,
  changePolicy,
  coordinator,
  create,
  created,
  RECIPIENT,
  reject,
  transfer,
  vaultWithWallet,
  WALLET,
} from './object-scene.worker.ts';

/**
 * The cost of each operation of a vault, in rows that its database reads: exact, whatever the
 * machine does. A vault with a hundred times as much of everything costs at most 1.5 times as much.
 */

const [FEW, MANY] = [20, 2_000];
const DAY_MS = 24 * 60 * 60 * 1000;
/** Less than `FEW`, so that a page is full in both vaults. */
const PAGE = 10;

interface Scene {
  readonly vault: VaultStub;
  /** The newest transaction, which is pending. */
  readonly id: TransactionId;
}

/** The object of a vault, from within. */
interface Inside extends VaultDoors {
  readonly alarm: () => Promise<void>;
}

type Operation = (scene: Scene, object: Inside) => Promise<unknown>;

/** The small vault and the large one. */
const scenes: Scene[] = [];

// The clock of the platform is a day behind, so it runs no alarm between two reads.
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + DAY_MS });
  for (const count of [FEW, MANY]) scenes.push(await grown(count));
});

afterAll(() => {
  vi.useRealTimers();
});

/** Creates a vault with this many rows of each kind, as its own commands write them. */
async function grown(count: number): Promise<Scene> {
  const { vault } = await vaultWithWallet({ mostPending: 10 * MANY });
  await changePolicy(vault, { threshold: 3 });
  const [pending, rejected] = [await created(vault), await created(vault)];
  await reject(vault, bob, rejected.id);
  await runDurableObjectAlarm(vault);
  await runInDurableObject(vault, (_object, { storage: { sql } }) => {
    const copies = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})`;
    const later = Date.now() + DAY_MS;
    for (const { id } of [pending, rejected]) {
      const copy = copyOf(id, id === pending.id ? 'P' : 'R');
      sql.exec(
        `${copies} INSERT INTO tx SELECT ${copy}, version, pending, replace(document, id, ${copy})
           FROM tx, n WHERE id = ?`,
        id,
      );
    }
    const other = copyOf(rejected.id, 'R');
    for (const statement of [
      `INSERT INTO outbox SELECT ${copyOf(pending.id, 'P')}, 'expire', 1, ${later}, 0 FROM n`,
      `INSERT INTO vote SELECT ${other}, '${alice.userId}' FROM n`,
      `INSERT INTO signed SELECT ${other}, 1, '0x' || printf('%064d', n.i) FROM n`,
      `INSERT INTO external SELECT 'external-' || n.i, ${other} FROM n`,
      `INSERT INTO counterparty SELECT printf('%08d', n.i), printf('0x%040d', n.i) FROM n`,
      `INSERT INTO idempotency SELECT '${alice.userId}', 'key-' || n.i, '', '{}', ${Date.now()} FROM n`,
      `INSERT INTO history SELECT (SELECT max(seq) FROM history) + n.i, document, hash || n.i FROM history, n WHERE seq = 1`,
      `INSERT INTO policy SELECT version + n.i, document, hash || n.i FROM policy, n WHERE version = 2`,
      `INSERT INTO policy_change SELECT substr(id, 1, 4) || '00' || printf('%024d', n.i), 0, hash || n.i, document FROM policy_change, n WHERE id = (SELECT max(id) FROM policy_change)`,
      // A stranger has sent this many tokens, and the records are hidden.
      `INSERT INTO balance SELECT chain, printf('0x%040d', n.i), '', '1', NULL, document FROM balance, n WHERE token_address = ''`,
      `INSERT INTO ledger SELECT ${other}, chain, 'native', '', '', '1', n.i, 1 FROM balance, n WHERE token_address = ''`,
      `INSERT INTO ledger SELECT ${other}, chain, 'erc20', printf('0x%040d', n.i), '', '1', n.i, 1 FROM balance, n WHERE token_address = ''`,
      // The payments of a day, of assets that no rule limits.
      `INSERT INTO spent SELECT ${other}, 'eip155:31337', '', '1000', ${Date.now()} FROM n`,
    ])
      sql.exec(`${copies} ${statement}`);
    sql.exec('UPDATE projected SET seq = (SELECT max(seq) FROM history)');
  });
  // The caches are older than the rows.
  await evictDurableObject(vault);
  // Reads what an instance reads once.
  const { id } = await created(vault);
  await vault.execute(alice, { type: 'flushRecord', id });
  return { vault, id };
}

/** Returns the expression of the id of a copy: it is older than the transaction itself. */
function copyOf(id: string, mark: string): string {
  return `'${id.slice(0, id.indexOf('.') + 1)}0' || '${mark}' || printf('%024d', n.i)`;
}

/** Returns how many rows the database of a vault reads while something runs in its object. */
async function rowsReadBy(vault: VaultStub, run: (object: Inside) => Promise<unknown>): Promise<number> {
  return runInDurableObject(vault, async (object, { storage: { sql } }) => {
    const cursors: SqlStorageCursor<Record<string, SqlStorageValue>>[] = [];
    const exec: (query: string, ...bindings: SqlStorageValue[]) => (typeof cursors)[number] = sql.exec.bind(sql);
    const counted: typeof exec = (query, ...bindings) => {
      const cursor = exec(query, ...bindings);
      cursors.push(cursor);
      return cursor;
    };
    Object.assign(sql, { exec: counted });
    try {
      // A refusal would read few rows in any vault.
      expect(await run(object as unknown as Inside)).not.toMatchObject({ ok: false });
    } finally {
      Reflect.deleteProperty(sql, 'exec');
    }
    expect(cursors.length).toBeGreaterThan(0);
    return cursors.reduce((sum, { rowsRead }) => sum + rowsRead, 0);
  });
}

/** Returns what `rowsReadBy` returns for the small vault and for the large one. */
async function readInBoth(run: Operation): Promise<{ readonly few: number; readonly many: number }> {
  const read: number[] = [];
  for (const scene of scenes) read.push(await rowsReadBy(scene.vault, (object) => run(scene, object)));
  const [few = Number.NaN, many = Number.NaN] = read;
  return { few, many };
}

const RECEIVED: ChainTransaction = {
  hash: `0x${'bb'.repeat(32)}`,
  signer: RECIPIENT,
  fee: amountOf(1n),
  block: { number: '7', hash: '0x7', confirmations: 1, isFinal: false },
  movements: [{ ...NATIVE, uid: 'top', from: RECIPIENT, to: WALLET, amount: amountOf(5_000_000_000n) }],
};

const OPERATIONS: Readonly<Record<string, Operation>> = {
  'a creation': (_, object) => create(object, alice, transfer()),
  'a creation with an Idempotency-Key': (_, object) =>
    create(object, alice, transfer({ externalId: 'new', idempotency: { key: 'new', fingerprint: '' } })),
  'a challenge': ({ id }, object) => object.query(alice, { type: 'challenge', id }),
  'the first approval': ({ id }, object) => approve(object, alice, id),
  'the last approval': async ({ id }, object) => {
    await approve(object, bob, id);
    return approve(object, carol, id);
  },
  'a job': ({ id }, object) => object.work({ type: 'transactionWork', id, job: 'sign' }),
  'a rejection': async (_, object) => reject(object, bob, (await created(object)).id),
  'a read transaction': ({ id }, object) => object.query(alice, { type: 'readRecord', id }),
  'the balances': (_, object) =>
    object.query(alice, { type: 'listBalances', after: null, limit: PAGE, hiddenToo: false }),
  'all balances': (_, object) =>
    object.query(alice, { type: 'listBalances', after: null, limit: PAGE, hiddenToo: true }),
  'the policies': (_, object) => object.query(alice, { type: 'policyHistory', before: null, limit: PAGE }),
  'the policy changes': (_, object) => object.query(alice, { type: 'policyChanges', before: null, limit: PAGE }),
  'a list, which updates the read model': (_, object) => object.query(alice, { type: 'projectedScope' }),
  'the held nonces': (_, object) => object.work({ type: 'heldNonces', chain: 'anvil', address: WALLET }),
  'the feed': async (_, object) => {
    const newest = await object.query(alice, { type: 'beginFeed' });
    if (!newest.ok) throw new Error(newest.refusal.code);
    return object.query(alice, { type: 'nextChanges', after: newest.value - PAGE, waitMs: 0 });
  },
  'a received payment': (_, object) =>
    object.report({
      type: 'recordActivity',
      chain: 'anvil',
      hash: RECEIVED.hash,
      seen: RECEIVED,
      valuation: UNPRICED,
    }),
  'a requested scan': (_, object) => object.execute(alice, { type: 'requestRescan' }),
  'the comparisons that are due': (_, object) => object.work({ type: 'reconcileWork' }),
  'an alarm': (_, object) => object.alarm(),
};

test.each(Object.entries(OPERATIONS))('%s reads as few rows in a large vault as in a small one', async (_, run) => {
  const { few, many } = await readInBoth(run);
  expect(many).toBeLessThanOrEqual(1.5 * few);
});

test('a creation and an alarm read as few rows with a large backlog of the read model as with a small one', async () => {
  const refuse = "BEGIN SELECT RAISE(ABORT, 'the database is full'); END";
  await coordinator.DB.prepare(`CREATE TRIGGER full BEFORE INSERT ON transactions ${refuse}`).run();
  vi.spyOn(console, 'error').mockImplementation(() => {});
  for (const { vault } of scenes) {
    const requeue = 'INSERT OR REPLACE INTO outbox SELECT id, ?, version, 0, 0 FROM tx';
    await runInDurableObject(vault, (_object, { storage }) => void storage.sql.exec(requeue, 'project'));
    await runInDurableObject(vault, (object) => (object as unknown as Inside).alarm());
  }
  for (const run of [OPERATIONS['a creation'], OPERATIONS['an alarm']]) {
    if (run === undefined) throw new Error('no such operation');
    const { few, many } = await readInBoth(run);
    expect(many).toBeLessThanOrEqual(1.5 * few);
  }
});
