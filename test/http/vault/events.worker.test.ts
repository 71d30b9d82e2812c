import { evictDurableObject } from 'cloudflare:test';
import { expect, test, vi } from 'vitest';
import { amountOf } from '#domain/asset/amount.ts';
import { parseTokenId, parseVaultId } from '#domain/id.ts';
import { STREAM_MS } from '#objects/person/stream-slots.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';
import { UNPRICED } from '../../domain/cast.ts';
import { connectTo, keepOpen, listenTo } from '../event-reader.worker.ts';
import type { Treasury } from '../scene.worker.ts';
import {
  call,
  asService,
  changePolicy,
  coordinator,
  created,
  enter,
  foundTreasury,
  login,
  PATIENCE_MS,
  RECIPIENT,
  WALLET,
} from '../scene.worker.ts';

/**
 * Covers the event feed of the dashboard: a reader gets every change once it is committed, and only
 * what this reader may see.
 */

const eventsOf = ({ id }: Treasury) => `/vault/${id}/events`;

function connect(treasury: Treasury, cookie: string, lastEventId?: string): Promise<Response> {
  return connectTo(eventsOf(treasury), { cookie, lastEventId });
}

function listen(treasury: Treasury, cookie: string, lastEventId?: string, isReloaded = false) {
  return listenTo(eventsOf(treasury), { cookie, lastEventId, isReloaded });
}

async function receives(treasury: Treasury, hash: string, { isGone = false } = {}): Promise<void> {
  const vaultId = parseVaultId(treasury.id);
  if (vaultId === null) throw new Error('the vault has a number');
  const seen = {
    hash,
    signer: RECIPIENT,
    fee: amountOf(1n),
    block: { number: '3', hash: '0xb3', confirmations: 1, isFinal: false },
    movements: [
      {
        uid: 'top',
        kind: 'native' as const,
        from: RECIPIENT,
        to: WALLET,
        tokenAddress: null,
        tokenId: null,
        amount: amountOf(7_000_000_000n),
      },
    ],
  };
  const report = { chain: 'anvil', hash, seen: isGone ? null : seen, valuation: UNPRICED };
  await vaultStub(coordinator, vaultId).report({ type: 'recordActivity', ...report });
}

test('the feed sends a transaction when it is created, approved and rejected, as its reader may see it', async () => {
  const treasury = await foundTreasury();
  const { next } = await listen(treasury, await login(treasury.bob));
  const { body } = await created(treasury);
  const made = await next();
  expect(made).toMatchObject({ event: 'transaction', data: { id: body['id'], state: 'SUBMITTED', approvals: [] } });
  expect(made?.data['actionsForMe']).toEqual(['approve', 'reject']);
  expect((await next())?.event).toBe('balance');
  await call(`POST /transaction/${body['id']}/approve`, { token: treasury.alice.token });
  expect(await next()).toMatchObject({ data: { approvalsCounted: 1, version: 2 } });
  await next();
  await call(`POST /transaction/${body['id']}/reject`, { token: treasury.carol.token });
  expect(await next()).toMatchObject({ data: { state: 'REJECTED', actionsForMe: [] } });
});

test('the feed sends an incoming payment with its new balance, and also its removal', async () => {
  const treasury = await foundTreasury();
  const { next } = await listen(treasury, await login(treasury.victor));
  await receives(treasury, '0xaa');
  expect(await next()).toMatchObject({ event: 'transaction', data: { kind: 'activity', txHash: '0xaa' } });
  expect(await next()).toMatchObject({
    event: 'balance',
    data: { incoming: '7000000000', asset: { tokenAddress: null } },
  });
  await receives(treasury, '0xaa', { isGone: true });
  expect(await next()).toMatchObject({ event: 'transaction', data: { state: 'FAILED', visible: false } });
  expect(await next()).toMatchObject({ event: 'balance', data: { incoming: '0' } });
});

test('a client that reconnects continues after its last event, and gets each change once, in its current state', async () => {
  const treasury = await foundTreasury();
  const cookie = await login(treasury.bob);
  const first = await listen(treasury, cookie);
  const one = await created(treasury);
  await first.next();
  await first.next();
  await first.close();
  const two = await created(treasury);
  await call(`POST /transaction/${two.body['id']}/approve`, { token: treasury.alice.token });
  await call(`POST /transaction/${one.body['id']}/reject`, { token: treasury.alice.token });
  const again = await listen(treasury, cookie, first.lastId());
  const received = [await again.next(), await again.next(), await again.next()];
  expect(received.map((one_) => [one_?.event, one_?.data['id'] ?? null, one_?.data['version'] ?? null])).toEqual([
    ['transaction', two.body['id'], 2],
    ['transaction', one.body['id'], 2],
    ['balance', null, null],
  ]);
  // A client can continue only from the last event of a response.
  expect(received.map((one_) => one_?.id === null)).toEqual([true, true, false]);
});

test('a client that reconnects after a long time gets every change, in several parts', async () => {
  const treasury = await foundTreasury();
  const cookie = await login(treasury.bob);
  const ids = Array.from({ length: 60 }, (_, i) => `0x${(i + 1).toString(16)}`);
  for (const hash of ids) await receives(treasury, hash);
  const { next } = await listen(treasury, cookie, '0');
  const hashes: unknown[] = [];
  while (hashes.length < ids.length) {
    const received = await next();
    if (received?.event === 'transaction') hashes.push(received.data['txHash']);
  }
  expect(hashes).toEqual(ids);
});

test('a new reader gets no earlier events', async () => {
  const treasury = await foundTreasury();
  await created(treasury);
  const { next } = await listen(treasury, await login(treasury.bob));
  const later = await created(treasury);
  expect((await next())?.data['id']).toBe(later.body['id']);
});

test.each(['1.5', '-1', 'x', '9'.repeat(16)])('%j is not a position to continue from', async (lastEventId) => {
  const treasury = await foundTreasury();
  const response = await connect(treasury, await login(treasury.bob), lastEventId);
  expect(response.status).toBe(400);
});

test('a position that was never reached counts as the newest one', async () => {
  const treasury = await foundTreasury();
  const { next } = await listen(treasury, await login(treasury.bob), '999999');
  const { body } = await created(treasury);
  expect((await next())?.data['id']).toBe(body['id']);
});

test('the feed refuses a stranger, and a caller without a session', async () => {
  const treasury = await foundTreasury();
  const stranger = await connect(treasury, await login(await enter('eve')));
  expect(stranger.status).toBe(403);
  expect((await connect(treasury, '')).status).toBe(401);
});

test('a removed member receives no later events', async () => {
  const treasury = await foundTreasury();
  const { next } = await listen(treasury, await login(treasury.carol));
  await changePolicy(treasury, { signers: [treasury.alice.id, treasury.bob.id] });
  await asService(`DELETE /internal/vault/${treasury.id}/member/${treasury.carol.id}`);
  await created(treasury);
  expect(await next()).toBeNull();
});

test('a user who logs out receives no later events', async () => {
  const treasury = await foundTreasury();
  const cookie = await login(treasury.bob);
  const { next } = await listen(treasury, cookie);
  const headers = { cookie, origin: 'http://conclave.test' };
  expect((await call('DELETE /session', { headers })).status).toBe(204);
  await created(treasury);
  expect(await next()).toBeNull();
});

test('a session has four streams and a person twenty, and a closed stream makes room', async () => {
  const treasury = await foundTreasury();
  const first = await login(treasury.bob);
  const streams = await Promise.all([1, 2, 3, 4].map(() => listen(treasury, first)));
  const refused = await connect(treasury, first);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
  expect(await refused.json()).toMatchObject({ code: 'quota-exceeded' });
  await streams[0]?.close();
  await vi.waitFor(async () => expect(await opened(treasury, first)).toBe(200), PATIENCE_MS);
  const statuses: number[] = [];
  for (let session = 0; session < 5; session++) {
    const cookie = await login(treasury.bob);
    for (let i = 0; i < 4; i++) statuses.push(await opened(treasury, cookie));
  }
  // Four of the first session are open, so sixteen of the others are.
  expect(statuses.filter((status) => status === 200)).toHaveLength(16);
  expect(statuses.filter((status) => status === 429)).toHaveLength(4);
  const slots = coordinator.PERSON.getByName(`person:${treasury.bob.id}`);
  await evictDurableObject(slots);
  expect(await opened(treasury, await login(treasury.bob))).toBe(429);
  // The streams of another person are counted separately.
  expect(await opened(treasury, await login(treasury.alice))).toBe(200);
});

test('a request for the headers alone opens no stream', async () => {
  const treasury = await foundTreasury();
  const cookie = await login(treasury.bob);
  for (let i = 0; i < 4; i++) {
    const { status, headers } = await connectTo(eventsOf(treasury), { cookie, method: 'HEAD' });
    expect([status, headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  }
  expect(await opened(treasury, cookie)).toBe(200);
});

test('a stream ends after ten minutes, and one that never reported its end frees its slot', async () => {
  const treasury = await foundTreasury();
  const cookie = await login(treasury.bob);
  const stream = await listen(treasury, cookie);
  const person = coordinator.PERSON.getByName(`person:${treasury.bob.id}`);
  const sessionId = parseTokenId('0'.repeat(16));
  if (sessionId === null) throw new Error('the id must parse');
  for (const streamId of ['a', 'b']) expect(await person.openStream({ streamId, sessionId })).toBe(true);
  const nowMs = Date.now();
  vi.useFakeTimers({ toFake: ['Date'], now: nowMs + STREAM_MS });
  const next = stream.next();
  // A change wakes the stream, and its time is over.
  await receives(treasury, '0xaa');
  for (let event = await next; event !== null; event = await stream.next()) expect(event).not.toBeNull();
  vi.setSystemTime(nowMs + 2 * STREAM_MS);
  for (const streamId of ['c', 'd', 'e', 'f']) expect(await person.openStream({ streamId, sessionId })).toBe(true);
  expect(await person.openStream({ streamId: 'e', sessionId })).toBe(true);
  expect(await person.openStream({ streamId: 'g', sessionId })).toBe(false);
  vi.useRealTimers();
});

test('a client that was away for more than two hundred changes loads its page again', async () => {
  const treasury = await foundTreasury();
  const cookie = await login(treasury.bob);
  const vaultId = parseVaultId(treasury.id);
  if (vaultId === null) throw new Error('the vault has a number');
  for (let i = 0; i < 210; i++) await receives(treasury, `0xb${i}`);
  const { next } = await listen(treasury, cookie, '1', true);
  expect(await next()).toEqual({ event: 'reload', data: {}, id: expect.stringMatching(/^[0-9]+$/) });
  await receives(treasury, '0xcc');
  expect(await next()).toMatchObject({ event: 'transaction', data: { txHash: '0xcc' } });
});

/** Opens a stream for the rest of the test, and returns the status. */
async function opened(treasury: Treasury, cookie: string): Promise<number> {
  const response = await connect(treasury, cookie);
  if (response.status === 200) keepOpen(() => response.body?.cancel() ?? Promise.resolve());
  return response.status;
}
