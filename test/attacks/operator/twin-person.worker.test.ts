/**
 * Attack: the thief of a service key creates a person whose name looks like the name of a member,
 *   and members hide words in names and notes, so that signers trust another person or read another
 *   text.
 * Attacker: operator
 * Co-signers: 0
 * Finding: S14
 * Defence: names and notes with invisible characters or stacks of marks are refused. The dashboard
 *   shows what older texts hide, and the end of the id of a member whose name looks like another.
 */
import { expect, test } from 'vitest';
import type { Answer } from '../../http/scene.worker.ts';
import { anotherToken, asService, call, foundTreasury, login, payment } from '../../http/scene.worker.ts';

const outcome = ({ status, body }: Answer) => [status, body['errors']?.[0]?.pointer];

test('a name with an invisible part is refused, and a name that looks the same is marked', async () => {
  const treasury = await foundTreasury();
  for (const name of ['alice\u200B', 'alice\u2060', `alice${'\u0301'.repeat(300)}`.slice(0, 90)]) {
    const created = await asService('POST /internal/user', { name, email: 'twin@example.com' });
    expect(outcome(created)).toEqual([400, '/name']);
  }
  const twin = await asService('POST /internal/user', { name: '\u0430lice', email: 'twin@example.com' });
  const member = `/internal/vault/${treasury.id}/member/${twin.body['id']}`;
  expect((await asService(`PUT ${member}`, { roles: ['viewer'] })).status).toBe(200);
  // Reading the vault updates the directory.
  await asService(`GET /internal/vault/${treasury.id}`);
  const headers = { cookie: await login(treasury.victor), origin: 'http://conclave.test' };
  const { body } = await call('GET /session/vaults', { headers });
  const members: readonly { userId: string; hasNamesake: boolean }[] = body['data'][0].members;
  const marked = members.filter(({ hasNamesake }) => hasNamesake).map(({ userId }) => userId);
  expect(new Set(marked)).toEqual(new Set([treasury.alice.id, twin.body['id']]));
});

test('a note with an invisible part is refused, and nothing is stored', async () => {
  const treasury = await foundTreasury();
  for (const note of ['rent\u3164', 'rent\u{E0041}', 'rent\uFE0F']) {
    const { token } = await anotherToken(treasury.alice);
    const created = await call('POST /transaction/transfer', { token, body: payment(treasury, { note }) });
    expect(outcome(created)).toEqual([400, '/note']);
  }
  const { token } = treasury.victor;
  expect((await call(`GET /vault/${treasury.id}/transactions?visible=all`, { token })).body['transactions']).toEqual(
    [],
  );
});
