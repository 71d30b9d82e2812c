import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { afterEach, expect, test, vi } from 'vitest';
import { seededRandom } from '#local/stack/seeded-random.ts';
import { parseTokenId, parseTransactionId, parseUserId, parseVaultId } from '#domain/id.ts';
import type { HistoryEntry } from '#objects/vault/documents/history.ts';
import { historyHash, NO_PREVIOUS_ENTRY } from '#objects/vault/documents/history.ts';
import { vaultOf } from '../../objects/vault/vault-of.ts';
import type { Person } from '../scene.worker.ts';
import {
  accept,
  anotherToken,
  asPerson,
  asService,
  call,
  coordinator,
  enter,
  foundTreasury,
  payment,
  recordKey,
  WALLET,
} from '../scene.worker.ts';

/**
 * Covers the feed of all vaults: a client that continues with each cursor receives every change of
 * every vault, whatever happens to the client, to the read model and to the vaults.
 */

afterEach(() => {
  vi.restoreAllMocks();
});

interface Change {
  readonly vaultId: number;
  readonly entry: HistoryEntry & { readonly hash: string; readonly at: string };
  readonly record: { readonly id: string; readonly version: number } | null;
}

interface Page {
  readonly changes: readonly Change[];
  readonly cursor: string;
  readonly incompleteVaults: readonly number[];
}

async function readPage(person: Person, after: string | null, limit = 100): Promise<Page> {
  const query = after === null ? '' : `&after=${after}`;
  const { status, body } = await asPerson(person, `GET /feed?limit=${limit}${query}`);
  expect([status, body['code']]).toEqual([200, undefined]);
  return body as Page;
}

/** Reads to the end, as a client that stores each cursor. */
async function readAll(person: Person, after: string | null = null, limit = 100) {
  const changes: Change[] = [];
  let page = await readPage(person, after, limit);
  for (; page.changes.length > 0; page = await readPage(person, page.cursor, limit)) changes.push(...page.changes);
  return { changes, cursor: page.cursor, incompleteVaults: page.incompleteVaults };
}

/** Creates a vault of alice, who creates and approves, and of a reader, and accepts it for both. */
async function vaultFor(alice: Person, reader: Person): Promise<number> {
  const opened = await asService('POST /internal/vault', {
    name: 'Treasury',
    members: [
      { userId: alice.id, roles: ['admin', 'initiator', 'signer'] },
      { userId: reader.id, roles: ['viewer', 'signer'] },
    ],
    threshold: 2,
    approvalMode: 'token',
    initialState: 'SUBMITTED',
    chains: ['anvil'],
  });
  expect(opened.status).toBe(201);
  const id: number = opened.body['id'];
  await recordKey(id, { anvil: WALLET });
  return id;
}

async function acceptedVault(alice: Person, reader: Person): Promise<number> {
  const id = await vaultFor(alice, reader);
  for (const person of [alice, reader]) await accept(id, person);
  return id;
}

async function pay(alice: Person, id: number): Promise<string> {
  const { status, body } = await asPerson(alice, 'POST /transaction/transfer', payment({ id } as never));
  expect(status).toBe(201);
  return body['id'];
}

/** Hides and shows a payment, which is a change each time, without the limits of a token. */
function toggled(alice: Person, id: number, transaction: string) {
  const [userId, tokenId, txId] = [
    parseUserId(alice.id),
    parseTokenId('0'.repeat(16)),
    parseTransactionId(transaction),
  ];
  if (userId === null || tokenId === null || txId === null) throw new Error('the ids must parse');
  let visible = true;
  return async () => {
    visible = !visible;
    const command = { type: 'setVisibility', id: txId, visible } as const;
    expect((await vaultOf(coordinator, id).execute({ userId, tokenId, address: null }, command)).ok).toBe(true);
  };
}

async function historyOf(person: Person, id: number): Promise<readonly unknown[]> {
  const entries: unknown[] = [];
  for (let after: number | null = 0; after !== null;) {
    const { body } = await asPerson(person, `GET /vault/${id}/history?limit=500&after=${after}`);
    entries.push(...body['history']);
    after = body['nextAfter'];
  }
  return entries;
}

/** Completes the read model of a vault, as its alarm does. */
async function complete(person: Person, id: number): Promise<void> {
  expect((await asPerson(person, `GET /vault/${id}/transactions`)).status).toBe(200);
}

const entriesOf = (changes: readonly Change[], id: number) =>
  changes.filter(({ vaultId }) => vaultId === id).map(({ entry }) => entry);

/** Expects the entries of each vault to be its history, without gap, repetition or other order. */
async function expectHistories(person: Person, ids: readonly number[], changes: readonly Change[]) {
  for (const id of ids) {
    const entries = entriesOf(changes, id);
    expect(entries).toEqual(await historyOf(person, id));
    let previousHash = NO_PREVIOUS_ENTRY;
    for (const { hash, at: _at, ...hashed } of entries) {
      expect([hashed.previousHash, historyHash(hashed)]).toEqual([previousHash, hash]);
      previousHash = hash;
    }
  }
}

test('the feed has every change of all vaults, by time, each with the present record', async () => {
  const [alice, reader] = [await enter('alice'), await enter('reader')];
  const ids = [
    await acceptedVault(alice, reader),
    await acceptedVault(alice, reader),
    await acceptedVault(alice, reader),
  ];
  const paid: string[] = [];
  for (const id of [...ids, ...ids.toReversed()]) paid.push(await pay(alice, id));
  for (const id of ids) await complete(reader, id);
  const { changes } = await readAll(reader, null, 7);
  await expectHistories(reader, ids, changes);
  expect(changes.flatMap(({ record }) => record?.id ?? [])).toEqual(paid);
  expect(changes.filter(({ record }) => record !== null).map(({ vaultId }) => vaultId)).toEqual([
    ...ids,
    ...ids.toReversed(),
  ]);
});

/** The number of changes, vaults and clients. */
const CHANGES = Number.parseInt(coordinator.TEST_FEED_CHANGES, 10);
const VAULTS = 50;
const READERS = 3;

test(
  'clients that die anywhere receive every change of fifty vaults, in the order of each',
  { timeout: 300_000 },
  async () => {
    // An outage of the read model is logged.
    vi.spyOn(console, 'error').mockImplementation(() => {});
    const next = seededRandom(66);
    const draw = (below: number) => Math.floor(next() * below);
    const [alice, reader] = [await enter('alice'), await enter('reader')];
    const vaults: { readonly id: number; readonly change: () => Promise<void> }[] = [];
    const addVault = async () => {
      const id = await acceptedVault(alice, reader);
      vaults.push({ id, change: toggled(alice, id, await pay(alice, id)) });
    };
    // Half of the vaults are there at the start. The clients meet the others on the way.
    while (vaults.length < VAULTS / 2) await addVault();
    const work = { left: CHANGES };
    const change = async () => {
      while (work.left > 0) {
        work.left -= 1;
        const isTimeForVault = work.left % (CHANGES / (VAULTS / 2)) === 0;
        const one = vaults[draw(vaults.length)];
        await one?.change();
        if (isTimeForVault) await addVault();
        // The object moves to another machine.
        if (draw(100) === 0) await evictDurableObject(coordinator.VAULT.getByName(`vault:${one?.id}`));
      }
    };
    const outage = async () => {
      while (work.left > 0) {
        const held = vaults[draw(vaults.length)]?.id;
        await coordinator.DB.prepare(
          `CREATE TRIGGER held BEFORE INSERT ON audit WHEN NEW.vault_id = ${held} BEGIN SELECT RAISE(ABORT, 'held'); END`,
        ).run();
        await scheduler.wait(draw(200));
        await coordinator.DB.prepare('DROP TRIGGER held').run();
      }
    };
    const received = Array.from({ length: READERS }, (): Change[] => []);
    const cursors: (string | null)[] = received.map(() => null);
    const follow = async (n: number) => {
      while (work.left > 0) {
        const page = await readPage(reader, cursors[n] ?? null, 1 + draw(100));
        // It dies before it has anything, or with the effect and without the cursor.
        const died = draw(4);
        if (died === 0) continue;
        received[n]?.push(...page.changes);
        if (died !== 1) cursors[n] = page.cursor;
      }
    };
    await Promise.all([change(), change(), change(), change(), outage(), ...received.map((_, n) => follow(n))]);
    const ids = vaults.map(({ id }) => id);
    expect(ids.length).toBe(VAULTS);
    for (const id of ids) await complete(reader, id);
    const histories = new Map<number, readonly unknown[]>();
    for (const id of ids) histories.set(id, await historyOf(reader, id));
    expect([...histories.values()].flat().length).toBeGreaterThan(CHANGES);
    for (const [n, seen] of received.entries()) {
      seen.push(...(await readAll(reader, cursors[n])).changes);
      for (const id of ids) {
        const entries = entriesOf(seen, id);
        // A repetition is allowed; a change before an earlier one is not.
        let reached = 0;
        const first = entries.filter(({ seq }) => {
          expect(seq).toBeLessThanOrEqual(reached + 1);
          const isNew = seq > reached;
          reached = Math.max(reached, seq);
          return isNew;
        });
        expect(first).toEqual(histories.get(id));
      }
    }
  },
);

/** Waits as a client, with a token of its own. */
async function wait(person: Person, after: string, seconds: number) {
  const { token } = await anotherToken(person);
  return call(`GET /feed?after=${after}`, { token, headers: { prefer: `wait=${seconds}` } });
}

test('a client that waits receives the next change of any vault, and none of others', async () => {
  const [alice, reader] = [await enter('alice'), await enter('reader')];
  const ids = [await acceptedVault(alice, reader), await acceptedVault(alice, reader)];
  const elsewhere = await acceptedVault(alice, await enter('stranger'));
  for (const id of ids) await complete(reader, id);
  const latest = await readPage(reader, 'latest');
  expect(latest.changes).toEqual([]);
  const quiet = wait(reader, latest.cursor, 2);
  await pay(alice, elsewhere);
  const { body, headers } = await quiet;
  expect(body).toEqual({ changes: [], cursor: latest.cursor, incompleteVaults: [] });
  expect(headers.get('preference-applied')).toBe('wait=2');
  const waiting = wait(reader, latest.cursor, 30);
  const paid = await pay(alice, ids[1] ?? 0);
  const answer = await waiting;
  expect(answer.body['changes'].map(({ record }: Change) => record?.id)).toEqual([paid]);
  expect((await readPage(reader, answer.body['cursor'])).changes).toEqual([]);
  // The newest change is that of the beginning of the wait.
  const fromNow = wait(reader, 'latest', 30);
  const next = await pay(alice, ids[0] ?? 0);
  expect((await fromNow).body['changes'].map(({ record }: Change) => record?.id)).toEqual([next]);
});

test('vaults that the caller has not accepted hold no other back, and begin with their first change', async () => {
  const [alice, reader] = [await enter('alice'), await enter('reader')];
  const invited: number[] = [];
  // More than one response opens at once, and all of them older.
  while (invited.length < 25) {
    const id = await vaultFor(alice, reader);
    await accept(id, alice);
    invited.push(id);
  }
  const id = await acceptedVault(alice, reader);
  for (const one of [...invited, id]) await asService(`GET /internal/vault/${one}`);
  const { changes, cursor, incompleteVaults } = await readAll(reader);
  expect(new Set(changes.map(({ vaultId }) => vaultId))).toEqual(new Set([id]));
  expect(incompleteVaults).toEqual([]);
  const [accepted = 0] = invited;
  await accept(accepted, reader);
  await complete(reader, accepted);
  const later = await readAll(reader, cursor);
  await expectHistories(reader, [id, accepted], [...changes, ...later.changes]);
});

test('a client that waits opens a vault that it has not accepted once, however much others change', async () => {
  const [alice, reader, stranger] = [await enter('alice'), await enter('reader'), await enter('stranger')];
  const invited = await vaultFor(alice, reader);
  const elsewhere = await acceptedVault(alice, stranger);
  const change = toggled(alice, elsewhere, await pay(alice, elsewhere));
  for (const id of [invited, elsewhere]) await asService(`GET /internal/vault/${id}`);
  let opened = 0;
  const VAULT = new Proxy(coordinator.VAULT, {
    get: (target, name) => {
      if (name !== 'getByName') return Reflect.get(target, name) as unknown;
      return (vault: string) => {
        if (vault === `vault:${invited}`) opened += 1;
        return target.getByName(vault);
      };
    },
  });
  const { token } = await anotherToken(reader);
  const state = { isWaiting: true };
  const waiting = call('GET /feed', { token, env: { ...coordinator, VAULT }, headers: { prefer: 'wait=3' } });
  const changes = (async () => {
    while (state.isWaiting) await change();
  })();
  const { body } = await waiting;
  state.isWaiting = false;
  await changes;
  expect([body['changes'], opened]).toEqual([[], 1]);
});

test('a person who was removed receives nothing, even when the directory still lists the vault', async () => {
  const { id: left, alice, victor: reader } = await foundTreasury();
  const kept = await acceptedVault(alice, reader);
  await complete(reader, kept);
  expect((await asService(`DELETE /internal/vault/${left}/member/${reader.id}`)).status).toBeLessThan(300);
  await coordinator.DB.prepare('INSERT OR IGNORE INTO members (vault_id, user_id) VALUES (?, ?)')
    .bind(left, reader.id)
    .run();
  const { changes } = await readAll(reader);
  expect(new Set(changes.map(({ vaultId }) => vaultId))).toEqual(new Set([kept]));
});

test('a vault that cannot be reached is named, holds no other back, and follows later', async () => {
  const [alice, reader] = [await enter('alice'), await enter('reader')];
  const [lost, there] = [await acceptedVault(alice, reader), await acceptedVault(alice, reader)];
  for (const id of [lost, there]) await complete(reader, id);
  const unreachable = { query: () => Promise.reject(Object.assign(new Error('overloaded'), { overloaded: true })) };
  const VAULT = new Proxy(coordinator.VAULT, {
    get: (target, name) =>
      name === 'getByName'
        ? (vault: string) => (vault === `vault:${lost}` ? unreachable : target.getByName(vault))
        : (Reflect.get(target, name) as unknown),
  });
  const { token } = await anotherToken(reader);
  const { body } = await call('GET /feed?limit=100', { token, env: { ...coordinator, VAULT } });
  expect(body['incompleteVaults']).toEqual([lost]);
  expect(new Set(body['changes'].map(({ vaultId }: Change) => vaultId))).toEqual(new Set([there]));
  const later = await readAll(reader, body['cursor']);
  await expectHistories(reader, [lost, there], [...body['changes'], ...later.changes]);
});

test('a vault that was set back to an earlier state is read again from its beginning', async () => {
  const [alice, reader] = [await enter('alice'), await enter('reader')];
  const [id, other] = [await acceptedVault(alice, reader), await acceptedVault(alice, reader)];
  for (const one of [id, other]) await complete(reader, one);
  const { changes, cursor } = await readAll(reader);
  const object = coordinator.VAULT.getByName(`vault:${id}`);
  const length = entriesOf(changes, id).length;
  // The last entry is another one now, and a further one follows.
  await runInDurableObject(object, (_object, { storage }) => {
    storage.sql.exec("UPDATE history SET hash = 'ff' || substr(hash, 3) WHERE seq = ?", length);
  });
  await evictDurableObject(object);
  await pay(alice, id);
  await complete(reader, id);
  // The vault has more than a page.
  const again = (await readAll(reader, cursor, 3)).changes;
  expect(again.map(({ vaultId, entry }) => [vaultId, entry.seq])).toEqual(
    Array.from({ length: length + 1 }, (_, i) => [id, i + 1]),
  );
});

test('a token that is limited to some vaults receives their changes alone', async () => {
  const [alice, reader] = [await enter('alice'), await enter('reader')];
  const [one, two] = [await acceptedVault(alice, reader), await acceptedVault(alice, reader)];
  for (const id of [one, two]) await complete(reader, id);
  const vaultId = parseVaultId(two);
  if (vaultId === null) throw new Error('the id must parse');
  const { token } = await anotherToken(reader, null, { vaultIds: [vaultId] });
  const { body } = await call('GET /feed?limit=100', { token });
  expect(new Set(body['changes'].map((change: Change) => change.vaultId))).toEqual(new Set([two]));
});

test('a cursor that is none of this feed is refused, and more than a thousand vaults are', async () => {
  const trent = await enter('trent');
  for (const cursor of ['', 'x', 'AQ==', 'AQ', 'Ag', 'AQAAAAA', btoa('1 1 00'), 'A'.repeat(16_001)]) {
    const { status, body } = await asPerson(trent, `GET /feed?after=${cursor}`);
    const isEmptyFeed = cursor === 'AQ';
    expect([cursor, status, body['errors']?.[0]?.pointer]).toEqual(
      isEmptyFeed ? [cursor, 200, undefined] : [cursor, 400, expect.stringMatching(/^\/?after$/)],
    );
  }
  const numbers = 'WITH RECURSIVE n(i) AS (SELECT 900001 UNION ALL SELECT i + 1 FROM n WHERE i < 901001)';
  for (const insert of [
    `INSERT INTO members (vault_id, user_id) ${numbers} SELECT i, ?1 FROM n`,
    `INSERT INTO audit (vault_id, seq, at_ms, entry, hash) ${numbers} SELECT i, 1, 0, '', ?1 FROM n`,
  ])
    await coordinator.DB.prepare(insert).bind(trent.id).run();
  expect(await asPerson(trent, 'GET /feed')).toMatchObject({ status: 409, body: { code: 'too-many-vaults' } });
});
