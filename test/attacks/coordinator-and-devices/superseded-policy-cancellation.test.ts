/**
 * Attack: revoked devices sign a new intent under the superseded policy, and the coordinator
 *   requests a cancellation whose fee empties the wallet.
 * Attacker: coordinator and devices
 * Co-signers: 0
 * Finding: 2.2
 * Defence: the policy in force judges a cancellation, unless the co-signer has a record of this
 *   transaction.
 */
import { beforeAll, expect, test } from 'vitest';
import type { Attempt } from '#domain/transaction/transaction.ts';
import { actionOfAttempt } from '#domain/transaction/intent.ts';
import { thresholdSign } from '../../cosigner/threshold-sign.ts';
import { byDevice } from '../../cosigner/policy/device-scene.ts';
import type { ApprovedTransfer } from '../../cosigner/cosigners.ts';
import { approvedTransfer, attemptOf } from '../../cosigner/cosigners.ts';
import { amount } from '../../domain/cast.ts';
import { refusedByAll } from '../../cosigner/rejected-requests.ts';
import {
  approvalsOf,
  first,
  LAPTOP,
  NEW_LAPTOP,
  NEW_PHONE,
  PHONE,
  policyScene,
  revocation,
  shownTo,
} from '../policy-scene.ts';

const scene = policyScene(byDevice);
const policies = [first, revocation];
/** A payment that was signed under version 1 of the policy while that version was in force. */
let before: ApprovedTransfer;

beforeAll(async () => {
  before = { ...approvedTransfer({ key: scene.key, governedBy: byDevice, nonce: 5n }), policies: [first] };
  before = { ...before, approvals: approvalsOf(before.transaction.digest, LAPTOP, PHONE) };
  expect(await thresholdSign(scene.cosigners.some(1, 2), before)).toMatchObject({ ok: true });
  expect(await shownTo(scene.cosigners.all, revocation)).toEqual(['adopted', 'adopted', 'adopted']);
});

/**
 * Returns a cancellation attempt: bytes that pay zero to the wallet itself, at this price per gas.
 */
function cancellation(of: ApprovedTransfer, number: number, maxFeePerGas: bigint, nonce: bigint): Attempt {
  // The co-signers compare these bytes with the fee cap of the intent, and not with this cap.
  const effect = { ...actionOfAttempt(of.intent, 'cancellation'), maxFee: amount('9'.repeat(30)) };
  return { ...attemptOf(effect, { maxFeePerGas, nonce }, number), purpose: 'cancellation' };
}

test('a new intent under a superseded policy is neither paid nor cancelled for its revoked devices', async () => {
  const theft = approvedTransfer({ key: scene.key, governedBy: byDevice });
  const request = { ...theft, policies, approvals: approvalsOf(theft.transaction.digest, LAPTOP, PHONE) };
  await refusedByAll(scene.cosigners, request, 'not-enough-approvals');
  const burning = { ...request, attempt: cancellation(theft, 1, 2_000_000_000_000n, 9n) };
  await refusedByAll(scene.cosigners, burning, 'not-enough-approvals');
  // The coordinator states the creation time. A time before the policy change has no effect.
  const backdated = approvedTransfer({ key: scene.key, governedBy: byDevice, createdAtMs: Date.now() - 3_600_000 });
  const approvals = approvalsOf(backdated.transaction.digest, LAPTOP, PHONE);
  const again = { ...backdated, policies, approvals, attempt: cancellation(backdated, 1, 2_000_000_000_000n, 9n) };
  await refusedByAll(scene.cosigners, again, 'not-enough-approvals');
});

test('co-signers with a record of an earlier payment cancel it, and sign no other payment for it', async () => {
  const request = { ...before, policies, attempt: cancellation(before, 2, 2_200_000_000n, 5n) };
  // Co-signer 3 has no record of the payment.
  expect(await thresholdSign(scene.cosigners.some(1, 3), request)).toMatchObject({ ok: false });
  const dear = { ...request, attempt: cancellation(before, 2, 3_000_000_000_000n, 5n) };
  expect(await thresholdSign(scene.cosigners.some(1, 2), dear)).toMatchObject({
    ok: false,
    reason: expect.stringContaining('fee-above-cap') as string,
  });
  expect(await thresholdSign(scene.cosigners.some(1, 2), request)).toMatchObject({ ok: true });
});

test('the current signers can cancel a transaction of which no co-signer has a record', async () => {
  const mine = approvedTransfer({ key: scene.key, governedBy: byDevice });
  const approvals = approvalsOf(mine.transaction.digest, NEW_LAPTOP, NEW_PHONE);
  const request = { ...mine, policies, approvals, attempt: cancellation(mine, 1, 2_000_000_000n, 11n) };
  expect(await thresholdSign(scene.cosigners.some(1, 3), request)).toEqual({
    ok: true,
    signatures: [expect.anything()],
  });
});
