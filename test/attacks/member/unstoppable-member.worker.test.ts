/**
 * Attack: a member whose credentials are stolen goes on in a vault while no operator is awake. And
 *   the reverse: a hostile admin stops the signers who would remove the admin.
 * Attacker: member
 * Co-signers: 0
 * Finding: S1
 * Defence: an admin stops a member, or one credential of a member, in the vault. The others always
 *   keep a quorum, and an admin changes nothing that an operator did.
 */
import { expect, test } from 'vitest';
import type { Answer, Person, Treasury } from '../../http/scene.worker.ts';
import {
  accept,
  anotherToken,
  asService,
  call,
  created,
  enter,
  join,
  foundTreasury,
  login,
} from '../../http/scene.worker.ts';

const outcome = ({ status, body }: Answer) => [status, body['code']];
const idOf = ({ token }: Person) => token.slice(12, 28);

async function withAdmin() {
  const [treasury, admin] = [await foundTreasury(), await enter('admin')];
  await join(treasury, admin, ['admin']);
  const act = async (line: string, actor = admin) => {
    const [method, path] = line.split(' ');
    return call(`${method} /vault/${treasury.id}/member/${path}`, { token: (await anotherToken(actor)).token });
  };
  return { treasury, admin, act };
}

async function approvalsOf({ victor }: Treasury, id: string): Promise<readonly string[]> {
  const { body } = await call(`GET /transaction/${id}`, { token: (await anotherToken(victor)).token });
  return body['approvals'].map(({ userId }: { userId: string }) => userId);
}

test('an admin stops a signer in the vault, and only there', async () => {
  const { treasury, admin, act } = await withAdmin();
  const { bob, id: vaultId } = treasury;
  const elsewhere = await asService('POST /internal/vault', {
    name: 'Other',
    members: [{ userId: bob.id, roles: ['signer'] }],
    threshold: 1,
    approvalMode: 'token',
    initialState: 'SUBMITTED',
    chains: ['anvil'],
  });
  await accept(elsewhere.body['id'], bob);
  const payment = String((await created(treasury)).body['id']);
  expect((await call(`POST /transaction/${payment}/approve`, { token: bob.token })).status).toBe(200);
  expect((await act(`POST ${bob.id}/disable`)).body).toEqual({ userId: bob.id, disabled: true });
  expect(await approvalsOf(treasury, payment)).toEqual([]);
  const forbidden = [403, 'forbidden'];
  expect(outcome(await call(`POST /transaction/${payment}/approve`, { token: bob.token }))).toEqual(forbidden);
  expect(outcome(await call(`GET /vault/${vaultId}/policy`, { token: bob.token }))).toEqual(forbidden);
  expect((await call(`GET /vault/${elsewhere.body['id']}/policy`, { token: bob.token })).status).toBe(200);
  const headers = { cookie: await login(bob), origin: 'http://conclave.test' };
  const { body: own } = await call('GET /session/vaults', { headers });
  expect(own['data'].map(({ id }: { id: number }) => id)).toEqual([elsewhere.body['id']]);
  const { body } = await call(`GET /vault/${vaultId}/member`, { token: treasury.victor.token });
  const listed: readonly Record<string, unknown>[] = body['data'];
  expect(listed.filter(({ disabled }) => disabled === true)).toEqual([
    {
      userId: bob.id,
      name: 'bob',
      roles: ['initiator', 'signer'],
      accepted: true,
      disabled: true,
      disabledBy: 'admin',
    },
  ]);
  expect((await act(`POST ${bob.id}/enable`)).body).toEqual({ userId: bob.id, disabled: false });
  expect((await call(`POST /transaction/${payment}/approve`, { token: bob.token })).status).toBe(200);
  const { body: history } = await call(`GET /vault/${vaultId}/history`, { token: treasury.victor.token });
  const acts = (history['history'] as readonly Record<string, unknown>[]).filter(({ action }) =>
    String(action).endsWith('-member'),
  );
  const line = { actor: { userId: admin.id }, detail: JSON.stringify({ userId: bob.id }) };
  expect(acts).toMatchObject([
    { action: 'disable-member', ...line },
    { action: 'enable-member', ...line },
  ]);
});

test('an admin sees the credentials that reach the vault, and ends one of them there', async () => {
  const { treasury, act } = await withAdmin();
  const { bob } = treasury;
  const [stolen, other] = [await anotherToken(bob), await enter('other')];
  const payment = String((await created(treasury)).body['id']);
  expect((await call(`POST /transaction/${payment}/approve`, { token: stolen.token })).status).toBe(200);
  const { body } = await act(`GET ${bob.id}/credential`);
  const listed: readonly Record<string, unknown>[] = body['data'];
  expect(listed.find(({ id }) => id === idOf(stolen))).toMatchObject({ enabled: true, kind: 'access-token' });
  expect(outcome(await act(`DELETE ${bob.id}/credential/${idOf(other)}`))).toEqual([404, 'credential-not-found']);
  expect((await act(`DELETE ${bob.id}/credential/${idOf(stolen)}`)).status).toBe(200);
  expect(await approvalsOf(treasury, payment)).toEqual([]);
  const vault = `GET /vault/${treasury.id}/policy`;
  expect([
    outcome(await call(vault, { token: stolen.token })),
    (await call(vault, { token: bob.token })).status,
  ]).toEqual([[403, 'forbidden'], 200]);
  const again = await act(`GET ${bob.id}/credential`);
  const after: readonly Record<string, unknown>[] = again.body['data'];
  expect(after.find(({ id }) => id === idOf(stolen))).toMatchObject({ enabled: false });
});

test('a hostile admin stops no quorum, and nothing that an operator did', async () => {
  const { treasury, admin, act } = await withAdmin();
  const { alice, bob, carol } = treasury;
  expect((await act(`POST ${bob.id}/disable`)).status).toBe(200);
  for (const { id } of [alice, carol]) {
    expect(outcome(await act(`POST ${id}/disable`))).toEqual([409, 'quorum-disabled']);
  }
  expect(outcome(await act(`POST ${admin.id}/disable`))).toEqual([409, 'own-access']);
  expect(outcome(await act(`POST ${bob.id}/disable`, alice))).toEqual([403, 'forbidden']);
  expect((await asService(`POST /internal/user/${admin.id}/disable`)).status).toBe(200);
  const second = await enter('second');
  await join(treasury, second, ['admin']);
  const enabled = await act(`POST ${admin.id}/enable`, second);
  expect(enabled.body).toEqual({ userId: admin.id, disabled: true });
  expect(outcome(await call('GET /user/me', { token: admin.token }))).toEqual([401, 'token-disabled']);
  expect((await act(`POST ${bob.id}/enable`, second)).body).toEqual({ userId: bob.id, disabled: false });
});
