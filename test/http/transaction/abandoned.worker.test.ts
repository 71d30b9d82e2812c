import { expect, test } from 'vitest';
import { parseTransactionId, parseVaultId } from '#domain/id.ts';
import { amountOf } from '#domain/asset/amount.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';
import { HASH, inclusion, PREPARED, UNPRICED } from '../../domain/cast.ts';
import { anotherToken, call, coordinator, created, foundTreasury, RECIPIENT, WALLET } from '../scene.worker.ts';

/** Covers a payment that failed and that its chain includes afterwards. */

/** Creates a vault with a signed payment. No job runs in this test. */
async function signedPayment() {
  const treasury = await foundTreasury({
    rules: { limitsIncludeFees: false, limits: [{ chain: 'anvil', perDay: '2000' }] },
  });
  const { body } = await created(treasury);
  const [id, vaultId] = [parseTransactionId(body['id']), parseVaultId(treasury.id)];
  if (id === null || vaultId === null) throw new Error('the ids must parse');
  for (const person of [treasury.alice, treasury.bob]) {
    await call(`POST /transaction/${id}/approve`, { token: (await anotherToken(person)).token });
  }
  const vault = vaultStub(coordinator, vaultId);
  await vault.report({ type: 'recordEvent', id, event: { type: 'prepare', attempt: PREPARED } });
  await vault.report({ type: 'recordEvent', id, event: { type: 'sign', attempt: 1, raw: '0x02ff', hash: HASH } });
  const read = async (path: string) => (await call(`GET ${path}`, { token: treasury.victor.token })).body;
  return {
    id,
    vault,
    stand: async () => {
      const { state, stateReason } = await read(`/transaction/${id}`);
      const { spent } = await read(`/vault/${treasury.id}/policy`);
      const { outgoing } = (await read(`/vault/${treasury.id}/balances`))['balances'][0];
      return { state, stateReason, spent: spent[0], outgoing };
    },
    /** Records a delivery by a monitor about the payment, which one RPC node reports in a block. */
    delivered: () => {
      const block = { number: '100', hash: '0xb1', confirmations: 9, isFinal: true };
      const asset = { kind: 'native' as const, tokenAddress: null, tokenId: null };
      const movements = [{ uid: 'top', ...asset, from: WALLET, to: RECIPIENT, amount: amountOf(1000n) }];
      const seen = { hash: HASH, signer: WALLET, fee: amountOf(1n), block, movements };
      return vault.report({ type: 'recordActivity', chain: 'anvil', hash: HASH, seen, valuation: UNPRICED });
    },
  };
}

test('a conflicted payment is FAILED and not counted as spent, until the chain includes it', async () => {
  const { id, vault, stand } = await signedPayment();
  await vault.report({
    type: 'recordEvent',
    id,
    event: { type: 'send', attempt: 1, outcome: 'accepted', answer: null },
  });
  expect(await stand()).toEqual({ state: 'BROADCAST', stateReason: null, spent: '1000', outgoing: '1000' });
  await vault.report({ type: 'recordEvent', id, event: { type: 'miss', inMempool: false, nonceTaken: true } });
  await vault.report({ type: 'recordEvent', id, event: { type: 'settle' } });
  expect(await vault.work({ type: 'transactionWork', id, job: 'confirm' })).toMatchObject({
    transaction: { state: 'FAILED' },
  });
  expect(await stand()).toEqual({ state: 'FAILED', stateReason: 'CONFLICTED', spent: '0', outgoing: '0' });
  const found = inclusion({ confirmations: 9, finalized: true });
  for (let i = 0; i < 3; i++) {
    await vault.report({
      type: 'recordEvent',
      id,
      event: { type: 'include', inclusion: found, confirmationsNeeded: 1 },
    });
  }
  expect(await stand()).toEqual({ state: 'SUCCEEDED', stateReason: null, spent: '1000', outgoing: '0' });
  expect(await vault.work({ type: 'transactionWork', id, job: 'confirm' })).toBeNull();
});

test('a delivery restarts the watch of a failed payment, however often it is repeated', async () => {
  const { id, vault, stand, delivered } = await signedPayment();
  await vault.report({
    type: 'recordEvent',
    id,
    event: { type: 'refuseBroadcast', attempt: 1, answer: 'intrinsic gas too low' },
  });
  await vault.report({ type: 'recordEvent', id, event: { type: 'settle' } });
  expect([await stand(), await vault.work({ type: 'transactionWork', id, job: 'confirm' })]).toMatchObject([
    { state: 'FAILED', spent: '0' },
    null,
  ]);
  for (let i = 0; i < 3; i++) expect(await delivered()).toBe('own');
  const work = await vault.work({ type: 'transactionWork', id, job: 'confirm' });
  expect(work?.transaction).toMatchObject({ state: 'FAILED', stateReason: 'REJECTED_BY_NODE', version: 8 });
  // The report of one RPC node changes no record. The confirmation job checks it with all RPC
  // nodes.
  expect(await stand()).toMatchObject({ state: 'FAILED', spent: '0' });
  const found = inclusion({ confirmations: 9, secondNode: 'agrees' });
  await vault.report({ type: 'recordEvent', id, event: { type: 'include', inclusion: found, confirmationsNeeded: 1 } });
  expect(await stand()).toMatchObject({ state: 'SUCCEEDED', stateReason: null, spent: '1000' });
});
