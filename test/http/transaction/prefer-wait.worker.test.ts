import { runInDurableObject } from 'cloudflare:test';
import { expect, test, vi } from 'vitest';
import type { VaultObject } from '#objects/vault/doors/object.ts';
import type { Answer, Treasury } from '../scene.worker.ts';
import { call, asService, coordinator, created, foundTreasury, PATIENCE_MS } from '../scene.worker.ts';
import { vaultOf } from '../../objects/vault/vault-of.ts';

/**
 * Covers polling within twenty reads a minute: a tag names the known version, and `Prefer: wait`
 * waits for changes.
 */

interface Read {
  readonly tag?: string;
  readonly wait?: string;
  readonly as?: 'alice' | 'victor' | 'mallory';
}

function read(treasury: Treasury, id: string, { tag, wait, as = 'victor' }: Read = {}): Promise<Answer> {
  const headers = {
    ...(tag === undefined ? {} : { 'if-none-match': tag }),
    ...(wait === undefined ? {} : { prefer: wait }),
  };
  return call(`GET /transaction/${id}`, { token: treasury[as].token, headers });
}

async function scene() {
  const treasury = await foundTreasury();
  const { body } = await created(treasury);
  const id: string = body['id'];
  const approve = () => call(`POST /transaction/${id}/approve`, { token: treasury.alice.token });
  return { treasury, id, approve };
}

test('a caller who has the newest record gets 304 without a body, with the usual rate-limit headers', async () => {
  const { treasury, id, approve } = await scene();
  const first = await read(treasury, id);
  const tag = first.headers.get('etag') ?? '';
  expect(tag).toMatch(/^"[0-9a-f]{32}"$/);
  for (const known of [tag, `W/${tag}`, `"other", ${tag}`]) {
    const again = await read(treasury, id, { tag: known });
    expect([known, again.status, again.body, again.headers.get('etag')]).toEqual([known, 304, {}, tag]);
    expect(again.headers.get('ratelimit')).toMatch(/^"read";r=\d+;t=\d+$/);
    expect(again.headers.get('x-request-id')).toBeTruthy();
  }
  expect((await read(treasury, id, { tag: '"other"' })).status).toBe(200);
  expect((await read(treasury, id, { tag: '*' })).status).toBe(200);
  await approve();
  const changed = await read(treasury, id, { tag });
  expect([changed.status, changed.body['approvalsCounted']]).toEqual([200, 1]);
  expect(changed.headers.get('etag')).not.toBe(tag);
});

test('the list has an entity tag too', async () => {
  const { treasury, approve } = await scene();
  const list = (tag = '') =>
    call(`GET /vault/${treasury.id}/transactions`, {
      token: treasury.victor.token,
      headers: { 'if-none-match': tag },
    });
  const tag = (await list()).headers.get('etag') ?? '';
  expect((await list(tag)).status).toBe(304);
  await approve();
  expect((await list(tag)).status).toBe(200);
});

test('the tag of one reader does not match for another reader, who has other permissions', async () => {
  const { treasury, id } = await scene();
  const hers = (await read(treasury, id, { as: 'alice' })).headers.get('etag') ?? '';
  expect((await read(treasury, id, { tag: hers })).status).toBe(200);
});

test('a waiting caller gets the change when it happens', async () => {
  const { treasury, id, approve } = await scene();
  const tag = (await read(treasury, id)).headers.get('etag') ?? '';
  const waiting = read(treasury, id, { tag, wait: 'wait=30' });
  await untilPollWaits(treasury);
  await approve();
  const answer = await waiting;
  expect([answer.status, answer.body['approvalsCounted']]).toEqual([200, 1]);
  expect(answer.headers.get('preference-applied')).toBe('wait=30');
});

test('a change from before a waiting request is returned at once', async () => {
  const { treasury, id, approve } = await scene();
  const tag = (await read(treasury, id)).headers.get('etag') ?? '';
  await approve();
  const answer = await read(treasury, id, { tag, wait: 'wait=30' });
  expect([answer.status, answer.headers.get('preference-applied')]).toEqual([200, null]);
});

test('a wait without a change ends with 304 for a request with a tag, and with the record for one without', async () => {
  const { treasury, id } = await scene();
  const first = await read(treasury, id);
  const tag = first.headers.get('etag') ?? '';
  const [known, anew] = await Promise.all([
    read(treasury, id, { tag, wait: 'wait=1' }),
    read(treasury, id, { wait: 'respond-async, wait=1' }),
  ]);
  expect([known.status, known.headers.get('preference-applied')]).toEqual([304, 'wait=1']);
  expect([anew.status, anew.body]).toEqual([200, first.body]);
});

test('a wait counts as one read, and lasts thirty seconds at most', async () => {
  const { treasury, id } = await scene();
  const before = await read(treasury, id);
  const after = await read(treasury, id, { wait: 'wait=1' });
  const left = ({ headers }: Answer) => Number.parseInt(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1] ?? '', 10);
  expect(left(before) - left(after)).toBe(1);
  const approve = () => call(`POST /transaction/${id}/approve`, { token: treasury.alice.token });
  const long = read(treasury, id, { wait: 'wait=999999' });
  await untilPollWaits(treasury);
  await approve();
  expect((await long).headers.get('preference-applied')).toBe('wait=30');
});

test.each(['wait', 'wait=', 'wait=-1', 'wait=x', 'wait=1.5', 'await=9', 'wait=0', 'handling=strict'])(
  '%s is not a valid wait',
  async (wait) => {
    const { treasury, id } = await scene();
    const answer = await read(treasury, id, { wait });
    expect([answer.status, answer.headers.get('preference-applied')]).toEqual([200, null]);
  },
);

test('a member who is removed during a wait gets 403', async () => {
  const { treasury, id, approve } = await scene();
  const waiting = read(treasury, id, { wait: 'wait=30' });
  await untilPollWaits(treasury);
  await asService(`DELETE /internal/vault/${treasury.id}/member/${treasury.victor.id}`);
  await approve();
  expect((await waiting).status).toBe(403);
});

test('a stranger gets 403 without a wait', async () => {
  const { treasury, id } = await scene();
  expect((await read(treasury, id, { as: 'mallory', wait: 'wait=30' })).status).toBe(403);
});

/** Waits until the object of the vault holds a waiting request. */
async function untilPollWaits({ id }: Treasury): Promise<void> {
  const stub = vaultOf(coordinator, id);
  await vi.waitFor(async () => {
    const waiting = await runInDurableObject(stub, (vault) => (vault as unknown as VaultObject).changes.waiting);
    expect(waiting).toBe(1);
  }, PATIENCE_MS);
}
