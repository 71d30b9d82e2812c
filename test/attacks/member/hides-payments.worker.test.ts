/**
 * Attack: an initiator hides payments of others from the lists of all signers, and creates one that
 *   is hidden while two signers approve it, so that the others do not see that it is made.
 * Attacker: member
 * Co-signers: 0
 * Finding: S9
 * Defence: a pending payment is hidden by its creator or an admin alone, and waits for signers in
 *   any case. Its approval shows it, and after its end an admin alone hides it.
 */
import { expect, test } from 'vitest';
import type { Answer, Person, Treasury } from '../../http/scene.worker.ts';
import { anotherToken, call, created, enter, join, foundTreasury } from '../../http/scene.worker.ts';

const outcome = ({ status, body }: Answer) => [status, body['code']];

async function hide(person: Person, id: string, visible = false): Promise<Answer> {
  const { token } = await anotherToken(person);
  return call(`PATCH /transaction/${id}/visibility`, { token, body: { visible } });
}

async function listed({ id, victor }: Treasury): Promise<readonly string[]> {
  const { token } = await anotherToken(victor);
  const { body } = await call(`GET /vault/${id}/transactions`, { token });
  return body['transactions'].map((one: { id: string }) => one.id);
}

test('an initiator hides no payment of another member', async () => {
  const [treasury, initiator] = [await foundTreasury(), await enter('initiator')];
  await join(treasury, initiator, ['initiator']);
  const id = String((await created(treasury)).body['id']);
  for (const person of [initiator, treasury.bob]) expect(outcome(await hide(person, id))).toEqual([403, 'forbidden']);
  expect(await listed(treasury)).toEqual([id]);
});

test('a payment that its creator hid waits for the signers, and is shown when it is approved', async () => {
  const treasury = await foundTreasury();
  const { alice, bob, carol } = treasury;
  const id = String((await created(treasury)).body['id']);
  expect((await hide(alice, id)).status).toBe(200);
  expect(await listed(treasury)).toEqual([]);
  const pending = await call('GET /user/me/pending', { token: carol.token });
  expect(pending.body['data'].map(({ id: one }: { id: string }) => one)).toEqual([id]);
  for (const { token } of [alice, bob]) {
    expect((await call(`POST /transaction/${id}/approve`, { token })).status).toBe(200);
  }
  expect(await listed(treasury)).toEqual([id]);
  expect(outcome(await hide(alice, id))).toEqual([403, 'forbidden']);
});

test('after the end of an approved payment an admin alone hides it, and any curator shows it again', async () => {
  const [treasury, admin] = [await foundTreasury(), await enter('admin')];
  await join(treasury, admin, ['admin']);
  const id = String((await created(treasury)).body['id']);
  for (const act of ['approve', 'reject']) {
    expect((await call(`POST /transaction/${id}/${act}`, { token: treasury.bob.token })).status).toBe(200);
  }
  expect(outcome(await hide(treasury.alice, id))).toEqual([403, 'forbidden']);
  expect((await hide(admin, id)).status).toBe(200);
  expect(await listed(treasury)).toEqual([]);
  expect((await hide(treasury.bob, id, true)).status).toBe(200);
  expect(await listed(treasury)).toEqual([id]);
});
