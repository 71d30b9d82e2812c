/**
 * Attack: an initiator raises the fee of a payment in flight again and again, without an approval.
 * Attacker: member
 * Co-signers: 0
 * Finding: S12
 * Defence: only a signer requests a higher fee, and no attempt passes the maximum fee that the
 *   signers approved.
 */
import { expect, test } from 'vitest';
import { call, created, enter, join, foundTreasury } from '../../http/scene.worker.ts';

test('an initiator requests no higher fee, not even for an own payment', async () => {
  const [treasury, initiator] = [await foundTreasury(), await enter('initiator')];
  await join(treasury, initiator, ['initiator']);
  const { body } = await created({ ...treasury, alice: initiator });
  const speedUp = async (token: string) => {
    const { status, body: answer } = await call(`POST /transaction/${body['id']}/speed-up`, { token });
    return [status, answer['code']];
  };
  expect(await speedUp(initiator.token)).toEqual([403, 'forbidden']);
  // It is not broadcast, which a signer learns and an initiator does not.
  expect(await speedUp(treasury.bob.token)).toEqual([409, 'transaction-not-broadcast']);
});
