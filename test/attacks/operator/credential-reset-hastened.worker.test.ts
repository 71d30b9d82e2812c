/**
 * Attack: the thief of a service key tries to shorten the delay of a credential reset, or to keep
 *   it from being announced to a vault.
 * Attacker: operator
 * Co-signers: 0
 * Finding: P4
 * Defence: the announced time is stored and only moves later, and nothing is issued before every
 *   vault has been informed for the whole delay.
 */
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { afterEach, expect, test, vi } from 'vitest';
import { parseUserId } from '#domain/id.ts';
import { personStub } from '#objects/person/stub.ts';
import { call, asService, coordinator, foundTreasury } from '../../http/scene.worker.ts';
import { collected, DAY_MS, HOUR_MS, historyOf, later, outcome, requested, treasuryInUse } from './thief.worker.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

function personOf(id: string) {
  const userId = parseUserId(id);
  if (userId === null) throw new Error('a person has an id');
  return personStub(coordinator, userId);
}

/** Gives other bindings to the object of a person until the object leaves the memory. */
async function bind(id: string, bindings: object): Promise<void> {
  await runInDurableObject(personOf(id), (instance) => {
    const bound = instance as unknown as { env: object };
    bound.env = { ...bound.env, ...bindings };
  });
}

/** A D1 directory that does not answer. */
const UNREACHABLE = { prepare: () => never() };

test('a second request for a reset returns the pending one with its time', async () => {
  const { bob } = await treasuryInUse();
  const path = `/internal/user/${bob.id}/credential-reset`;
  const first = await asService(`POST ${path}`);
  later(20 * HOUR_MS);
  const second = await asService(`POST ${path}`);
  expect([first.status, second.status, second.body]).toEqual([201, 200, first.body]);
  const early = await collected(bob, first.body['id']);
  expect(early.map(outcome)).toEqual(early.map(() => [409, 'credential-reset-not-ready']));
});

test('a shorter delay setting does not change an announced reset', async () => {
  const { bob } = await treasuryInUse();
  const resetId = await requested(bob);
  await bind(bob.id, { CREDENTIAL_RESET_DELAY_SECONDS: '3600' });
  later(2 * HOUR_MS);
  expect((await asService(`POST /internal/user/${bob.id}/credential-reset`)).body['id']).toBe(resetId);
  const early = await collected(bob, resetId);
  expect(early.map(outcome)).toEqual(early.map(() => [409, 'credential-reset-not-ready']));
});

test('a vault that is informed late gets the whole delay', async () => {
  const treasury = await treasuryInUse();
  const resetId = await requested(treasury.bob);
  const joined = await foundTreasury();
  later(23 * HOUR_MS);
  await asService(`PUT /internal/vault/${joined.id}/member/${treasury.bob.id}`, { roles: ['viewer'] });
  await asService(`GET /internal/vault/${joined.id}`);
  later(2 * HOUR_MS);
  // The first attempt to collect finds the vault and informs it. The delay starts again.
  const early = await collected(treasury.bob, resetId);
  expect(early.map(outcome)).toEqual(early.map(() => [409, 'credential-reset-not-ready']));
  expect((await historyOf(joined, resetId)).map(({ action }) => action)).toEqual(['request-credential-reset']);
  later(23 * HOUR_MS);
  expect(outcome((await collected(treasury.bob, resetId))[0] ?? early[0] ?? never())).toEqual([
    409,
    'credential-reset-not-ready',
  ]);
  later(HOUR_MS + 60_000);
  const path = `/internal/user/${treasury.bob.id}/credential-reset/${resetId}/session`;
  expect((await asService(`POST ${path}`)).status).toBe(201);
});

test('no token is issued while the directory does not answer or a vault of the person cannot be notified', async () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  const { bob } = await treasuryInUse();
  await bind(bob.id, { DB: UNREACHABLE });
  const resetId = await requested(bob);
  later(2 * DAY_MS);
  const answers = await collected(bob, resetId);
  expect(answers.map(outcome)).toEqual(answers.map(() => [409, 'credential-reset-not-ready']));
  await bind(bob.id, { DB: coordinator.DB });
  // The vault is informed only now, so its members have the whole delay.
  const late = await collected(bob, resetId);
  expect(late.map(outcome)).toEqual(late.map(() => [409, 'credential-reset-not-ready']));
  const own = await call('GET /user/me/credential-reset', { token: bob.token });
  expect(Date.parse(own.body['data'][0].effectiveAt)).toBeGreaterThan(Date.now() + 23 * HOUR_MS);
  said.mockRestore();
});

test('the alarm announces a reset that could not be announced, and announces it once', async () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  const treasury = await treasuryInUse();
  await bind(treasury.bob.id, { DB: UNREACHABLE });
  const resetId = await requested(treasury.bob);
  expect(await historyOf(treasury, resetId)).toEqual([]);
  // As after a crash, the object is loaded from its storage with the usual bindings of the service.
  await evictDurableObject(personOf(treasury.bob.id));
  expect(await runDurableObjectAlarm(personOf(treasury.bob.id))).toBe(true);
  await runDurableObjectAlarm(personOf(treasury.bob.id));
  expect((await historyOf(treasury, resetId)).map(({ action }) => action)).toEqual(['request-credential-reset']);
  said.mockRestore();
});

test('a delay setting below an hour is refused, and no reset is requested', async () => {
  const said = vi.spyOn(console, 'error').mockImplementation(() => {});
  const { bob } = await treasuryInUse();
  await bind(bob.id, { CREDENTIAL_RESET_DELAY_SECONDS: '0' });
  expect((await asService(`POST /internal/user/${bob.id}/credential-reset`)).status).toBe(500);
  expect((await asService(`GET /internal/user/${bob.id}/credential-reset`)).body['data']).toEqual([]);
  said.mockRestore();
});

function never(): never {
  throw new Error('this does not answer');
}
