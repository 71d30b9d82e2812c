/**
 * Attack: a hostile initiator creates a payment with the external id of a payment that another
 *   member will make, and cancels it. The script of the other member reads "taken" as "paid".
 * Attacker: member
 * Co-signers: 0
 * Finding: S10
 * Defence: the external id of a payment that ended without an approval is free again. The refusal
 *   names the state and the creator of the first payment.
 */
import { expect, test } from 'vitest';
import type { Person, Treasury } from '../../http/scene.worker.ts';
import { anotherToken, call, foundTreasury, payment } from '../../http/scene.worker.ts';

const INVOICE = { externalId: 'payout-2026-12-0001' };

async function pay(treasury: Treasury, person: Person) {
  const { token } = await anotherToken(person);
  return call('POST /transaction/transfer', { token, body: payment(treasury, INVOICE) });
}

async function decide(person: Person, id: string, how: 'approve' | 'reject' | 'cancel') {
  const { token } = await anotherToken(person);
  expect((await call(`POST /transaction/${id}/${how}`, { token })).status).toBe(200);
}

test('an external id that was taken and cancelled is free for the real payment', async () => {
  const treasury = await foundTreasury();
  for (const end of ['cancel', 'reject'] as const) {
    const squatted = await pay(treasury, treasury.carol);
    expect(squatted.status).toBe(201);
    await decide(treasury.carol, squatted.body['id'], end);
  }
  const real = await pay(treasury, treasury.alice);
  expect(real.status).toBe(201);
  const again = await pay(treasury, treasury.alice);
  expect([again.status, again.body['transactionId']]).toEqual([409, real.body['id']]);
});

test('the refusal names the state and the creator of a payment that keeps an external id', async () => {
  const treasury = await foundTreasury();
  const squatted = await pay(treasury, treasury.carol);
  const refused = await pay(treasury, treasury.alice);
  expect([refused.status, refused.body]).toMatchObject([
    409,
    {
      code: 'external-id-taken',
      transactionId: squatted.body['id'],
      state: 'SUBMITTED',
      createdBy: treasury.carol.id,
    },
  ]);
});

test('the external id of a payment that a signer approved is never free again', async () => {
  const treasury = await foundTreasury();
  const first = await pay(treasury, treasury.alice);
  await decide(treasury.bob, first.body['id'], 'approve');
  await decide(treasury.alice, first.body['id'], 'cancel');
  const second = await pay(treasury, treasury.alice);
  expect([second.status, second.body['state']]).toEqual([409, 'CANCELLED']);
});
