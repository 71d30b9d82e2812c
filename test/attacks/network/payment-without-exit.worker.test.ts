/**
 * Attack: RPC nodes or co-signers are absent, so that a payment waits after its approval, no person
 *   can stop it and it is made days later.
 * Attacker: network
 * Co-signers: 0
 * Finding: S3
 * Defence: on a chain without an RPC node no payment is created. Where the RPC node is absent
 *   later, its creator, an admin and every signer can cancel a payment in SIGNING. It then ends
 *   without RPC nodes and co-signers, and its nonce is released. When others wait above its nonce,
 *   an attempt without effect uses the nonce.
 */
import { expect, test } from 'vitest';
import type { Treasury } from '../../http/scene.worker.ts';
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
  WITHOUT_NODES,
} from '../../http/scene.worker.ts';
import { consumed } from '../../worker/queue-batch.ts';

/** No co-signer answers in these tests. The RPC node is absent when the payment is approved. */
async function approved(treasury: Treasury): Promise<string> {
  const { body } = await created({ ...treasury, alice: await anotherToken(treasury.alice) });
  for (const person of [treasury.alice, treasury.bob]) {
    const { token } = await anotherToken(person);
    expect((await call(`POST /transaction/${body['id']}/approve`, { token })).status).toBe(200);
  }
  return body['id'];
}

async function read({ victor }: Treasury, id: string) {
  const { body } = await call(`GET /transaction/${id}`, { token: (await anotherToken(victor)).token });
  return [body['state'], body['stateReason']];
}

async function cancel(person: Treasury['bob'], id: string) {
  const { token } = await anotherToken(person);
  return call(`POST /transaction/${id}/cancel`, { token, env: WITHOUT_NODES });
}

const run = ({ id: vaultId }: Treasury, transactionId: string, job: 'sign' | 'settle') =>
  consumed('conclave-signing', [{ vaultId, transactionId, job }], { env: WITHOUT_NODES });

/** The nonces of the wallet that all vaults of these tests have. Each test has a chain count. */
function nonces() {
  const stub = coordinator.WALLET_NONCE.getByName(`nonce:eip155:31337:${WALLET}`);
  const counts = { latest: '0', pending: '0' };
  return { of: async (transactionId: string) => stub.allocate({ transactionId, ...counts }) };
}

test('no payment is created on a chain without an RPC node, and nothing is stored', async () => {
  const treasury = await foundTreasury();
  const before = await stored(treasury);
  const base = { vaultId: treasury.id, chain: 'anvil' };
  const bodies = {
    transfer: payment(treasury),
    'contract-interaction': { ...base, to: RECIPIENT, data: '0xd0e30db0', value: '0' },
    'erc20-approve': { ...base, tokenAddress: RECIPIENT, spender: WALLET, amount: '1' },
  };
  for (const [kind, body] of Object.entries(bodies)) {
    const send = async (person: Treasury['bob']) =>
      call(`POST /transaction/${kind}`, { token: (await anotherToken(person)).token, body, env: WITHOUT_NODES });
    const refused = await send(treasury.alice);
    expect([kind, refused.status, refused.body['code']]).toEqual([kind, 503, 'chain-unavailable']);
    // A person without the permission does not learn which chains have nodes.
    expect((await send(treasury.victor)).body['code']).toBe('forbidden');
  }
  expect(await stored(treasury)).toEqual(before);
});

test('a repeated request gets its first record while the RPC node is absent, and a message needs none', async () => {
  const treasury = await foundTreasury();
  const { token } = treasury.alice;
  const transfer = { token, headers: { 'idempotency-key': 'rent-may' }, body: payment(treasury) };
  const first = await call('POST /transaction/transfer', transfer);
  const again = await call('POST /transaction/transfer', { ...transfer, env: WITHOUT_NODES });
  expect([first.status, again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 201, 'true']);
  expect(again.body).toEqual(first.body);
  const body = { vaultId: treasury.id, chain: 'anvil', message: 'hello' };
  expect((await call('POST /transaction/message', { token, body, env: WITHOUT_NODES })).status).toBe(201);
  const line = `POST /transaction/${first.body['id']}`;
  const rejected = await call(`${line}/reject`, { token: treasury.bob.token, env: WITHOUT_NODES });
  expect([rejected.status, rejected.body['state']]).toEqual([200, 'REJECTED']);
});

test('a signer cancels an approved payment while its chain has no RPC node', async () => {
  const treasury = await foundTreasury();
  const id = await approved(treasury);
  await run(treasury, id, 'sign');
  expect(await read(treasury, id)).toEqual(['SIGNING', 'CHAIN_NOT_CONFIGURED']);
  const { nonce } = await nonces().of(id);
  expect(nonce).not.toBeNull();
  const cancelled = await cancel(treasury.carol, id);
  expect([cancelled.status, cancelled.body['stateReason']]).toEqual([200, 'CANCELLING']);
  expect(cancelled.body['actionsForMe']).toEqual([]);
  await run(treasury, id, 'sign');
  expect(await read(treasury, id)).toEqual(['CANCELLED', 'CANCELLED_BY_USER']);
  expect((await cancel(treasury.carol, id)).status).toBe(200);
  await run(treasury, id, 'settle');
  const next = await approved(treasury);
  // A late run of the first payment gets nothing, and the next payment gets its nonce.
  expect(await nonces().of(id)).toEqual({ nonce: null, why: 'over' });
  expect((await nonces().of(next)).nonce).toBe(nonce);
});

test('an approved payment with others above its nonce is not made, and its nonce is not skipped', async () => {
  const treasury = await foundTreasury();
  const [id, above] = [await approved(treasury), await approved(treasury)];
  for (const one of [id, above]) expect((await nonces().of(one)).nonce).not.toBeNull();
  expect((await cancel(treasury.bob, id)).status).toBe(200);
  await run(treasury, id, 'sign');
  const { body } = await call(`GET /transaction/${id}`, { token: (await anotherToken(treasury.victor)).token });
  expect([body['state'], body['stateReason']]).toEqual(['SIGNING', 'CHAIN_NOT_CONFIGURED']);
  expect(body['actionsForMe']).toEqual([]);
  expect((await cancel(treasury.bob, above)).status).toBe(200);
  await run(treasury, above, 'sign');
  await run(treasury, above, 'settle');
  await run(treasury, id, 'sign');
  expect([(await read(treasury, id))[0], (await read(treasury, above))[0]]).toEqual(['CANCELLED', 'CANCELLED']);
  await run(treasury, id, 'settle');
});

test('only the creator, admins and signers cancel an approved payment', async () => {
  const treasury = await foundTreasury();
  const id = await approved(treasury);
  for (const person of [treasury.victor, treasury.mallory]) expect((await cancel(person, id)).status).toBe(403);
  expect((await read(treasury, id))[0]).toBe('SIGNING');
});

test('an approved message that is cancelled is not signed', async () => {
  const treasury = await foundTreasury();
  const { token } = await anotherToken(treasury.alice);
  const message = { vaultId: treasury.id, chain: 'anvil', message: 'hello' };
  const { body } = await call('POST /transaction/message', { token, body: message });
  for (const person of [treasury.alice, treasury.bob]) {
    await call(`POST /transaction/${body['id']}/approve`, { token: (await anotherToken(person)).token });
  }
  expect((await cancel(treasury.bob, body['id'])).body['state']).toBe('CANCELLED');
  await run(treasury, body['id'], 'sign');
  expect((await read(treasury, body['id']))[0]).toBe('CANCELLED');
});
