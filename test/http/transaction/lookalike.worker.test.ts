import { expect, test } from 'vitest';
import { parseTransactionId } from '#domain/id.ts';
import { inclusion, PREPARED, HASH } from '../../domain/cast.ts';
import type { Treasury } from '../scene.worker.ts';
import {
  anotherToken,
  call,
  coordinator,
  created,
  foundTreasury,
  payment,
  RECIPIENT,
  stored,
  WALLET,
} from '../scene.worker.ts';
import { vaultOf } from '../../objects/vault/vault-of.ts';

/** Covers the protection against address poisoning. */

/** An address that begins and ends like RECIPIENT, 0x2222...2222. */
const TWIN = '0x2229999999999999999999999999999999992222';
const WALLETS_TWIN = '0x1118888888888888888888888888888888881111';

/** Records an arrived payment to RECIPIENT, so that the vault knows this address. */
async function paidOnce(treasury: Treasury): Promise<void> {
  const { body } = await created(treasury);
  const id = parseTransactionId(body['id']);
  if (id === null) throw new Error('the id must parse');
  for (const { token } of [treasury.alice, treasury.bob]) await call(`POST /transaction/${id}/approve`, { token });
  const vault = vaultOf(coordinator, treasury.id);
  await vault.report({ type: 'recordEvent', id, event: { type: 'prepare', attempt: PREPARED } });
  await vault.report({ type: 'recordEvent', id, event: { type: 'sign', attempt: 1, raw: '0x02ff', hash: HASH } });
  const done = await vault.report({
    type: 'recordEvent',
    id,
    event: { type: 'include', inclusion: inclusion(), confirmationsNeeded: 1 },
  });
  expect(done?.state).toBe('SUCCEEDED');
}

async function pay(treasury: Treasury, differences: Readonly<Record<string, unknown>>) {
  const { token } = await anotherToken(treasury.alice);
  return call('POST /transaction/transfer', { token, body: payment(treasury, differences) });
}

test('a look-alike of a paid recipient is refused with the address that it imitates, and nothing is stored', async () => {
  const treasury = await foundTreasury();
  await paidOnce(treasury);
  const before = await stored(treasury);
  const answer = await pay(treasury, { to: TWIN });
  expect([answer.status, answer.body['code'], answer.body['address'], answer.body['known']]).toEqual([
    409,
    'recipient-looks-alike',
    TWIN,
    RECIPIENT,
  ]);
  expect(await stored(treasury)).toEqual(before);
  expect((await pay(treasury, { to: RECIPIENT })).status).toBe(201);
});

test('a challenge counts the payments that arrived at its recipient', async () => {
  const treasury = await foundTreasury();
  const earlier = async (to: string) => {
    const { body } = await pay(treasury, { to });
    return (await call(`GET /transaction/${body['id']}/challenge`, { token: treasury.bob.token })).body['earlier'];
  };
  expect(await earlier(RECIPIENT)).toEqual({ count: 0, lastAt: null });
  await paidOnce(treasury);
  expect(await earlier(RECIPIENT)).toEqual({ count: 1, lastAt: expect.any(String) });
});

test('a proposed payment alone does not make its recipient known', async () => {
  const treasury = await foundTreasury();
  await created(treasury);
  expect((await pay(treasury, { to: TWIN })).status).toBe(201);
});

test('a look-alike of the vault’s own wallet is refused from the first day', async () => {
  const treasury = await foundTreasury();
  const answer = await pay(treasury, { to: WALLETS_TWIN });
  expect([answer.status, answer.body['known']]).toEqual([409, WALLET]);
});

test('a look-alike accepted by name is created, shown to every signer, and requires one more approval', async () => {
  const treasury = await foundTreasury();
  await paidOnce(treasury);
  expect((await pay(treasury, { to: TWIN, acceptLookalikeOf: WALLET })).status).toBe(409);
  const answer = await pay(treasury, { to: TWIN, acceptLookalikeOf: RECIPIENT });
  expect([answer.status, answer.body['lookalikeOf'], answer.body['requiredApprovals']]).toEqual([201, RECIPIENT, 3]);
  const id: string = answer.body['id'];
  const challenge = await call(`GET /transaction/${id}/challenge`, { token: treasury.bob.token });
  expect([challenge.body['intent'].lookalikeOf, challenge.body['approvals'].required]).toEqual([RECIPIENT, 3]);
  const states: string[] = [];
  for (const signer of [treasury.alice, treasury.bob, treasury.carol]) {
    states.push((await call(`POST /transaction/${id}/approve`, { token: signer.token })).body['state']);
  }
  expect(states).toEqual(['SUBMITTED', 'SUBMITTED', 'SIGNING']);
});

test('an estimate accepts a look-alike by name, as the creation does', async () => {
  const treasury = await foundTreasury();
  await paidOnce(treasury);
  const estimate = (body: object) =>
    call('POST /transaction/estimate-fee', {
      token: treasury.alice.token,
      body: { vaultId: treasury.id, chain: 'anvil', to: TWIN, amount: '1', ...body },
    });
  const refused = await estimate({});
  expect([refused.status, refused.body['known']]).toEqual([409, RECIPIENT]);
  expect((await estimate({ acceptLookalikeOf: WALLET })).status).toBe(409);
  expect((await estimate({ acceptLookalikeOf: RECIPIENT })).status).toBe(200);
});

test('an acceptance for an address that is no look-alike is not part of the intent', async () => {
  const treasury = await foundTreasury();
  const answer = await pay(treasury, { acceptLookalikeOf: WALLET });
  expect([answer.status, answer.body['lookalikeOf'], answer.body['requiredApprovals']]).toEqual([201, null, 2]);
  const bad = await pay(treasury, { acceptLookalikeOf: 'yes' });
  expect([bad.status, bad.body['errors'][0].pointer]).toEqual([400, '/acceptLookalikeOf']);
});

test.each<[string, string, Record<string, unknown>]>([
  ['a spender', 'erc20-approve', { tokenAddress: WALLET, spender: TWIN, amount: '1' }],
  ['a token', 'erc20-approve', { tokenAddress: TWIN, spender: RECIPIENT, amount: '1' }],
  ['a contract', 'contract-interaction', { to: TWIN, data: '0x', value: '1' }],
  [
    'a recipient in calldata',
    'contract-interaction',
    { to: WALLET, data: `0xa9059cbb${TWIN.slice(2).padStart(64, '0')}${'1'.padStart(64, '0')}`, value: '0' },
  ],
])('%s is checked for a look-alike, too', async (_name, kind, body) => {
  const treasury = await foundTreasury();
  await paidOnce(treasury);
  const { token } = await anotherToken(treasury.alice);
  const answer = await call(`POST /transaction/${kind}`, {
    token,
    body: { vaultId: treasury.id, chain: 'anvil', ...body },
  });
  expect([answer.status, answer.body['code'], answer.body['known']]).toEqual([409, 'recipient-looks-alike', RECIPIENT]);
});
