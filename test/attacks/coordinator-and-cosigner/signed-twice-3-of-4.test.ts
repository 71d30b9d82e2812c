/**
 * Attack: the coordinator has one approved payment signed twice, at two nonces, by two groups of
 *   three that share the hostile co-signer.
 * Attacker: coordinator and co-signer
 * Co-signers: 1
 * Finding: 2.3
 * Defence: two groups of three out of four share two co-signers, of which the honest one signs a
 *   transaction only once.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { hexToBytes } from '@noble/hashes/utils.js';
import { addressOn } from '#chains/inspect/address-on.ts';
import { defaultRules } from '#domain/policy/optional-rules.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import { signerGroups } from '#cosigner-client/signer-groups.ts';
import { thresholdSign } from '../../cosigner/threshold-sign.ts';
import { generateKey } from '../../cosigner/key/generate-key.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';
import { byDevice, founded } from '../../cosigner/policy/device-scene.ts';
import type { ApprovedTransfer, Cosigners } from '../../cosigner/cosigners.ts';
import { anvilRules, approvedTransfer, attemptOf, present, startCosigners } from '../../cosigner/cosigners.ts';
import { Puppet } from '../../cosigner/signing/byzantine-cosigner.ts';
import { approvalsOf, LAPTOP, PHONE } from '../policy-scene.ts';

const SCHEME = 'ecdsa-secp256k1';
const THREE_OF_FOUR = { threshold: 3, count: 4 };
/**
 * The default rules of a vault in device mode with 3 of 4: the sign-once mode is `quorum`, without
 * receipts.
 */
const rules = { ...byDevice.rules, ...defaultRules('device', THREE_OF_FOUR) };
const policy: Policy = { ...byDevice, signingThreshold: 3, rules };

let cosigners: Cosigners;
let puppet: Puppet;
let key: VaultKey;

beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  cosigners = await startCosigners(4);
  puppet = await Puppet.ofNode2(cosigners.folder);
  key = await keyOf(crew());
});
afterAll(() => cosigners.stop());

/** Returns all four co-signers, of which co-signer 2 is hostile. */
function crew(): readonly CosignerClient[] {
  return [...cosigners.some(1), puppet, ...cosigners.some(3, 4)];
}

async function keyOf(group: readonly CosignerClient[]): Promise<VaultKey> {
  const terms = { scheme: SCHEME, policies: [founded(policy)] } as const;
  const made = await generateKey(group, terms);
  if (!made.ok) throw new Error(made.refusal.reason);
  const address = addressOn(anvilRules.chain.caip2, SCHEME, hexToBytes(made.value.publicKey));
  return { ...made.value, addresses: { anvil: present(address) } };
}

function paid(by: VaultKey, nonce: bigint): ApprovedTransfer {
  const request = approvedTransfer({ key: by, governedBy: policy, nonce });
  const approvals = approvalsOf(request.transaction.digest, LAPTOP, PHONE);
  return { ...request, approvals, policies: [founded(policy)] };
}

function atNonce(request: ApprovedTransfer, nonce: bigint, attempt = 1): ApprovedTransfer {
  return { ...request, attempt: attemptOf(request.intent, { nonce }, attempt) };
}

test('after any group has signed a payment, no group signs it at another nonce', async () => {
  let nonce = 10n;
  for (const first of signerGroups(crew(), 3).filter((group) => group.includes(puppet))) {
    nonce += 10n;
    const request = paid(key, nonce);
    expect(await thresholdSign(first, request)).toMatchObject({ ok: true });
    for (const second of signerGroups(crew(), 3)) {
      const names = second.map(({ index }) => index);
      // Another first attempt, then a replacement of the first attempt.
      for (const attempt of [1, 2]) {
        const again = await thresholdSign(second, atNonce(request, nonce + 1n, attempt));
        const said = again.ok ? 'signed' : again.reason;
        expect([names, attempt, said]).toEqual([names, attempt, expect.stringContaining('second-digest')]);
      }
    }
    // Requests for the same bytes are signed again, so a lost answer does no harm.
    expect(await thresholdSign(crew(), request)).toMatchObject({ ok: true });
  }
});

test('two groups that get simultaneous requests for two nonces sign one payment', async () => {
  const request = paid(key, 7n);
  const [one, other] = [
    [...cosigners.some(1), puppet, ...cosigners.some(3)],
    [puppet, ...cosigners.some(3, 4)],
  ];
  const outcomes = await Promise.all([thresholdSign(one, request), thresholdSign(other, atNonce(request, 8n))]);
  expect(outcomes.filter(({ ok }) => ok)).toHaveLength(1);
});

test('with a second hostile co-signer of 3 of 4, one payment can be signed twice (a known limit)', async () => {
  const accomplice = await Puppet.of(cosigners.folder, 3);
  const [first, fourth] = [cosigners.some(1), cosigners.some(4)];
  const lost = await keyOf([...first, puppet, accomplice, ...fourth]);
  const request = paid(lost, 5n);
  expect(await thresholdSign([...first, puppet, accomplice], request)).toMatchObject({ ok: true });
  expect(await thresholdSign([puppet, accomplice, ...fourth], atNonce(request, 6n))).toMatchObject({ ok: true });
});
