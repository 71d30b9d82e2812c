/**
 * Attack: the coordinator withholds a revocation from one honest co-signer, and a hostile co-signer
 *   signs together with that one for the revoked devices.
 * Attacker: coordinator and co-signer
 * Co-signers: 1
 * Finding: 2.7
 * Defence: the policy in force is part of the session, so co-signers with different policies
 *   never sign together.
 */
import { hexToBytes } from '@noble/hashes/utils.js';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { addressOn } from '#chains/inspect/address-on.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import { generateKey } from '../../cosigner/key/generate-key.ts';
import { relay } from '#jobs/signing/relay.ts';
import { thresholdSign } from '../../cosigner/threshold-sign.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';
import { byDevice, founded } from '../../cosigner/policy/device-scene.ts';
import type { Cosigners } from '../../cosigner/cosigners.ts';
import { anvilRules, approvedTransfer, inVault, present, startCosigners } from '../../cosigner/cosigners.ts';
import { Puppet } from '../../cosigner/signing/byzantine-cosigner.ts';
import { openBody } from '../../cosigner/rejected-requests.ts';
import {
  approvalsOf,
  changeTo,
  first,
  LAPTOP,
  NEW_LAPTOP,
  NEW_PHONE,
  PHONE,
  revoked,
  shownTo,
} from '../policy-scene.ts';

let cosigners: Cosigners;
let puppet: Puppet;
let key: VaultKey;
const change = changeTo(revoked, [LAPTOP, PHONE]);

beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  cosigners = await startCosigners();
  puppet = await Puppet.ofNode2(cosigners.folder);
  key = await keyUnder(byDevice);
  expect(await shownTo(cosigners.some(1), change, cosigners.all)).toEqual(['adopted']);
});
afterAll(() => cosigners.stop());

async function keyUnder(policy: Policy): Promise<VaultKey> {
  const scheme = 'ecdsa-secp256k1';
  const made = await generateKey(crew(), { scheme, policies: [founded(policy)] });
  if (!made.ok) throw new Error(made.refusal.reason);
  const address = addressOn(anvilRules.chain.caip2, scheme, hexToBytes(made.value.publicKey));
  return { ...made.value, addresses: { anvil: present(address) } };
}

function crew(): readonly CosignerClient[] {
  return [...cosigners.some(1), puppet, ...cosigners.some(3)];
}

function payment(...signs: Parameters<typeof approvalsOf>[1][]) {
  const request = approvedTransfer({ key, governedBy: byDevice });
  return { ...request, policies: [first], approvals: approvalsOf(request.transaction.digest, ...signs) };
}

test('two honest co-signers do not sign together if only one of them knows the revocation', async () => {
  const theft = payment(LAPTOP, PHONE);
  expect(await thresholdSign(cosigners.some(1, 3), theft)).toMatchObject({ ok: false });
  expect(await thresholdSign(cosigners.some(1, 3), { ...theft, policies: [first, change] })).toMatchObject({
    ok: false,
  });
  // Now both co-signers know the revocation, and the current signers can pay.
  const mine = { ...payment(NEW_LAPTOP, NEW_PHONE), policies: [first, change] };
  expect(await shownTo(cosigners.some(3), change, cosigners.all)).toEqual(['adopted']);
  expect(await thresholdSign(cosigners.some(1, 3), mine)).toMatchObject({ ok: true });
});

test('after the revocation no honest co-signer signs with the hostile one for the revoked devices', async () => {
  for (const policy of [byDevice, revoked]) {
    puppet.inForce = policy;
    expect(await thresholdSign([puppet, ...cosigners.some(3)], payment(LAPTOP, PHONE))).toMatchObject({ ok: false });
  }
});

test('with receipts of every co-signer, one that knows the revocation stops one that does not', async () => {
  const guarded = inVault(8, { ...byDevice, rules: { ...byDevice.rules, signOnce: 'every-cosigner' } });
  const guardedKey = await keyUnder(guarded);
  const next = inVault(8, { ...revoked, rules: guarded.rules, previousHash: policyHashOf(guarded) });
  const after = changeTo(next, [LAPTOP, PHONE]);
  const theft = () => {
    const request = approvedTransfer({ key: guardedKey, governedBy: guarded });
    const approvals = approvalsOf(request.transaction.digest, LAPTOP, PHONE);
    return { ...request, policies: [founded(guarded)], approvals };
  };
  puppet.inForce = guarded;
  expect(await thresholdSign(crew(), theft())).toMatchObject({ ok: true });
  expect(await shownTo(cosigners.some(1), after, cosigners.all)).toEqual(['adopted']);
  // Co-signer 3 does not know the revocation and co-signer 2 is hostile. Co-signer 1 gives no
  // receipt.
  puppet.inForce = guarded;
  expect(await thresholdSign([puppet, ...cosigners.some(3)], theft())).toMatchObject({ ok: false });
  expect(await thresholdSign(crew(), theft())).toMatchObject({ ok: false });
});

test('two honest co-signers with different policies in force do not sign even what both policies allow', async () => {
  const own = inVault(9, byDevice);
  const ownKey = await keyUnder(own);
  const harmless: Policy = {
    ...own,
    version: 2,
    rules: { ...own.rules, unreadableThreshold: 2 },
    previousHash: policyHashOf(own),
  };
  const before = founded(own);
  const after = changeTo(harmless, [LAPTOP, PHONE]);
  expect(await shownTo(cosigners.some(1), after, cosigners.all)).toEqual(['adopted']);
  const request = approvedTransfer({ key: ownKey, governedBy: own });
  const approvals = approvalsOf(request.transaction.digest, LAPTOP, PHONE);
  // The coordinator names to each co-signer the policy version that it has in force.
  const run = await relay({
    cosigners: cosigners.some(1, 3),
    path: () => `key/${ownKey.keyId}`,
    request: ({ index }) =>
      openBody({ ...request, approvals, policies: index === 1 ? [before, after] : [before] }, [1, 3]),
  });
  expect(run.ok ? 'signed' : run.refusal.code).toBe('envelope-refused');
});
