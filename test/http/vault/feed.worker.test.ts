import { runInDurableObject } from 'cloudflare:test';
import { expect, test } from 'vitest';
import { seededRandom } from '#local/stack/seeded-random.ts';
import type { HistoryEntry } from '#objects/vault/documents/history.ts';
import { historyHash, NO_PREVIOUS_ENTRY } from '#objects/vault/documents/history.ts';
import type { Person, Treasury } from '../scene.worker.ts';
import {
  anotherToken,
  asPerson,
  asService,
  call,
  coordinator,
  created,
  foundTreasury,
  RECIPIENT,
} from '../scene.worker.ts';

/** Covers the feed of a vault: a client that continues with each cursor receives every change. */

interface Change {
  readonly entry: HistoryEntry & { readonly hash: string; readonly at: string };
  readonly record: { readonly id: string; readonly version: number; readonly state: string } | null;
}

/** Follows a vault from a cursor as a client does. */
class Follower {
  readonly changes: Change[] = [];
  #cursor: string | null;
  readonly #treasury: Treasury;
  readonly #person: Person;

  constructor(treasury: Treasury, person: Person, cursor: string | null = null) {
    this.#treasury = treasury;
    this.#person = person;
    this.#cursor = cursor;
  }

  /** Reads one page, and returns the number of its changes. */
  async read(limit: number): Promise<number> {
    const after = this.#cursor === null ? '' : `&after=${encodeURIComponent(this.#cursor)}`;
    const { status, body } = await asPerson(
      this.#person,
      `GET /vault/${this.#treasury.id}/feed?limit=${limit}${after}`,
    );
    expect(status).toBe(200);
    const changes: readonly Change[] = body['changes'];
    this.changes.push(...changes);
    this.#cursor = body['cursor'];
    return changes.length;
  }

  /** Reads to the end. */
  async finish(limit: number): Promise<void> {
    while ((await this.read(limit)) > 0);
  }
}

const feedOf = ({ id }: Treasury, query = '') => `GET /vault/${id}/feed${query}`;
const summary = ({ entry, record }: Change) => [entry.action, entry.to, record?.state ?? null];

/** Returns the last cursor of a vault. */
async function latest(treasury: Treasury): Promise<string> {
  const { body } = await asPerson(treasury.victor, feedOf(treasury, '?after=latest'));
  expect(body['changes']).toEqual([]);
  return body['cursor'];
}

test('the feed has every change with its entry and the present record, and the entries are one chain', async () => {
  const treasury = await foundTreasury();
  const { body } = await created(treasury);
  await asPerson(treasury.bob, `POST /transaction/${body['id']}/approve`);
  await asPerson(treasury.alice, `POST /transaction/${body['id']}/cancel`);
  const follower = new Follower(treasury, treasury.victor);
  await follower.finish(2);
  expect(follower.changes.slice(-3).map(summary)).toEqual([
    ['create', 'SUBMITTED', 'CANCELLED'],
    ['approve', 'SUBMITTED', 'CANCELLED'],
    ['cancel', 'CANCELLED', 'CANCELLED'],
  ]);
  expect(follower.changes[0]?.record).toBeNull();
  let previousHash = NO_PREVIOUS_ENTRY;
  for (const [i, { entry }] of follower.changes.entries()) {
    const { hash, at: _at, ...hashed } = entry;
    expect([entry.seq, entry.previousHash, historyHash(hashed)]).toEqual([i + 1, previousHash, hash]);
    previousHash = hash;
  }
  const history = await asPerson(treasury.victor, `GET /vault/${treasury.id}/history`);
  expect(follower.changes.map(({ entry }) => entry)).toEqual(history.body['history']);
});

test('clients that read while the vault changes receive every change once and in order', async () => {
  const treasury = await foundTreasury();
  const next = seededRandom(66);
  const draw = (below: number) => Math.floor(next() * below);
  const followers = Array.from({ length: 4 }, () => new Follower(treasury, treasury.victor));
  const change = async () => {
    const { token } = await anotherToken(treasury.alice);
    const made = await call('POST /transaction/transfer', {
      token,
      body: { vaultId: treasury.id, chain: 'anvil', to: `0x${'22'.repeat(20)}`, amount: '1' },
    });
    await asPerson(treasury.bob, `POST /transaction/${made.body['id']}/${draw(2) === 0 ? 'approve' : 'reject'}`);
  };
  const follow = async (follower: Follower) => {
    for (let i = 0; i < 6; i++) await follower.read(1 + draw(4));
  };
  await Promise.all([...Array.from({ length: 8 }, change), ...followers.map(follow)]);
  const { body } = await asPerson(treasury.victor, `GET /vault/${treasury.id}/history?limit=500`);
  const expected = body['history'].map(({ seq }: { seq: number }) => seq);
  expect(expected.length).toBeGreaterThan(16);
  for (const follower of followers) {
    await follower.finish(100);
    expect(follower.changes.map(({ entry }) => entry.seq)).toEqual(expected);
    for (const { entry, record } of follower.changes)
      if (entry.transactionId !== null) expect(record?.version).toBeGreaterThanOrEqual(entry.version);
  }
});

test('a client that waits receives the next change at once, and without one the same cursor', async () => {
  const treasury = await foundTreasury();
  const after = encodeURIComponent(await latest(treasury));
  const wait = async (seconds: number) => {
    const { token } = await anotherToken(treasury.victor);
    return call(feedOf(treasury, `?after=${after}`), { token, headers: { prefer: `wait=${seconds}` } });
  };
  const quiet = await wait(1);
  expect([quiet.body['changes'], quiet.body['cursor']]).toEqual([[], decodeURIComponent(after)]);
  expect(quiet.headers.get('preference-applied')).toBe('wait=1');
  const waiting = wait(30);
  const { body } = await created(treasury);
  const answer = await waiting;
  expect(answer.body['changes'].map(({ record }: Change) => record?.id)).toEqual([body['id']]);
  expect(answer.headers.get('preference-applied')).toBe('wait=30');
});

test('a member who is removed during the wait receives nothing', async () => {
  const treasury = await foundTreasury();
  const after = encodeURIComponent(await latest(treasury));
  const headers = { prefer: 'wait=30' };
  const waiting = call(feedOf(treasury, `?after=${after}`), { token: treasury.victor.token, headers });
  const removed = await asService(`DELETE /internal/vault/${treasury.id}/member/${treasury.victor.id}`);
  expect(removed.status).toBeLessThan(300);
  expect(await waiting).toMatchObject({ status: 403, body: { code: 'forbidden' } });
});

test('a cursor of another vault or of another history, and one that is malformed, is refused', async () => {
  const [treasury, other] = [await foundTreasury(), await foundTreasury()];
  const [id, seq, hash] = atob(await latest(treasury)).split(' ');
  const forged = [
    await latest(other),
    btoa(`${id} ${seq} ${'0'.repeat(64)}`),
    btoa(`${id} ${Number(seq) + 1} ${hash}`),
    btoa(`${id} 0 ${hash}`),
    btoa(`${id} -1 ${hash}`),
    btoa(`${id} ${seq}`),
    'x',
    '',
  ];
  for (const cursor of forged) {
    const answer = await asPerson(treasury.victor, feedOf(treasury, `?after=${encodeURIComponent(cursor)}`));
    expect([cursor, answer.status, answer.body['errors']?.[0]?.pointer]).toEqual([cursor, 400, 'after']);
  }
  for (const query of ['limit=0', 'limit=101', 'limit=x', 'cursor=1']) {
    expect((await asPerson(treasury.victor, feedOf(treasury, `?${query}`))).status).toBe(400);
  }
});

test('a page of large records is short, and the cursor continues after it', async () => {
  const treasury = await foundTreasury();
  // Each quote is two characters of a response.
  const note = '"'.repeat(500);
  const interaction = { chain: 'anvil', to: RECIPIENT, data: `0x${'ab'.repeat(1_024)}`, value: '0', note };
  const body = { vaultId: treasury.id, ...interaction };
  expect((await asPerson(treasury.alice, 'POST /transaction/contract-interaction', body)).status).toBe(201);
  const object = coordinator.VAULT.getByName(`vault:${treasury.id}`);
  const COPIES = 400;
  await runInDurableObject(object, (_object, { storage }) => {
    storage.sql.exec(
      `WITH RECURSIVE copy (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM copy WHERE i < ${COPIES})
       INSERT INTO history (seq, document, hash)
       SELECT seq + i, json_set(document, '$.seq', seq + i), substr(hash, 1, 60) || printf('%04x', i)
       FROM copy, (SELECT * FROM history ORDER BY seq DESC LIMIT 1)`,
    );
  });
  const follower = new Follower(treasury, treasury.victor);
  const sizes: number[] = [];
  for (let size = await follower.read(100); size > 0; size = await follower.read(100)) sizes.push(size);
  const seqs = follower.changes.map(({ entry }) => entry.seq);
  expect(seqs).toEqual(seqs.map((_, i) => i + 1));
  expect(seqs.length).toBeGreaterThan(COPIES);
  // The first page has the small entries of the founding.
  expect(sizes[1]).toBeLessThan(100);
});
