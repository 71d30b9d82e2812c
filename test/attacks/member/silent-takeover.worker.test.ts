/**
 * Attack: two of three signers work together, or their devices are stolen. They remove the third
 *   signer and adopt the change at once, and an operator adds an admin. The third signer and the
 *   other members learn of it when the money is gone.
 * Attacker: member
 * Co-signers: 0
 * Finding: S5
 * Defence: every member is notified of a proposed and of an ended policy change, and of changes of
 *   members, roles and access. The member whom a change removes is notified, too.
 */
import { afterEach, expect, test, vi } from 'vitest';
import type { Person, Treasury } from '../../http/scene.worker.ts';
import { asPerson, asService, enter, foundTreasury } from '../../http/scene.worker.ts';
import { pushService, sentNotifications, subscribed } from '../../worker/push-scene.worker.ts';

afterEach(() => vi.unstubAllGlobals());

const titles = (messages: readonly Record<string, unknown>[]) => messages.map(({ title }) => title);

async function proposed(treasury: Treasury, by: Person, body: object): Promise<string> {
  const { status, body: change } = await asPerson(by, `POST /vault/${treasury.id}/policy-change`, body);
  expect(status).toBe(201);
  return String(change['id']);
}

test('the signer whom two others remove within a second is notified', async () => {
  const treasury = await foundTreasury();
  const { id, alice, bob, carol, victor } = treasury;
  const [browser, other] = [await subscribed(carol), await subscribed(victor)];
  const { read } = pushService();
  const change = await proposed(treasury, alice, { signers: [alice.id, bob.id], threshold: 1 });
  for (const person of [alice, bob]) await asPerson(person, `POST /vault/${id}/policy-change/${change}/approve`);
  await sentNotifications(treasury);
  const message = {
    kind: 'policy-change',
    title: 'Treasury: policy change adopted',
    body: 'Policy version 2. 2 of 3 signers becomes 1 of 2. It removes 1 of 3 signers.',
    transactionId: change,
    vaultId: id,
  };
  expect([await read(browser), await read(other)]).toEqual([[message], [message]]);
});

test('members are notified of a proposal, its rejection and its cancellation, and the creator of the proposal is not', async () => {
  const treasury = await foundTreasury();
  const { id, alice, bob, carol } = treasury;
  const [creator, signer] = [await subscribed(alice), await subscribed(bob)];
  const { read } = pushService();
  const change = await proposed(treasury, alice, { threshold: 3 });
  await sentNotifications(treasury);
  expect([await read(creator), titles(await read(signer))]).toEqual([[], ['Treasury: policy change proposed']]);
  for (const person of [bob, carol]) await asPerson(person, `POST /vault/${id}/policy-change/${change}/reject`);
  await sentNotifications(treasury);
  expect([titles(await read(creator)), titles(await read(signer)).at(-1)]).toEqual([
    ['Treasury: policy change rejected'],
    'Treasury: policy change rejected',
  ]);
  const second = await proposed(treasury, alice, { threshold: 1 });
  await asPerson(alice, `POST /vault/${id}/policy-change/${second}/cancel`);
  await sentNotifications(treasury);
  expect(titles(await read(signer)).at(-1)).toBe('Treasury: policy change cancelled');
});

test('members are notified when an operator adds, changes or removes a member, and so is that member', async () => {
  const treasury = await foundTreasury();
  await sentNotifications(treasury);
  const newcomer = await enter('newcomer');
  const [signer, added] = [await subscribed(treasury.bob), await subscribed(newcomer)];
  const { read } = pushService();
  const member = `PUT /internal/vault/${treasury.id}/member/${newcomer.id}`;
  expect((await asService(member, { roles: ['admin', 'initiator'] })).status).toBe(200);
  await sentNotifications(treasury);
  const message = {
    kind: 'vault',
    title: 'Treasury: members changed',
    body: 'An operator set the roles of a member: admin, initiator. A new member accepts or declines the vault.',
    transactionId: expect.any(String),
    vaultId: treasury.id,
  };
  expect([await read(signer), await read(added)]).toEqual([[message], [message]]);
  expect((await asService(member.replace('PUT', 'DELETE'))).status).toBe(200);
  await sentNotifications(treasury);
  const bodies = (await read(added)).map(({ body }) => body);
  expect(bodies.at(-1)).toBe('An operator removed a member.');
});

test('members are notified when an admin disables a member, and an invited one of the new vault', async () => {
  const treasury = await foundTreasury();
  const { id, alice, carol } = treasury;
  const [signer, disabled] = [await subscribed(treasury.bob), await subscribed(carol)];
  const { read } = pushService();
  const admin = await enter('admin');
  await asService(`PUT /internal/vault/${id}/member/${admin.id}`, { roles: ['admin'] });
  await asPerson(admin, `POST /vault/${id}/accept`);
  await sentNotifications(treasury);
  expect((await asPerson(admin, `POST /vault/${id}/member/${carol.id}/disable`)).status).toBe(200);
  await sentNotifications(treasury);
  for (const browser of [signer, disabled]) {
    expect((await read(browser)).at(-1)?.['body']).toBe('An admin disabled the access of a member to this vault.');
  }
  const invited = await subscribed(alice);
  const twin = await asService('POST /internal/vault', {
    name: 'Twin',
    members: [{ userId: alice.id, roles: ['signer', 'initiator'] }],
    threshold: 1,
    approvalMode: 'token',
    initialState: 'SUBMITTED',
    chains: ['anvil'],
  });
  expect(twin.status).toBe(201);
  await sentNotifications({ id: Number(twin.body['id']) });
  expect(titles(await read(invited))).toEqual(['Twin: invitation']);
});
