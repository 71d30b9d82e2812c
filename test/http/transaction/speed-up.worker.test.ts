import { expect, test } from 'vitest';
import { call, enter, foundTreasury, RECIPIENT } from '../scene.worker.ts';

/** Covers the requested speed. test/chains covers what each speed costs. */

const BODY = { chain: 'anvil', to: RECIPIENT, amount: '1000' };

test('the record has the requested speed, which is normal by default and not part of the intent', async () => {
  const treasury = await foundTreasury();
  const create = (speed?: string) =>
    call('POST /transaction/transfer', {
      token: treasury.alice.token,
      body: { ...BODY, vaultId: treasury.id, ...(speed === undefined ? {} : { speed }) },
    });
  const speeds: unknown[] = [];
  for (const speed of [undefined, 'slow', 'normal', 'fast']) {
    const { status, body } = await create(speed);
    const challenge = await call(`GET /transaction/${body['id']}/challenge`, { token: treasury.bob.token });
    speeds.push([status, body['speed'], 'speed' in challenge.body['intent']]);
  }
  expect(speeds).toEqual([
    [201, 'normal', false],
    [201, 'slow', false],
    [201, 'normal', false],
    [201, 'fast', false],
  ]);
  const wrong = await create('warp');
  expect([wrong.status, wrong.body['errors'][0].pointer]).toEqual([400, '/speed']);
});

test('a repeated Idempotency-Key with another speed is refused', async () => {
  const treasury = await foundTreasury();
  const create = (speed: string) =>
    call('POST /transaction/transfer', {
      token: treasury.alice.token,
      body: { ...BODY, vaultId: treasury.id, speed },
      headers: { 'idempotency-key': 'once' },
    });
  expect((await create('slow')).status).toBe(201);
  const replayed = await create('slow');
  expect([replayed.status, replayed.body['speed']]).toEqual([201, 'slow']);
  const other = await create('fast');
  expect([other.status, other.body['code']]).toEqual([422, 'idempotency-key-reused']);
});

test('a message has no speed', async () => {
  const treasury = await foundTreasury();
  const body = { vaultId: treasury.id, chain: 'anvil', message: 'hello' };
  const made = await call('POST /transaction/message', { token: treasury.alice.token, body });
  expect([made.status, made.body['speed']]).toEqual([201, null]);
  const hurried = await call('POST /transaction/message', {
    token: (await enter('nobody')).token,
    body: { ...body, speed: 'fast' },
  });
  expect(hurried.status).toBe(400);
});
