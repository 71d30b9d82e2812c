/**
 * Attack: a co-signer that has a revocation in force attests a record of others, and the
 *   attestation is presented as its receipt.
 * Attacker: coordinator and co-signer
 * Co-signers: 1
 * Finding: 2.7
 * Defence: receipts have a domain of their own, name the policy of the giver, and are given after
 *   its own check alone.
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
}, 120_000);
afterAll(() => scene.cosigners.stop());

test('an attested row is no receipt: the co-signer that is behind does not pay the revoked devices', async () => {
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
}, 60_000);
