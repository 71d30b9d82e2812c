/**
 * Attack: a hostile signer ends every policy change that removes the signer, by a rejection, a
 *   cancellation, or a rejection of any other change.
 * Attacker: member
 * Co-signers: 0
 * Finding: H3, F14
 * Defence: a change ends only when too few signers are left who can approve it, and a signer whom
 *   it removes counts neither for nor against it. A vault in which every signer must approve (2 of
 *   2) needs the approval of the removed signer, because co-signers need it.
 */
import { expect, test } from 'vitest';
import type { Answer, Person, Treasury } from '../../http/scene.worker.ts';
import { asPerson, foundTreasury } from '../../http/scene.worker.ts';

const post = (person: Person, path: string, body?: object) => asPerson(person, `POST ${path}`, body);

const changesOf = ({ id }: Treasury) => `/vault/${id}/policy-change`;
const outcome = ({ status, body }: Answer) => [status, body['code']];

/** Proposes the removal of bob, who is hostile. Returns the path of the change. */
async function removalOfBob(treasury: Treasury, proposer: Person = treasury.alice): Promise<string> {
  const signers = [treasury.alice.id, treasury.carol.id];
  const proposed = await post(proposer, changesOf(treasury), { signers });
  expect([proposed.status, proposed.body['state']]).toEqual([201, 'PENDING']);
  return `${changesOf(treasury)}/${proposed.body['id']}`;
}

test('a signer rejects the own removal, and the other signers adopt it', async () => {
  const treasury = await foundTreasury();
  const change = await removalOfBob(treasury);
  await post(treasury.alice, `${change}/approve`);
  expect(outcome(await post(treasury.bob, `${change}/reject`))).toEqual([403, 'removed-by-change']);
  const adopted = await post(treasury.carol, `${change}/approve`);
  expect([adopted.status, adopted.body['state'], adopted.body['rejections']]).toEqual([200, 'ADOPTED', []]);
  expect(outcome(await post(treasury.bob, `/vault/${treasury.id}/policy-change`, { threshold: 1 }))).toEqual([
    403,
    'forbidden',
  ]);
});

test('a signer proposes the own removal first and cancels it, and the other signers adopt it', async () => {
  const treasury = await foundTreasury();
  const change = await removalOfBob(treasury, treasury.bob);
  // A repeated proposal is the same change, which therefore has the creator that it had.
  expect(await removalOfBob(treasury)).toBe(change);
  await post(treasury.alice, `${change}/approve`);
  expect(outcome(await post(treasury.bob, `${change}/cancel`))).toEqual([403, 'removed-by-change']);
  expect((await post(treasury.carol, `${change}/approve`)).body['state']).toBe('ADOPTED');
});

test('a signer rejects a change that keeps the signer, and the other signers adopt it', async () => {
  const treasury = await foundTreasury();
  const proposed = await post(treasury.alice, changesOf(treasury), { threshold: 3 });
  const change = `${changesOf(treasury)}/${proposed.body['id']}`;
  for (let i = 0; i < 2; i++) {
    const rejected = await post(treasury.bob, `${change}/reject`);
    expect([rejected.status, rejected.body['state'], rejected.body['rejections'].length]).toEqual([200, 'PENDING', 1]);
  }
  await post(treasury.alice, `${change}/approve`);
  expect((await post(treasury.carol, `${change}/approve`)).body['state']).toBe('ADOPTED');
});

test('the remaining signers still end a removal that they do not want', async () => {
  const treasury = await foundTreasury();
  const change = await removalOfBob(treasury);
  const rejected = await post(treasury.carol, `${change}/reject`);
  expect([rejected.status, rejected.body['state']]).toEqual([200, 'REJECTED']);
  expect(outcome(await post(treasury.alice, `${change}/approve`))).toEqual([409, 'policy-change-not-pending']);
});
