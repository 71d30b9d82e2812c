/**
 * Attack: the coordinator has one approved payment signed twice, at two nonces, by two groups whose
 *   shared co-signer is hostile.
 * Attacker: coordinator and co-signer
 * Co-signers: 1
 * Finding: 2.3
 * Defence: before the last round each signer requires receipts of every co-signer of the vault, and
 *   a receipt fixes the nonce.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Policy } from '#domain/policy/policy.ts';
import { generateKey } from '../../cosigner/key/generate-key.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import { thresholdSign } from '../../cosigner/threshold-sign.ts';
import { relay } from '#jobs/signing/relay.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';
import { addressOn } from '#chains/inspect/address-on.ts';
import { hexToBytes } from '@noble/hashes/utils.js';
import { byDevice, founded } from '../../cosigner/policy/device-scene.ts';
import type { ApprovedTransfer, Cosigners } from '../../cosigner/cosigners.ts';
import { anvilRules, approvedTransfer, attemptOf, inVault, present, startCosigners } from '../../cosigner/cosigners.ts';
import { Puppet } from '../../cosigner/signing/byzantine-cosigner.ts';
import { openBody } from '../../cosigner/rejected-requests.ts';
import { approvalsOf, LAPTOP, PHONE } from '../policy-scene.ts';

let cosigners: Cosigners;
let puppet: Puppet;
const guarded = inVault(8, { ...byDevice, rules: { ...byDevice.rules, signOnce: 'every-cosigner' } });
const keys = new Map<Policy, VaultKey>();

beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  cosigners = await startCosigners();
  puppet = await Puppet.ofNode2(cosigners.folder);
  for (const policy of [guarded, byDevice]) {
    const scheme = 'ecdsa-secp256k1';
    const made = await generateKey(crew(), { scheme, policies: [founded(policy)] });
    if (!made.ok) throw new Error(made.refusal.reason);
    const address = addressOn(anvilRules.chain.caip2, scheme, hexToBytes(made.value.publicKey));
    keys.set(policy, { ...made.value, addresses: { anvil: present(address) } });
  }
});
afterAll(() => cosigners.stop());

function crew(): readonly CosignerClient[] {
  return [...cosigners.some(1), puppet, ...cosigners.some(3)];
}

function paid(policy: Policy, nonce: bigint): ApprovedTransfer {
  puppet.inForce = policy;
  const requested = approvedTransfer({ key: present(keys.get(policy)), governedBy: policy, nonce });
  const approvals = approvalsOf(requested.transaction.digest, LAPTOP, PHONE);
  return { ...requested, approvals, policies: [founded(policy)] };
}

const atNonce = (requested: ApprovedTransfer, nonce: bigint) => ({
  ...requested,
  attempt: attemptOf(requested.intent, { nonce }),
});

test('after signing with one honest co-signer, the hostile one gets no second payment signed by the other', async () => {
  const requested = paid(guarded, 5n);
  expect(await thresholdSign(crew(), requested)).toMatchObject({ ok: true });
  // Co-signer 3 gave its receipt for nonce 5, so it neither signs nonce 6 nor gives a receipt for
  // nonce 6.
  for (const group of [crew(), [puppet, ...cosigners.some(3)], [...cosigners.some(1), puppet]]) {
    expect(await thresholdSign(group, atNonce(requested, 6n))).toMatchObject({ ok: false });
  }
  // Co-signer 3 remembers its receipt, although it did not take part in the signature.
  const { request } = openBody(atNonce(requested, 6n), [1, 2]);
  const again = await present(cosigners.some(3)[0]).call(`key/${present(keys.get(guarded)).keyId}/receipt`, {
    request,
  });
  expect(again.ok ? 'given' : again.refusal.code).toBe('second-digest');
  // Requests for the same bytes are signed again by any group, so a lost answer does no harm.
  expect(await thresholdSign(crew(), requested)).toMatchObject({ ok: true });
});

test('an honest signer sends no last message without the receipt of the co-signer that does not take part', async () => {
  const requested = paid(guarded, 7n);
  const { keyId } = present(keys.get(guarded));
  const session = (receipts: Readonly<Record<string, string>>) =>
    relay({
      cosigners: [...cosigners.some(1), puppet],
      path: () => `key/${keyId}`,
      request: () => openBody(requested, [1, 2]),
      receipts: async () => ({ ok: true, value: receipts }),
    });
  const without = await session({});
  expect(without.ok ? 'signed' : [without.refusal.code, without.refusal.culprit]).toEqual(['receipt-missing', 3]);
  const forged = await puppet.receipt(keyId, openBody(requested, [1, 2]));
  const instead = await session({ 3: forged });
  expect(instead.ok ? 'signed' : instead.refusal.code).toBe('receipt-missing');
  const [third] = cosigners.some(3);
  const of = (request: ApprovedTransfer) =>
    present(third).call(`key/${keyId}/receipt`, { request: openBody(request, [1, 2]).request });
  const elsewhere = await of(paid(guarded, 8n));
  const other = elsewhere.ok ? (elsewhere.value as { receipt: string }).receipt : '';
  const reused = await session({ 3: other });
  expect(reused.ok ? 'signed' : reused.refusal.code).toBe('receipt-missing');
  const honest = await of(requested);
  const receipt = honest.ok ? (honest.value as { receipt: string }).receipt : '';
  expect((await session({ 3: receipt })).ok).toBe(true);
});

test('a co-signer gives no receipt for bytes that no quorum has approved', async () => {
  const requested = paid(guarded, 9n);
  const [third] = cosigners.some(3);
  const { request } = openBody({ ...requested, approvals: requested.approvals.slice(0, 1) }, [1, 2]);
  const answer = await present(third).call(`key/${present(keys.get(guarded)).keyId}/receipt`, { request });
  expect(answer.ok ? 'given' : answer.refusal.code).toBe('not-enough-approvals');
});

test('in mode quorum with 2 of 3, one hostile co-signer can get a payment signed twice (a known limit)', async () => {
  const requested = paid(byDevice, 5n);
  expect(await thresholdSign([...cosigners.some(1), puppet], requested)).toMatchObject({ ok: true });
  expect(await thresholdSign([puppet, ...cosigners.some(3)], atNonce(requested, 6n))).toMatchObject({ ok: true });
});
