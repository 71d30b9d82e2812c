/**
 * Attack: an initiator creates calls with 24 KB of calldata and cancels them at once, so the limit
 *   of pending transactions does not count them. The read model, which all vaults share, fills, and
 *   each page of the list has megabytes.
 * Attacker: member
 * Co-signers: 0
 * Finding: S7
 * Defence: calldata above 1 KB is in the record of the vault alone, and a list leaves out long
 *   fields. A page has at most 512 KB. The bytes that a user creates in 24 hours are limited, and a
 *   cancelled draft that no signer approved is deleted after 30 days.
 */
import { runInDurableObject } from 'cloudflare:test';
import { expect, test, vi } from 'vitest';
import { dailyBytes, DEFAULT_QUOTAS } from '#domain/access/rate-limit.ts';
import { parseUserId } from '#domain/id.ts';
import { personStub } from '#objects/person/stub.ts';
import { anotherToken, call, coordinator, foundTreasury, RECIPIENT } from '../../http/scene.worker.ts';

const CALLDATA = `0xd0e30db0${'ab'.repeat(24_000)}`;
const NOTE = '\u{1F600}'.repeat(120);

async function filled(count: number) {
  const treasury = await foundTreasury();
  const ids: string[] = [];
  for (let i = 0; i < count; i++) {
    const { token } = await anotherToken(treasury.alice);
    const body = { vaultId: treasury.id, chain: 'anvil', to: RECIPIENT, data: CALLDATA, value: '0', note: NOTE };
    const created = await call('POST /transaction/contract-interaction', { token, body });
    expect(created.status).toBe(201);
    await call(`POST /transaction/${created.body['id']}/cancel`, { token });
    ids.push(created.body['id']);
  }
  return { treasury, ids };
}

test('a page has no long calldata, the record has all of it, and the read model keeps little', async () => {
  const { treasury, ids } = await filled(12);
  const { token } = treasury.victor;
  const page = await call(`GET /vault/${treasury.id}/transactions?limit=100`, { token });
  expect(page.body['transactions']).toHaveLength(ids.length);
  for (const { data, call: decoded, omitted } of page.body['transactions']) {
    expect([data, decoded, omitted]).toEqual([null, null, ['data']]);
  }
  expect(JSON.stringify(page.body).length).toBeLessThan(ids.length * 5_000);
  const record = await call(`GET /transaction/${ids[0]}`, { token });
  expect([record.body['data'], record.body['omitted']]).toEqual([CALLDATA, []]);
  const kept = 'SELECT max(length(record)) AS longest FROM transactions WHERE vault_id = ?';
  const row = await coordinator.DB.prepare(kept).bind(treasury.id).first<{ longest: number }>();
  expect(row?.longest).toBeLessThan(5_000);
});

test('rows of an earlier release and long messages are left out as well, and no page is larger than 512 KB', async () => {
  const { treasury, ids } = await filled(2);
  const [first] = ids;
  // As release 0.2.0 wrote it, with a field that no list shortens.
  const grow = `UPDATE transactions SET record = json_set(record, '$.intent.data', ?1, '$.intent.note', ?2),
    version = version + 1 WHERE id = ?3`;
  const { token } = treasury.victor;
  await call(`GET /vault/${treasury.id}/transactions`, { token });
  await coordinator.DB.prepare(grow).bind(CALLDATA, 'n'.repeat(600_000), first).run();
  const message = { vaultId: treasury.id, chain: 'anvil', message: 'm'.repeat(10_000), encoding: 'text' };
  const sent = await call('POST /transaction/message', { token: treasury.alice.token, body: message });
  expect(sent.status).toBe(201);
  const seen: { readonly id: string; readonly omitted: readonly string[] }[] = [];
  const sizes: number[] = [];
  for (let cursor = ''; ;) {
    const { body } = await call(`GET /vault/${treasury.id}/transactions${cursor}`, { token });
    seen.push(...body['transactions']);
    sizes.push(body['transactions'].length);
    if (body['nextCursor'] === null) break;
    cursor = `?cursor=${encodeURIComponent(body['nextCursor'])}`;
  }
  expect(seen.map(({ id, omitted }) => [id, omitted])).toEqual([
    [sent.body['id'], ['message']],
    [ids[1], ['data']],
    [first, ['data']],
  ]);
  expect(sizes).toEqual([2, 1]);
  const pending = await call('GET /user/me/pending', { token: treasury.bob.token });
  expect(pending.body['data']).toMatchObject([{ transaction: { message: null, omitted: ['message'] } }]);
});

/** Stores that a user has created all bytes of the day but some, at this time. */
function useBytes({ id }: { readonly id: string }, rest: number): Promise<void> {
  const userId = parseUserId(id);
  if (userId === null) throw new Error('the user needs an id');
  return runInDurableObject(personStub(coordinator, userId), (_object, { storage }) =>
    storage.put('created:token', [[Date.now(), dailyBytes(DEFAULT_QUOTAS.write) - rest]]),
  );
}

test('a user creates a limited number of bytes in 24 hours, with all tokens together', async () => {
  const treasury = await foundTreasury();
  const create = (token: string, key: string) =>
    call('POST /transaction/contract-interaction', {
      token,
      body: { vaultId: treasury.id, chain: 'anvil', to: RECIPIENT, data: CALLDATA, value: '0' },
      headers: { 'idempotency-key': key },
    });
  await useBytes(treasury.alice, 60_000);
  expect((await create(treasury.alice.token, 'first')).status).toBe(201);
  const { token } = await anotherToken(treasury.alice);
  const full = await create(token, 'second');
  expect([full.status, full.body['code'], full.body['violated-policies']]).toEqual([
    429,
    'quota-exceeded',
    ['created-bytes'],
  ]);
  const wait = Number(full.headers.get('retry-after'));
  expect([wait > 24 * 60 * 60, wait <= 25 * 60 * 60]).toEqual([true, true]);
  // A repeated request creates nothing, so it is answered.
  expect((await create(token, 'first')).headers.get('idempotency-replayed')).toBe('true');
  const others = await call('POST /transaction/transfer', {
    token: treasury.bob.token,
    body: { vaultId: treasury.id, chain: 'anvil', to: RECIPIENT, amount: '1', tokenAddress: null },
  });
  expect(others.status).toBe(201);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + wait * 1000 });
  expect((await create(token, 'second')).status).toBe(201);
  vi.useRealTimers();
});
