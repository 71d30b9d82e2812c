import { afterEach, expect, test, vi } from 'vitest';
import type { Answer, Person, Treasury } from '../scene.worker.ts';
import { anotherToken, call, changePolicy, coordinator, foundTreasury } from '../scene.worker.ts';
import { vaultOf } from '../../objects/vault/vault-of.ts';

/**
 * Covers the renewal of a mandate that expired before all co-signers adopted its policy. The policy
 * itself does not change.
 */

afterEach(() => {
  vi.useRealTimers();
});

const code = ({ status, body }: Answer) => [status, body['code']];

async function request(person: Person, line: string, body?: object): Promise<Answer> {
  const { token } = await anotherToken(person);
  return call(line, { token, ...(body === undefined ? {} : { body }) });
}

const renew = ({ id }: Treasury, person: Person, version: string, body?: object) =>
  request(person, `POST /vault/${id}/policy/${version}/renewal`, body);

const policies = async ({ id, victor }: Treasury) => {
  const { body } = await request(victor, `GET /vault/${id}/policies`);
  return body['data'] as readonly { policy: { hash: string }; mandate: { id: string; expiresAt: string } | null }[];
};

/**
 * Creates a vault under policy version 2, which requires three approvals, after the mandate of that
 * version has expired.
 */
async function expired(): Promise<Treasury> {
  const treasury = await foundTreasury();
  await changePolicy(treasury, { threshold: 3 });
  const [newest] = await policies(treasury);
  const now = Date.parse(newest?.mandate?.expiresAt ?? '');
  expect(code(await renew(treasury, treasury.alice, '2'))).toEqual([409, 'mandate-in-force']);
  vi.useFakeTimers({ toFake: ['Date'], now });
  return treasury;
}

test('a mandate is renewed by the two signers that the previous policy requires, and the policy does not change', async () => {
  const treasury = await expired();
  const before = await policies(treasury);
  const requested = await renew(treasury, treasury.alice, '2', { note: 'co-signer 3 was away' });
  expect(requested.status).toBe(201);
  expect(requested.body).toMatchObject({ state: 'PENDING', renewsVersion: 2, requiredApprovals: 2 });
  expect(requested.body['policy'].hash).toBe(before[0]?.policy.hash);
  expect(requested.body['actionsForMe']).toEqual(['approve', 'reject', 'cancel']);
  const id: string = requested.body['id'];
  expect((await renew(treasury, treasury.bob, '2')).body['id']).toBe(id);
  const path = `/vault/${treasury.id}/policy-change/${id}`;
  const read = await request(treasury.victor, `GET ${path}`);
  expect([read.body['policyInForce'].version, read.body['decidedBy'].version]).toEqual([2, 1]);
  expect(code(await request(treasury.victor, `POST ${path}/approve`))).toEqual([403, 'forbidden']);
  await request(treasury.alice, `POST ${path}/approve`);
  const adopted = await request(treasury.bob, `POST ${path}/approve`);
  expect([adopted.status, adopted.body['state']]).toEqual([200, 'ADOPTED']);
  const after = await policies(treasury);
  expect(after.map(({ policy }) => policy)).toEqual(before.map(({ policy }) => policy));
  expect([before[0]?.mandate?.id === id, after[0]?.mandate?.id]).toEqual([false, id]);
  expect(code(await renew(treasury, treasury.alice, '2'))).toEqual([409, 'mandate-in-force']);
  const lines = (await request(treasury.victor, `GET /vault/${treasury.id}/history`)).body['history'];
  const actions = lines.map(({ action }: { readonly action: string }) => action).toReversed();
  expect(actions.filter((action: string) => /renew/.test(action)).toSorted()).toEqual([
    'approve-renewal',
    'approve-renewal',
    'propose-renewal',
    'renew-mandate',
  ]);
});

test('an ordinary change renews no mandate, and only a version that a change adopted can be renewed', async () => {
  const treasury = await expired();
  const ordinary = await request(treasury.alice, `POST /vault/${treasury.id}/policy-change`, { threshold: 2 });
  expect([ordinary.body['renewsVersion'], ordinary.body['requiredApprovals']]).toEqual([null, 3]);
  for (const version of ['1', '3', '999999999']) {
    expect(code(await renew(treasury, treasury.alice, version))).toEqual([404, 'policy-version-not-found']);
  }
  for (const version of ['0', '02', '-2', '2.0', 'two', '1234567890']) {
    expect(code(await renew(treasury, treasury.alice, version))).toEqual([400, 'invalid-request']);
  }
  expect(code(await renew(treasury, treasury.alice, '2', { threshold: 1 }))).toEqual([400, 'invalid-request']);
  expect(code(await renew(treasury, treasury.mallory, '2'))).toEqual([403, 'forbidden']);
});

test('a member reads which co-signers wait for a renewal', async () => {
  const treasury = await expired();
  const needed = async () =>
    (await request(treasury.victor, `GET /vault/${treasury.id}/policy`)).body['renewalsNeeded'];
  expect(await needed()).toEqual([]);
  const object = vaultOf(coordinator, treasury.id);
  await object.report({
    type: 'reportAdoption',
    version: 2,
    isComplete: false,
    expired: [{ cosigner: 3, version: 2 }],
    adoptedVersions: {},
  });
  expect(await needed()).toEqual([{ version: 2, cosigners: [3] }]);
});
