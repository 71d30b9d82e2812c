/**
 * Attack: the thief of a service key requests a credential reset for a signer and waits for the
 *   delay to pass.
 * Attacker: operator
 * Co-signers: 0
 * Finding: P4
 * Defence: the person, any member of a vault of the person, or a device of the person can cancel
 *   the reset, which then gives no credential.
 */
import { afterEach, expect, test, vi } from 'vitest';
import { ScriptDevice } from '#cli/device/script-device.ts';
import { call, asService, changePolicy, foundTreasury, login } from '../../http/scene.worker.ts';
import type { Treasury } from '../../http/scene.worker.ts';
import { collected, DAY_MS, historyOf, later, notified, outcome, requested, treasuryInUse } from './thief.worker.ts';

afterEach(() => {
  vi.useRealTimers();
});

async function yieldsNothing(treasury: Treasury, resetId: string): Promise<void> {
  later(2 * DAY_MS);
  const answers = await collected(treasury.bob, resetId);
  expect(answers.map(outcome)).toEqual(answers.map(() => [409, 'credential-reset-not-pending']));
  expect(answers.map(({ body }) => body['state'])).toEqual(answers.map(() => 'CANCELLED'));
}

test('a viewer of the vault cancels the reset of a signer, and all members are notified of both events', async () => {
  const treasury = await treasuryInUse();
  const resetId = await requested(treasury.bob);
  const members = [treasury.alice, treasury.bob, treasury.carol, treasury.victor].map(({ id }) => id);
  expect((await notified(treasury, resetId)).toSorted()).toEqual(members.toSorted());
  const { token } = treasury.victor;
  const listed = await call(`GET /vault/${treasury.id}/credential-reset`, { token });
  expect(listed.body['data']).toMatchObject([{ id: resetId, userId: treasury.bob.id, state: 'PENDING' }]);
  const line = `POST /vault/${treasury.id}/credential-reset/${resetId}/cancel`;
  const cancelled = await call(line, { token });
  expect([cancelled.status, cancelled.body['state'], cancelled.body['cancelledBy'].userId]).toEqual([
    200,
    'CANCELLED',
    treasury.victor.id,
  ]);
  expect((await call(line, { token })).status).toBe(200);
  expect(await historyOf(treasury, resetId)).toMatchObject([
    { action: 'request-credential-reset', by: null, detail: { userId: treasury.bob.id } },
    { action: 'cancel-credential-reset', by: treasury.victor.id, detail: { cancelledBy: treasury.victor.id } },
  ]);
  await yieldsNothing(treasury, resetId);
});

test('a person cancels the own reset with an own credential, even after the delay', async () => {
  const treasury = await treasuryInUse();
  const resetId = await requested(treasury.bob);
  later(DAY_MS + 1);
  const { token } = treasury.bob;
  const own = await call('GET /user/me/credential-reset', { token });
  expect(own.body['data']).toMatchObject([{ id: resetId, state: 'READY' }]);
  expect((await call(`POST /user/me/credential-reset/${resetId}/cancel`, { token })).body['state']).toBe('CANCELLED');
  await yieldsNothing(treasury, resetId);
});

test('a person who has lost every credential cancels the reset with a device of the policy', async () => {
  const treasury = await treasuryInUse();
  const [device, mallorys] = [ScriptDevice.create(), ScriptDevice.create()];
  const { alice, bob } = treasury;
  await changePolicy(treasury, { addDevices: [device.enrolment(bob.id), mallorys.enrolment(alice.id)] });
  const resetId = await requested(bob);
  const listed = await call(`GET /vault/${treasury.id}/credential-reset`, { token: alice.token });
  const { digest }: { digest: string } = listed.body['data'][0];
  const line = `POST /vault/${treasury.id}/credential-reset/${resetId}/cancel-by-device`;
  // The approvals are by a device of another person, by an unknown device, and over another digest.
  for (const body of [mallorys.sign(digest), ScriptDevice.create().sign(digest), device.sign('00'.repeat(32))]) {
    expect(outcome(await call(line, { body }))).toEqual([403, 'device-signature-refused']);
  }
  const elsewhere = await foundTreasury();
  const wrong = line.replace(`/${treasury.id}/`, `/${elsewhere.id}/`);
  expect(outcome(await call(wrong, { body: device.sign(digest) }))).toEqual([404, 'credential-reset-not-found']);
  const cancelled = await call(line, { body: device.sign(digest) });
  expect([cancelled.status, cancelled.body['cancelledBy']]).toMatchObject([200, { userId: bob.id }]);
  expect(await historyOf(treasury, resetId)).toMatchObject([
    { action: 'request-credential-reset' },
    {
      action: 'cancel-credential-reset',
      by: null,
      detail: { cancelledBy: bob.id, device: expect.any(String) as string },
    },
  ]);
  await yieldsNothing(treasury, resetId);
});

test('members of other vaults cannot see or cancel the reset', async () => {
  const [treasury, elsewhere] = [await treasuryInUse(), await treasuryInUse()];
  const resetId = await requested(treasury.bob);
  const { token } = elsewhere.alice;
  const cancel = (vaultId: number) => call(`POST /vault/${vaultId}/credential-reset/${resetId}/cancel`, { token });
  expect(outcome(await cancel(treasury.id))).toEqual([403, 'forbidden']);
  expect(outcome(await cancel(elsewhere.id))).toEqual([404, 'credential-reset-not-found']);
  const own = await call(`POST /user/me/credential-reset/${resetId}/cancel`, { token });
  expect(outcome(own)).toEqual([404, 'credential-reset-not-found']);
  expect((await asService(`POST /internal/user/${treasury.bob.id}/credential-reset`)).status).toBe(200);
});

test('a thief who requests resets repeatedly is refused after five in a day', async () => {
  const treasury = await treasuryInUse();
  const path = `/internal/user/${treasury.bob.id}/credential-reset`;
  const headers = { cookie: await login(treasury.bob), origin: 'http://conclave.test' };
  for (let i = 0; i < 5; i++) {
    const resetId = await requested(treasury.bob);
    await call(`POST /user/me/credential-reset/${resetId}/cancel`, { headers });
  }
  expect(outcome(await asService(`POST ${path}`))).toEqual([409, 'too-many-credential-resets']);
  later(DAY_MS + 1);
  expect((await asService(`POST ${path}`)).status).toBe(201);
});
