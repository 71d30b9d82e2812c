import { expect, test } from 'vitest';
import { cancel } from '#objects/vault/commands/transaction.ts';
import { alice, transactionIn } from '../../../domain/cast.ts';
import { newVaultScene } from '../vault-scene.ts';

function scene() {
  const { host, storage } = newVaultScene();
  const payment = transactionIn('SIGNING', { chain: 'anvil', attempts: [], nonceHeld: true });
  storage.insertTransaction(payment);
  storage.enqueueJob({ transactionId: payment.id, job: 'sign', version: payment.version, dueAtMs: 0, tries: 0 });
  return { host, payment };
}

test('an approved payment ends at once when the configuration no longer has its chain', async () => {
  const { host, payment } = scene();
  const request = { id: payment.id, acknowledged: null };
  for (let time = 0; time < 2; time++) {
    const cancelled = await cancel({ ...host, chains: [] }, alice, request);
    expect(cancelled).toMatchObject({ ok: true, value: { transaction: { state: 'CANCELLED' } } });
  }
});

test('a cancellation that stopped before its second step ends the payment when it is repeated', async () => {
  const { host, payment } = scene();
  const request = { id: payment.id, acknowledged: null };
  const begun = await cancel(host, alice, request);
  expect(begun).toMatchObject({ ok: true, value: { transaction: { state: 'SIGNING', cancelling: true } } });
  const repeated = await cancel({ ...host, chains: [] }, alice, request);
  expect(repeated).toMatchObject({ ok: true, value: { transaction: { state: 'CANCELLED' } } });
});
