/**
 * Attack: the thief of a service key plants an admin, who cancels every payment and every policy
 *   change of the vault. Signers remove signers alone, and the thief adds the admin again.
 * Attacker: operator
 * Co-signers: 0
 * Finding: S11
 * Defence: a policy names excluded users. The quorum that adopts it removes them from the vault, in
 *   any role, and no operator adds them again while it is in force. No admin cancels the policy
 *   change of a signer.
 */
import { expect, test } from 'vitest';
import type { Answer } from '../../http/scene.worker.ts';
import { asPerson, asService, created, enter, foundTreasury, join } from '../../http/scene.worker.ts';

const outcome = ({ status, body }: Answer) => [status, body['code']];

test('a quorum removes an admin, and no operator adds the admin again', async () => {
  const treasury = await foundTreasury();
  const { id: vaultId, alice, bob, carol } = treasury;
  const planted = await join(treasury, await enter('alice'), ['admin', 'initiator']);
  const line = `/vault/${vaultId}/policy-change`;
  const proposed = await asPerson(bob, `POST ${line}`, { excludedMembers: [planted.id] });
  expect(proposed.status).toBe(201);
  const cancel = `POST ${line}/${proposed.body['id']}/cancel`;
  expect(outcome(await asPerson(planted, cancel))).toEqual([403, 'forbidden']);
  const accomplice = await join(treasury, await enter('bob'), ['admin']);
  expect(outcome(await asPerson(accomplice, cancel))).toEqual([403, 'forbidden']);
  const states: unknown[] = [];
  for (const person of [bob, carol]) {
    states.push((await asPerson(person, `POST ${line}/${proposed.body['id']}/approve`)).body['state']);
  }
  expect(states).toEqual(['PENDING', 'ADOPTED']);
  const payment = String((await created(treasury)).body['id']);
  expect(outcome(await asPerson(planted, `POST /transaction/${payment}/cancel`))).toEqual([403, 'forbidden']);
  const member = `/internal/vault/${vaultId}/member/${planted.id}`;
  expect(outcome(await asService(`PUT ${member}`, { roles: ['viewer'] }))).toEqual([409, 'needs-quorum']);
  expect(outcome(await asPerson(planted, `POST /vault/${vaultId}/accept`))).toEqual([403, 'forbidden']);
  const { body } = await asPerson(alice, `GET /vault/${vaultId}/policy`);
  expect(body).toMatchObject({ policy: { excludedMembers: [planted.id] } });
  const { body: listed } = await asPerson(alice, `GET /vault/${vaultId}/member`);
  expect(listed['data'].map(({ userId }: { userId: string }) => userId)).not.toContain(planted.id);
});

test('a quorum admits a person again, and excludes no signer', async () => {
  const treasury = await foundTreasury();
  const { id: vaultId, bob, carol, victor } = treasury;
  const adopt = async (patch: object) => {
    const proposed = await asPerson(bob, `POST /vault/${vaultId}/policy-change`, patch);
    if (proposed.status !== 201) return proposed.body['errors'];
    let decided: Answer | null = null;
    for (const person of [bob, carol]) {
      decided = await asPerson(person, `POST /vault/${vaultId}/policy-change/${proposed.body['id']}/approve`);
    }
    return decided?.body['state'];
  };
  expect(await adopt({ excludedMembers: [carol.id] })).toMatchObject([{ pointer: '/excludedMembers' }]);
  expect(await adopt({ excludedMembers: ['mallory'] })).toMatchObject([{ pointer: '/excludedMembers/0' }]);
  expect(await adopt({ excludedMembers: [victor.id] })).toBe('ADOPTED');
  const member = `/internal/vault/${vaultId}/member/${victor.id}`;
  expect((await asService(`PUT ${member}`, { roles: ['viewer'] })).status).toBe(409);
  expect(await adopt({ excludedMembers: [] })).toBe('ADOPTED');
  expect((await asService(`PUT ${member}`, { roles: ['viewer'] })).status).toBe(200);
  // The person returns as a new member does.
  expect(outcome(await asPerson(victor, `GET /vault/${vaultId}/policy`))).toEqual([403, 'vault-not-accepted']);
});
