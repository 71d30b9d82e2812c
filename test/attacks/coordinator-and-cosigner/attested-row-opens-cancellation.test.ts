/**
 * Attack: after a revocation, the coordinator attests a row of the revoked devices to a co-signer,
 *   which then signs a costly cancellation under the old policy.
 * Attacker: coordinator and co-signer
 * Co-signers: 1
 * Finding: 2.2, F4
 * Defence: the old policy judges a cancellation only if the co-signer has its own row. A row that
 *   others attested never opens the exception, also under later policies.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { actionOfAttempt } from '#domain/transaction/intent.ts';
import { relay } from '#jobs/signing/relay.ts';
import { approvedTransfer, attemptOf } from '../../cosigner/cosigners.ts';
import { openBody } from '../../cosigner/rejected-requests.ts';
import { amount } from '../../domain/cast.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import { receiptsOf } from '#jobs/signing/receipts.ts';
import { approvalsOf, changeTo, LAPTOP, NEW_LAPTOP, NEW_PHONE, PHONE, shownTo } from '../policy-scene.ts';
import type { WithheldScene } from '../withheld-scene.ts';
import { after, before, change, guarded, startWithheldScene } from '../withheld-scene.ts';

let scene: WithheldScene;
beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  scene = await startWithheldScene();
});
afterAll(() => scene.cosigners.stop());

test('revoked devices cannot spend fees at a co-signer that knows the revocation', async () => {
  const { puppet, key, one, three, witnessedAtOne } = scene;
  const path = `key/${key.keyId}`;
  const theft = approvedTransfer({ key, governedBy: guarded, nonce: 9n });
  const requested = { ...theft, policies: [before], approvals: approvalsOf(theft.transaction.digest, LAPTOP, PHONE) };
  const { request } = openBody(requested, [1, 2]);
  puppet.inForce = guarded;
  expect(await three.call(`${path}/receipt`, { request })).toMatchObject({ ok: true });
  expect(await witnessedAtOne(theft.intent.transactionId, request)).toMatchObject({ ok: true });
  const effect = { ...actionOfAttempt(theft.intent, 'cancellation'), maxFee: amount('9'.repeat(30)) };
  const price = BigInt(theft.intent.maxFee) / 21_000n;
  const attempt = { ...attemptOf(effect, { maxFeePerGas: price, nonce: 9n }, 2), purpose: 'cancellation' as const };
  const burn = openBody({ ...requested, attempt, policies: [before, change] }, [1, 2]);
  puppet.inForce = after;
  const signed = await relay({ cosigners: [one, puppet], path: () => path, request: () => burn });
  expect(signed.ok ? 'signed' : signed.refusal.code).toBe('not-enough-approvals');
  // A harmless policy follows, which every co-signer adopts after the revocation.
  const harmless = { ...after, version: 3, previousHash: policyHashOf(after), threshold: 3 };
  const next = changeTo(harmless, [NEW_LAPTOP, NEW_PHONE]);
  expect(await shownTo([three], change, scene.cosigners.all)).toEqual(['adopted']);
  expect(await shownTo([one, three], next, scene.cosigners.all)).toEqual(['adopted', 'adopted']);
  puppet.inForce = harmless;
  const later = openBody({ ...requested, attempt, policies: [before, change, next] }, [1, 2]);
  const receipts = () => receiptsOf([three], key.keyId, later.request);
  const burnt = await relay({ cosigners: [one, puppet], path: () => path, request: () => later, receipts });
  expect(burnt.ok ? 'signed' : burnt.refusal.code).toBe('not-enough-approvals');
});
