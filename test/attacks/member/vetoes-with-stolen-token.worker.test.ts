/**
 * Attack: the thief of one token of a signer ends every payment of a vault in device mode, before
 *   and after its approval.
 * Attacker: member
 * Co-signers: 0
 * Finding: S2
 * Defence: in device mode a rejection of a transaction has a device signature over bytes of its own
 *   domain, and the token of a signer cancels only what its owner created.
 */
import { expect, test } from 'vitest';
import { ScriptDevice } from '#cli/device/script-device.ts';
import type { Answer, Person, Treasury } from '../../http/scene.worker.ts';
import { deviceTreasury } from '../../http/device-treasury.worker.ts';
import { anotherToken, asPerson, call, created } from '../../http/scene.worker.ts';

const post = (person: Person, path: string, body?: object) => asPerson(person, `POST ${path}`, body);

const outcome = ({ status, body }: Answer) => [status, body['code']];

async function challenge({ carol }: Treasury, id: string) {
  const { token } = await anotherToken(carol);
  return (await call(`GET /transaction/${id}/challenge`, { token })).body;
}

async function read({ victor }: Treasury, id: string) {
  const { token } = await anotherToken(victor);
  return (await call(`GET /transaction/${id}`, { token })).body;
}

/** Creates a payment of alice, which two of these signers approve with their devices. */
async function approved({ treasury, devices }: Awaited<ReturnType<typeof deviceTreasury>>): Promise<string> {
  const id = String((await created(treasury)).body['id']);
  const { digest } = await challenge(treasury, id);
  for (const name of ['alice', 'bob'] as const) {
    expect((await post(treasury[name], `/transaction/${id}/approve`, devices[name].sign(digest))).status).toBe(200);
  }
  expect((await read(treasury, id))['state']).toBe('SIGNING');
  return id;
}

test('a stolen token of a signer ends no pending payment, also with signatures that its owner gave', async () => {
  const { treasury, devices } = await deviceTreasury();
  const id = String((await created(treasury)).body['id']);
  const { digest, rejection } = await challenge(treasury, id);
  const path = `/transaction/${id}`;
  expect((await post(treasury.bob, `${path}/approve`, devices.bob.sign(digest))).status).toBe(200);
  expect(outcome(await post(treasury.bob, `${path}/reject`))).toEqual([403, 'device-signature-required']);
  for (const signature of [devices.bob.sign(digest), ScriptDevice.create().sign(rejection.digest)]) {
    expect(outcome(await post(treasury.bob, `${path}/reject`, signature))).toEqual([403, 'device-signature-refused']);
  }
  expect(outcome(await post(treasury.bob, `${path}/cancel`))).toEqual([403, 'forbidden']);
  expect(await read(treasury, id)).toMatchObject({ state: 'SUBMITTED', rejection: null, approvals: [{}] });
});

test('a signer rejects a pending payment with a device, and the record proves it', async () => {
  const { treasury, devices } = await deviceTreasury();
  const id = String((await created(treasury)).body['id']);
  const { rejection } = await challenge(treasury, id);
  const body = { ...devices.bob.sign(rejection.digest), reason: 'x'.repeat(500) };
  const rejected = await post(treasury.bob, `/transaction/${id}/reject`, body);
  expect([rejected.status, rejected.body['state'], rejected.body['alreadyCounted']]).toEqual([200, 'REJECTED', false]);
  const { reason, ...device } = body;
  expect(rejected.body['rejection']).toMatchObject({ userId: treasury.bob.id, device, reason });
  const again = await post(treasury.bob, `/transaction/${id}/reject`, body);
  expect([again.status, again.body['alreadyCounted']]).toEqual([200, true]);
  const long = await post(treasury.bob, `/transaction/${id}/reject`, { reason: 'x'.repeat(501) });
  expect(outcome(long)).toEqual([400, 'invalid-request']);
});

test('a stolen token of a signer stops no approved payment, and a device stops it', async () => {
  const scene = await deviceTreasury();
  const { treasury, devices } = scene;
  const id = await approved(scene);
  for (const act of ['cancel', 'reject']) {
    expect(outcome(await post(treasury.carol, `/transaction/${id}/${act}`))).toEqual([
      403,
      'device-signature-required',
    ]);
  }
  const { rejection } = await challenge(treasury, id);
  const { token } = await anotherToken(treasury.carol);
  const seen = await call(`GET /transaction/${id}`, { token });
  expect(seen.body['actionsForMe']).toEqual(['reject']);
  const stopped = await post(treasury.carol, `/transaction/${id}/reject`, devices.carol.sign(rejection.digest));
  expect([stopped.status, stopped.body['state'], stopped.body['stateReason']]).toEqual([200, 'SIGNING', 'CANCELLING']);
  expect(stopped.body['rejection']).toMatchObject({ userId: treasury.carol.id });
  const again = await post(treasury.carol, `/transaction/${id}/reject`, devices.carol.sign(rejection.digest));
  expect([again.status, again.body['alreadyCounted']]).toEqual([200, true]);
});

test('the creator of an approved payment still cancels it by a token', async () => {
  const scene = await deviceTreasury();
  const id = await approved(scene);
  const cancelled = await post(scene.treasury.alice, `/transaction/${id}/cancel`);
  expect([cancelled.status, cancelled.body['stateReason']]).toEqual([200, 'CANCELLING']);
});

test('one stolen device of a signer stops no payment where the policy requires two rejections', async () => {
  const scene = await deviceTreasury({ rejections: 2 });
  const { treasury, devices } = scene;
  const pending = String((await created(treasury)).body['id']);
  for (const id of [pending, await approved(scene)]) {
    const { rejection } = await challenge(treasury, id);
    const rejects = async (name: 'bob' | 'carol') => {
      const signed = { ...devices[name].sign(rejection.digest), reason: name };
      return post(treasury[name], `/transaction/${id}/reject`, signed);
    };
    const { state } = await read(treasury, id);
    const first = await rejects('carol');
    expect(first.body).toMatchObject({ state, stateReason: null, rejection: null, requiredRejections: 2 });
    expect(first.body['rejections']).toMatchObject([{ userId: treasury.carol.id, reason: 'carol' }]);
    expect((await rejects('carol')).body).toMatchObject({ state, alreadyCounted: true });
    const { token } = await anotherToken(treasury.carol);
    const seen = await call(`GET /transaction/${id}`, { token });
    expect(seen.body['actionsForMe']).not.toContain('reject');
    const stopped = (await rejects('bob')).body;
    expect(stopped['stateReason']).toBe(state === 'SIGNING' ? 'CANCELLING' : 'REJECTED_BY_SIGNER');
    expect(stopped['rejections']).toMatchObject([{ reason: 'carol' }, { reason: 'bob' }]);
  }
});
