import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startAnvil } from '#local/evm/anvil.ts';
import { localChain } from '#local/evm/chain.ts';
import { Client } from '#cli/api-client.ts';
import { configure, UNLIMITED } from '#local/stack/configuration.ts';
import type { Person, ReadyVault } from '#local/stack/provision.ts';
import { createPerson, createReadyVault } from '#local/stack/provision.ts';
import { untilRest } from './rest.ts';
import { createMessages } from './messages.ts';
import { startRuntime } from '#local/stack/runtime.ts';

/** The limiter counts every request of the bench as usual; only its quotas are higher. */
const ETHER = 10n ** 18n;
const MANY = 1_000_000;
/** A chain without an RPC node here: the service is measured and not the node. */
export const UNWATCHED_CHAIN = 'ethereum-sepolia';

/** A hundred thousand rows with the length of records, of which the newest fifty are read. */
const BARE_RECORDS = [
  'CREATE TABLE record (id TEXT PRIMARY KEY, vault_id INTEGER NOT NULL, record TEXT NOT NULL)',
  'CREATE INDEX record_vault ON record (vault_id, id)',
  `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
   INSERT INTO record SELECT printf('%026d', i), 1, json_quote(printf('%01500d', i)) FROM n`,
];

export interface Scene {
  readonly ports: { readonly service: number; readonly bare: number; readonly sign: number; readonly signFour: number };
  /** A client of the internal interface. */
  readonly operator: Client;
  readonly url: string;
  /**
   * V8's inspector of every isolate of the service; null when it is not needed, which costs the
   * isolates nothing.
   */
  readonly inspectorUrl: string | null;
  readonly alice: Person;
  readonly bob: Person;
  /** A vault with a threshold of two approvals. */
  readonly vault: ReadyVault;
  /** A vault with a threshold of three approvals, so that one approval changes only a count. */
  readonly slowVault: ReadyVault;
  /** Signs deliveries of monitors. */
  readonly monitorSecret: string;
  /**
   * Returns a vault with this many transactions in the read model, and as many entries in its
   * history there. The first call for each number creates it. `isHidden`: all but fifty are hidden.
   */
  readonly crowded: (transactions: number, options?: { readonly isHidden: boolean }) => Promise<ReadyVault>;
  readonly recipient: string;
  /**
   * Waits until no deferred work of the previous block remains. Returns how many milliseconds that
   * took.
   */
  readonly settle: () => Promise<number>;
  /** Returns the rows of an action in the audit history in D1. */
  readonly audit: (action: string) => Promise<readonly AuditRow[]>;
  readonly stop: () => Promise<void>;
}

export interface AuditRow {
  readonly transactionId: string;
  readonly atMs: number;
  readonly to: string | null;
}

export interface SceneOptions {
  /** Whether the service has keys for push notifications. */
  readonly notificationsEnabled: boolean;
  /** Whether functions keep their names. */
  readonly isReadable: boolean;
  readonly isInspected: boolean;
}

/**
 * Starts the service with its co-signers, the baselines in a runtime of their own, a chain, users
 * and vaults.
 */
export async function startScene({ notificationsEnabled, isReadable, isInspected }: SceneOptions): Promise<Scene> {
  const folder = await mkdtemp(join(tmpdir(), 'conclave-bench-'));
  const anvil = await startAnvil();
  const { files, serviceKey, monitorSecret } = configure(folder, {
    rpcUrls: { anvil: [anvil.url] },
    rateLimits: UNLIMITED,
    notificationsEnabled,
    // The platform serves the files. Its local replacement costs as much of each request as the
    // shortest response.
    hasDashboard: false,
  });
  const here = import.meta.dirname;
  const service = await startRuntime([...files, join(here, 'sign.toml')], {
    folder,
    isReadable,
    ...(isInspected ? { inspectorPort: 0 } : {}),
  });
  // Four co-signers pin the keys of each other, so they differ from the three of the service.
  const { files: four } = configure(join(folder, 'four'), { rpcUrls: {}, cosigners: 4 });
  const signFour = await startRuntime([join(here, 'sign-four.toml'), ...four.slice(1)], {
    folder: join(folder, 'four'),
    isReadable,
  });
  const bare = await startRuntime([join(here, 'bare.toml')], { folder: join(folder, 'bare') });
  const [servicePort, signPort, barePort] = [service.ports[0] ?? 0, service.ports.at(-1) ?? 0, bare.ports[0] ?? 0];
  const database = await service.miniflare.getD1Database('DB', 'conclave');
  const bareDatabase = await bare.miniflare.getD1Database('DB', 'conclave-bench-bare');
  for (const statement of BARE_RECORDS) await bareDatabase.prepare(statement).run();

  const url = `http://127.0.0.1:${servicePort}`;
  const operator = new Client(url, serviceKey);
  const [alice, bob, carol] = [
    await createPerson(operator, url, 'alice'),
    await createPerson(operator, url, 'bob'),
    await createPerson(operator, url, 'carol'),
  ];
  const signers = [alice, bob, carol];
  const vault = await createReadyVault(operator, { name: 'fast', signers, threshold: 2, mostPending: MANY });
  const chains = [UNWATCHED_CHAIN];
  const slowVault = await createReadyVault(operator, {
    name: 'slow',
    signers,
    threshold: 3,
    mostPending: MANY,
    chains,
  });
  const chain = localChain(anvil.url);
  await chain.fund(vault.address, 1000n * ETHER);
  const crowds = new Map<string, Promise<ReadyVault>>();
  const inspector = isInspected ? await service.miniflare.getInspectorURL() : null;
  return {
    ports: { service: servicePort, bare: barePort, sign: signPort, signFour: signFour.ports[0] ?? 0 },
    operator,
    url,
    inspectorUrl: inspector === null ? null : `http://${inspector.host}`,
    alice,
    bob,
    vault,
    slowVault,
    monitorSecret,
    crowded: async (count, { isHidden } = { isHidden: false }) => {
      const key = `${count} ${isHidden}`;
      const crowd = crowds.get(key) ?? foundCrowd({ operator, signers, alice, database }, { count, isHidden });
      crowds.set(key, crowd);
      return crowd;
    },
    recipient: await chain.account(7),
    settle: async () => {
      const begun = performance.now();
      // A list first updates the read model.
      for (const { id } of [vault, slowVault]) await alice.client.transactions(id, { limit: '1' });
      return performance.now() - begun + (await untilRest());
    },
    audit: async (action) => {
      const { results } = await database
        .prepare("SELECT entry FROM audit WHERE json_extract(entry, '$.action') = ? ORDER BY seq")
        .bind(action)
        .all<{ entry: string }>();
      return results.map(({ entry }) => JSON.parse(entry) as AuditRow);
    },
    stop: async () => {
      await service.stop();
      await signFour.stop();
      await bare.stop();
      await anvil.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface CrowdPosition {
  readonly operator: Client;
  readonly signers: readonly Person[];
  readonly alice: Person;
  readonly database: Awaited<ReturnType<Awaited<ReturnType<typeof startRuntime>>['miniflare']['getD1Database']>>;
}

/** The rows of one statement: workerd limits a query to some seconds. */
const CROWD_BATCH = 10_000;

const MAX_VISIBLE = 50;

/** Creates one real message, and copies of its row: the list is measured, and not its creation. */
async function foundCrowd(
  { operator, signers, alice, database }: CrowdPosition,
  { count, isHidden }: { readonly count: number; readonly isHidden: boolean },
): Promise<ReadyVault> {
  const options = { name: `crowd of ${count}`, signers, threshold: 3, mostPending: MANY, chains: [UNWATCHED_CHAIN] };
  const vault = await createReadyVault(operator, options);
  const [id] = await createMessages(alice, [{ vaultId: vault.id, chain: UNWATCHED_CHAIN }], 1);
  await alice.client.transactions(vault.id, { limit: '1' });
  const columns = await database.prepare('SELECT * FROM transactions WHERE id = ?').bind(id).first();
  const names = Object.keys(columns ?? {}).filter((name) => !['id', 'record', 'visible'].includes(name));
  // The second half of an id is a ULID; these are older than the first one.
  const copy = `substr(id, 1, instr(id, '.')) || '00' || printf('%024d', n.i)`;
  for (let start = 0; start < count; start += CROWD_BATCH) {
    const end = Math.min(start + CROWD_BATCH, count) - 1;
    await database
      .prepare(
        `WITH RECURSIVE n(i) AS (SELECT ? UNION ALL SELECT i + 1 FROM n WHERE i < ?)
         INSERT INTO transactions (id, record, visible, ${names.join()})
         SELECT ${copy}, replace(record, id, ${copy}), n.i < ?, ${names.join()} FROM transactions, n WHERE id = ?`,
      )
      .bind(start, end, isHidden ? MAX_VISIBLE : count, id)
      .run();
    await database
      .prepare(
        `WITH RECURSIVE n(i) AS (SELECT ? UNION ALL SELECT i + 1 FROM n WHERE i < ?)
         INSERT INTO audit SELECT vault_id, 1000 + n.i, transaction_id, at_ms, entry, hash FROM audit, n
         WHERE vault_id = ? AND seq = 1`,
      )
      .bind(start, end, vault.id)
      .run();
  }
  return vault;
}
