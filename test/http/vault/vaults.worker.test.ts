import { beforeAll, expect, test } from 'vitest';
import { parseVaultId } from '#domain/id.ts';
import type { Treasury } from '../scene.worker.ts';
import {
  accept,
  anotherToken,
  asPerson,
  asService,
  call,
  created,
  enter,
  foundTreasury,
  recordKey,
  WALLET,
} from '../scene.worker.ts';

/** Covers what a token finds of its vaults: which there are, and where to deposit. */

/** Reads a vault as an operator, which completes its entry in the directory. */
const enterDirectory = (id: number) => asService(`GET /internal/vault/${id}`);

let treasury: Treasury;
beforeAll(async () => {
  treasury = await foundTreasury({ mostPending: 5 });
  await enterDirectory(treasury.id);
});

test('a token finds its vaults with their addresses, its roles and the limits', async () => {
  await created(treasury);
  const expected = {
    id: treasury.id,
    name: 'Treasury',
    state: 'ready',
    membership: 'accepted',
    roles: ['initiator', 'signer'],
    approvalMode: 'token',
    threshold: 2,
    policyVersion: 1,
    initialState: 'SUBMITTED',
    decisionPeriodSeconds: 604_800,
    wallets: [{ chain: 'anvil', address: WALLET }],
    pending: { count: 1, limit: 5, ownCount: 1, ownLimit: 3 },
  };
  const list = await asPerson(treasury.alice, 'GET /vault');
  expect([list.status, list.body]).toEqual([200, { vaults: [expected], nextCursor: null }]);
  expect((await asPerson(treasury.alice, `GET /vault/${treasury.id}`)).body).toEqual(expected);
  const { body } = await asPerson(treasury.bob, `GET /vault/${treasury.id}`);
  expect(body['pending']).toEqual({ count: 1, limit: 5, ownCount: 0, ownLimit: 3 });
  expect(await asPerson(treasury.mallory, `GET /vault/${treasury.id}`)).toMatchObject({ status: 403 });
  expect((await asPerson(treasury.mallory, 'GET /vault')).body).toEqual({ vaults: [], nextCursor: null });
});

test('a vault shows no address and no counts before the caller accepts it, and no address before its keys', async () => {
  const member = await enter('member');
  const members = [treasury.alice, treasury.bob, member].map(({ id }) => ({ userId: id, roles: ['signer'] }));
  const settings = {
    name: 'New',
    members,
    threshold: 2,
    approvalMode: 'token',
    initialState: 'DRAFT',
    chains: ['anvil'],
  };
  const { id } = (await asService('POST /internal/vault', settings)).body as { id: number };
  const read = async () => (await asPerson(member, `GET /vault/${id}`)).body;
  expect(await read()).toMatchObject({ code: 'vault-not-accepted' });
  await enterDirectory(id);
  const list = await asPerson(member, 'GET /vault');
  expect(list.body['vaults']).toMatchObject([
    { id, membership: 'invited', state: 'preparing', wallets: [], pending: null },
  ]);
  await accept(id, member);
  expect(await read()).toMatchObject({ state: 'preparing', wallets: [{ chain: 'anvil', address: null }] });
  await recordKey(id, { anvil: WALLET });
  expect(await read()).toMatchObject({ state: 'ready', wallets: [{ chain: 'anvil', address: WALLET }] });
});

test('a token that is limited to some vaults lists these alone', async () => {
  const [one, two] = [await foundTreasury(), await foundTreasury()];
  const vaultId = parseVaultId(two.id);
  if (vaultId === null) throw new Error('the id must parse');
  for (const id of [one.id, two.id]) {
    await asService(`PUT /internal/vault/${id}/member/${treasury.victor.id}`, { roles: ['viewer'] });
    await enterDirectory(id);
  }
  const { token } = await anotherToken(treasury.victor, null, { vaultIds: [vaultId] });
  const { body } = await call('GET /vault', { token });
  expect(body['vaults'].map(({ id }: { id: number }) => id)).toEqual([two.id]);
  const all = await asPerson(treasury.victor, 'GET /vault');
  expect(all.body['vaults'].map(({ id }: { id: number }) => id)).toEqual([two.id, one.id, treasury.id]);
  const after = await asPerson(treasury.victor, `GET /vault?cursor=${two.id}`);
  expect(after.body['vaults'].map(({ id }: { id: number }) => id)).toEqual([one.id, treasury.id]);
  expect(await asPerson(treasury.victor, 'GET /vault?cursor=x')).toMatchObject({ status: 400 });
});
