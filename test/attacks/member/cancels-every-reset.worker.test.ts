/**
 * Attack: a hostile member cancels every credential reset of a person who has lost all credentials,
 *   so that the person never gets another one.
 * Attacker: member
 * Co-signers: 0
 * Finding: F14
 * Defence: a member cancels at most one reset of the same person within 90 days, and so does a
 *   token of the person. A session and a device of the person cancel any number.
 */
import { afterEach, expect, test, vi } from 'vitest';
import { ScriptDevice } from '#cli/device/script-device.ts';
import type { Answer, Person, Treasury } from '../../http/scene.worker.ts';
import { anotherToken, asService, call, changePolicy, foundTreasury, join, login } from '../../http/scene.worker.ts';
import { DAY_MS, later, outcome, requested, treasuryInUse } from '../operator/thief.worker.ts';

afterEach(() => {
  vi.useRealTimers();
});

async function cancel(treasury: Treasury, person: Person, resetId: string): Promise<Answer> {
  const { token } = await anotherToken(person);
  return call(`POST /vault/${treasury.id}/credential-reset/${resetId}/cancel`, { token });
}

test('a member cancels one reset of a person, and the next one gives the person a credential', async () => {
  const treasury = await treasuryInUse();
  const { alice, bob } = treasury;
  const first = await requested(alice);
  expect((await cancel(treasury, bob, first)).body['state']).toBe('CANCELLED');
  // A repetition after a lost response is not a second cancellation.
  expect((await cancel(treasury, bob, first)).status).toBe(200);
  const second = await requested(alice);
  const refused = await cancel(treasury, bob, second);
  expect(outcome(refused)).toEqual([409, 'reset-cancellation-used']);
  expect(Date.parse(refused.body['availableAt'])).toBeGreaterThan(Date.now() + 89 * DAY_MS);
  later(DAY_MS + 1);
  const path = `/internal/user/${alice.id}/credential-reset/${second}`;
  expect((await asService(`POST ${path}/access-token`, { name: 'new' })).status).toBe(201);
});

test('a member cancels through another vault of the person, and is refused there too', async () => {
  const [treasury, elsewhere] = [await treasuryInUse(), await foundTreasury()];
  const { alice, bob } = treasury;
  for (const person of [alice, bob]) await join(elsewhere, person, ['viewer']);
  // Reading the vault updates the directory, from which the resets are announced.
  expect((await asService(`GET /internal/vault/${elsewhere.id}`)).status).toBe(200);
  const first = await requested(alice);
  expect((await cancel(treasury, bob, first)).body['state']).toBe('CANCELLED');
  const second = await requested(alice);
  expect(outcome(await cancel(elsewhere, bob, second))).toEqual([409, 'reset-cancellation-used']);
});

test('two members have one cancellation each, of each person', async () => {
  const treasury = await treasuryInUse();
  const { alice, bob, carol, victor } = treasury;
  for (const member of [bob, victor]) {
    expect((await cancel(treasury, member, await requested(alice))).body['state']).toBe('CANCELLED');
  }
  expect((await cancel(treasury, bob, await requested(carol))).body['state']).toBe('CANCELLED');
  const third = await requested(alice);
  for (const member of [bob, victor]) {
    expect(outcome(await cancel(treasury, member, third))).toEqual([409, 'reset-cancellation-used']);
  }
});

test('a token of the person cancels one reset, and the next one gives the person a credential', async () => {
  const treasury = await treasuryInUse();
  const { alice } = treasury;
  const byThief = async (resetId: string, path = '/user/me') => {
    const { token } = await anotherToken(alice);
    return call(`POST ${path}/credential-reset/${resetId}/cancel`, { token });
  };
  expect((await byThief(await requested(alice))).body['state']).toBe('CANCELLED');
  const second = await requested(alice);
  expect(outcome(await byThief(second))).toEqual([409, 'reset-cancellation-used']);
  expect(outcome(await byThief(second, `/vault/${treasury.id}`))).toEqual([409, 'reset-cancellation-used']);
  later(DAY_MS + 1);
  const path = `/internal/user/${alice.id}/credential-reset/${second}`;
  expect((await asService(`POST ${path}/access-token`, { name: 'new' })).status).toBe(201);
});

test('a session and a device of the person cancel every reset', async () => {
  const treasury = await treasuryInUse();
  const { alice } = treasury;
  const device = ScriptDevice.create();
  await changePolicy(treasury, { addDevices: [device.enrolment(alice.id)] });
  for (let i = 0; i < 2; i++) {
    const resetId = await requested(alice);
    const headers = { cookie: await login(alice), origin: 'http://conclave.test' };
    const own = await call(`POST /user/me/credential-reset/${resetId}/cancel`, { headers });
    expect(own.body['state']).toBe('CANCELLED');
  }
  for (let i = 0; i < 2; i++) {
    const resetId = await requested(alice);
    const { token } = treasury.victor;
    const listed = await call(`GET /vault/${treasury.id}/credential-reset`, { token });
    const { digest }: { digest: string } = listed.body['data'][0];
    const line = `POST /vault/${treasury.id}/credential-reset/${resetId}/cancel-by-device`;
    expect((await call(line, { body: device.sign(digest) })).body['state']).toBe('CANCELLED');
  }
});

test('a member cancels a reset again when 90 days have passed, and not a millisecond earlier', async () => {
  const treasury = await treasuryInUse();
  const { alice, bob } = treasury;
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
  expect((await cancel(treasury, bob, await requested(alice))).body['state']).toBe('CANCELLED');
  later(90 * DAY_MS - 1);
  const second = await requested(alice);
  expect(outcome(await cancel(treasury, bob, second))).toEqual([409, 'reset-cancellation-used']);
  later(1);
  expect((await cancel(treasury, bob, second)).body['state']).toBe('CANCELLED');
});
