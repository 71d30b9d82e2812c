/**
 * Attack: a hostile signer fills the queue of policy changes or of transactions, so that no other
 *   member can propose the removal of the signer or create a payment.
 * Attacker: member
 * Co-signers: 0
 * Finding: H3, F14
 * Defence: one person holds at most half of the pending transactions of a vault and two of its
 *   pending policy changes. The first pending change of a person that removes a signer needs no
 *   slot.
 */
import { expect, test } from 'vitest';
import type { Answer, Person, Treasury } from '../../http/scene.worker.ts';
import { anotherToken, call, enter, fillSlots, foundTreasury, payment } from '../../http/scene.worker.ts';

const outcome = ({ status, body }: Answer) => [status, body['code'] ?? null];
const codeOf = ({ body }: Answer): string => body['code'] ?? 'accepted';

async function propose({ id }: Treasury, person: Person, body: object): Promise<Answer> {
  const { token } = await anotherToken(person);
  return call(`POST /vault/${id}/policy-change`, { token, body });
}

async function pay(treasury: Treasury, person: Person): Promise<Answer> {
  const { token } = await anotherToken(person);
  return call('POST /transaction/transfer', { token, body: payment(treasury) });
}

const limit = (n: number) => ({ limits: [{ chain: 'anvil', perTransaction: String(n) }] });

test('one signer fills the queue of changes, and others propose ordinary changes and the removal of the signer', async () => {
  const treasury = await foundTreasury();
  const { alice, bob, carol } = treasury;
  const flood: Answer[] = [];
  for (let n = 1; n <= 10; n++) flood.push(await propose(treasury, bob, limit(n)));
  expect(flood.filter(({ status }) => status === 201)).toHaveLength(2);
  expect(flood.slice(2).map(codeOf)).toEqual(Array(8).fill('too-many-own-policy-changes'));
  for (const person of [alice, carol]) {
    expect(outcome(await propose(treasury, person, limit(100 + Number(person === carol))))).toEqual([201, null]);
  }
  expect(outcome(await propose(treasury, alice, { signers: [alice.id, carol.id] }))).toEqual([201, null]);
});

test('a signer proposes removals without end, and another signer proposes the removal of the signer', async () => {
  const treasury = await foundTreasury();
  const { alice, bob, carol } = treasury;
  const flood: Answer[] = [];
  // Each change removes alice, and differs from the others in its limit.
  for (let n = 1; n <= 6; n++) {
    flood.push(await propose(treasury, bob, { ...limit(n), signers: [bob.id, carol.id] }));
  }
  expect(flood.map(codeOf)).toEqual([
    ...Array<string>(3).fill('accepted'),
    ...Array<string>(3).fill('too-many-own-policy-changes'),
  ]);
  expect(outcome(await propose(treasury, alice, { signers: [alice.id, carol.id] }))).toEqual([201, null]);
});

test('the queue of changes is full, and a change that removes a signer is still accepted', async () => {
  const treasury = await foundTreasury();
  const { alice, bob, carol } = treasury;
  await fillSlots(treasury);
  expect(outcome(await propose(treasury, alice, limit(11)))).toEqual([409, 'too-many-policy-changes']);
  const removal = await propose(treasury, alice, { signers: [alice.id, carol.id] });
  expect(outcome(removal)).toEqual([201, null]);
  for (const person of [alice, carol]) {
    const { token } = await anotherToken(person);
    await call(`POST /vault/${treasury.id}/policy-change/${removal.body['id']}/approve`, { token });
  }
  expect(outcome(await propose(treasury, bob, limit(12)))).toEqual([403, 'forbidden']);
});

test('one signer fills the queue of transactions, and another member creates a payment', async () => {
  const treasury = await foundTreasury({ mostPending: 5 });
  const flood: Answer[] = [];
  for (let n = 0; n < 6; n++) flood.push(await pay(treasury, treasury.bob));
  expect(flood.map(codeOf)).toEqual([
    ...Array<string>(3).fill('accepted'),
    ...Array<string>(3).fill('too-many-own-pending'),
  ]);
  expect(flood.at(-1)?.body['detail']).toContain('You can have at most 3 pending transactions');
  expect(outcome(await pay(treasury, treasury.alice))).toEqual([201, null]);
  const first = flood[0]?.body['id'];
  const { token } = treasury.bob;
  expect((await call(`POST /transaction/${first}/cancel`, { token })).status).toBe(200);
  expect(outcome(await pay(treasury, treasury.bob))).toEqual([201, null]);
});

test('a member of another vault takes no slot of this one', async () => {
  const [treasury, elsewhere] = [await foundTreasury({ mostPending: 2 }), await enter('dora')];
  expect(outcome(await pay(treasury, elsewhere))).toEqual([403, 'forbidden']);
  for (const person of [treasury.alice, treasury.bob])
    expect(outcome(await pay(treasury, person))).toEqual([201, null]);
  expect(outcome(await pay(treasury, treasury.carol))).toEqual([409, 'too-many-pending']);
});
