/**
 * Attack: a co-signer that knows a revocation attests another co-signer's record of a payment, and
 *   the coordinator presents the attestation as a receipt.
 * Attacker: coordinator and co-signer
 * Co-signers: 1
 * Finding: 2.7
 * Defence: receipts have their own signature domain, name the policy of the co-signer that gives
 *   them, and are given only after its own check.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { relay } from '#jobs/signing/relay.ts';
import { approvedTransfer } from '../../cosigner/cosigners.ts';
import { openBody } from '../../cosigner/rejected-requests.ts';
import { approvalsOf, LAPTOP, PHONE } from '../policy-scene.ts';
import type { WithheldScene } from '../withheld-scene.ts';
import { before, guarded, startWithheldScene } from '../withheld-scene.ts';

let scene: WithheldScene;
beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  scene = await startWithheldScene();
});
afterAll(() => scene.cosigners.stop());

test('an attested row is not accepted as a receipt, so an outdated co-signer does not pay for revoked devices', async () => {
  const { puppet, key, one, three, rowAt, witnessedAtOne } = scene;
  const path = `key/${key.keyId}`;
  const theft = approvedTransfer({ key, governedBy: guarded, nonce: 9n });
  const requested = { ...theft, policies: [before], approvals: approvalsOf(theft.transaction.digest, LAPTOP, PHONE) };
  const body = openBody(requested, [2, 3]);
  const { request } = body;
  puppet.inForce = guarded;
  const session = async (receipts: Readonly<Record<string, string>>) => {
    const run = await relay({
      cosigners: [puppet, three],
      path: () => path,
      request: () => body,
      receipts: async () => ({ ok: true, value: receipts }),
    });
    return run.ok ? 'signed' : run.refusal.code;
  };
  expect(await one.call(`${path}/receipt`, { request })).toMatchObject({ refusal: { code: 'policy-ahead' } });
  expect(await three.call(`${path}/receipt`, { request })).toMatchObject({ ok: true });
  expect(await witnessedAtOne(theft.intent.transactionId, request)).toMatchObject({ ok: true });
  const attested = await rowAt(one, theft.intent.transactionId);
  expect(await session({ 1: attested.signature })).toBe('receipt-missing');
  expect(await session({ 1: await puppet.receipt(key.keyId, { request }) })).toBe('receipt-missing');
});
