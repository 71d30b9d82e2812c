/**
 * Attack: after two co-signers lost their records, the coordinator has them cancel payments that
 *   were executed before, each under a later attempt and at a fresh nonce, and burns the approved
 *   fees.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: N3
 * Defence: a co-signer without a row of a transaction that is older than its records refuses every
 *   attempt and every purpose, and gives no receipt. It signs once others have attested the row.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { AttemptPurpose } from '#domain/transaction/intent.ts';
import { actionOfAttempt } from '#domain/transaction/intent.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import { propagateSignedRecord } from '#jobs/signing/propagate-signed-record.ts';
import type { ApprovedTransfer, Cosigners } from '../../cosigner/cosigners.ts';
import { approvedTransfer, attemptOf, newKey, present, startCosigners } from '../../cosigner/cosigners.ts';
import { RefreshRun } from '../../cosigner/key/refresh-scene.ts';
import { openBody } from '../../cosigner/rejected-requests.ts';
import { thresholdSign } from '../../cosigner/threshold-sign.ts';

let cosigners: Cosigners;
let key: VaultKey;
let executed: readonly ApprovedTransfer[];
/** Co-signers 2 and 3 signed it before they lost their records. */
let inFlight: ApprovedTransfer;

beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  cosigners = await startCosigners();
  key = await newKey(cosigners.all);
  executed = [1n, 2n, 3n].map((nonce) => approvedTransfer({ key, nonce }));
  for (const payment of executed) {
    expect(await thresholdSign(cosigners.some(1, 2), payment)).toMatchObject({ ok: true });
  }
  inFlight = approvedTransfer({ key, nonce: 4n, maxFeePerGas: 2_000_000_000n });
  expect(await thresholdSign(cosigners.some(2, 3), inFlight)).toMatchObject({ ok: true });
  await propagate(inFlight);
  for (const index of [2, 3]) {
    await cosigners.replace(index);
    key = await new RefreshRun(key).finish(cosigners.all);
    // The rows of this payment alone reach the new machine.
    await propagate(inFlight);
  }
});
afterAll(() => cosigners.stop());

function propagate({ intent: { transactionId } }: ApprovedTransfer) {
  return propagateSignedRecord(cosigners.all, { keyId: key.keyId, transactionId, threshold: 2, signed: () => [] });
}

/** Returns a request for further bytes of a payment, which pay its whole approved fee. */
function further(
  payment: ApprovedTransfer,
  { number, purpose, nonce }: { readonly number: number; readonly purpose: AttemptPurpose; readonly nonce: bigint },
): ApprovedTransfer {
  const maxFeePerGas = BigInt(payment.intent.maxFee) / 21_000n;
  const attempt = attemptOf(actionOfAttempt(payment.intent, purpose), { nonce, maxFeePerGas }, number);
  return { ...payment, key, attempt: { ...attempt, purpose } };
}

test('co-signers that lost their records cancel no payment of before, under any attempt', async () => {
  let nonce = 100n;
  const answers = new Set<string>();
  for (const payment of executed) {
    for (const number of [1, 2, 3, 7]) {
      nonce += 1n;
      const burn = further(payment, { number, purpose: 'cancellation', nonce });
      const signed = await thresholdSign(cosigners.some(2, 3), burn);
      answers.add(signed.ok ? `signed attempt ${number}` : signed.reason);
    }
  }
  expect([...answers]).toEqual(['node 2 before-its-time']);
});

test('they give no receipt for a cancellation of a payment of before', async () => {
  const burn = further(present(executed[0]), { number: 2, purpose: 'cancellation', nonce: 200n });
  const { request } = openBody(burn, [1, 2]);
  for (const cosigner of cosigners.some(2, 3)) {
    const answer = await cosigner.call(`key/${key.keyId}/receipt`, { request });
    expect(answer.ok ? 'receipt' : answer.refusal.code).toBe('before-its-time');
  }
});

test('they speed up and cancel a payment whose row others attested', async () => {
  const attempt = attemptOf(inFlight.intent, { nonce: 4n, maxFeePerGas: 3_000_000_000n }, 2);
  expect(await thresholdSign(cosigners.some(2, 3), { ...inFlight, key, attempt })).toMatchObject({ ok: true });
  const cancelled = further(inFlight, { number: 3, purpose: 'cancellation', nonce: 4n });
  expect(await thresholdSign(cosigners.some(2, 3), cancelled)).toMatchObject({ ok: true });
});
