import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { hexToBytes } from '@noble/hashes/utils.js';
import { addressOn } from '#chains/inspect/address-on.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import { defaultRules } from '#domain/policy/optional-rules.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import { thresholdSign } from '../threshold-sign.ts';
import { generateKey } from '../key/generate-key.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';
import { cosignerClient } from '#cosigner-client/client.ts';
import { approvalsOf, changeTo, LAPTOP, PHONE } from '../../attacks/policy-scene.ts';
import { party } from '../../mpc/dealt-key.ts';
import { byDevice, founded } from '../policy/device-scene.ts';
import type { Cosigners } from '../cosigners.ts';
import { anvilRules, approvedTransfer, inVault, present, startCosigners } from '../cosigners.ts';

/** Tests four co-signers of which three sign, in device mode: the recommended set-up. */

const SCHEME = 'ecdsa-secp256k1';
const rules = { ...byDevice.rules, ...defaultRules('device', { threshold: 3, count: 4 }) };
const policy: Policy = { ...byDevice, signingThreshold: 3, rules };
const guarded = inVault(8, { ...policy, rules: { ...rules, signOnce: 'every-cosigner' } });

let cosigners: Cosigners;
let closedOrigin: string;

beforeAll(async () => {
  cosigners = await startCosigners(4);
  closedOrigin = await originThatNothingListensAt();
});
afterAll(() => cosigners.stop());

async function originThatNothingListensAt(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

/** Returns clients of all four co-signers, of which the given ones are unreachable. */
function without(...absent: readonly number[]): readonly CosignerClient[] {
  const gone = (index: number) => cosignerClient(party(index), { origin: closedOrigin, coordinatorSecret: null });
  return cosigners.all.map((cosigner) => (absent.includes(cosigner.index) ? gone(cosigner.index) : cosigner));
}

async function keyUnder(governedBy: Policy): Promise<VaultKey> {
  const terms = { scheme: SCHEME, policies: [founded(governedBy)] } as const;
  const made = await generateKey(cosigners.all, terms);
  if (!made.ok) throw new Error(made.refusal.reason);
  const address = addressOn(anvilRules.chain.caip2, SCHEME, hexToBytes(made.value.publicKey));
  return { ...made.value, addresses: { anvil: present(address) } };
}

/**
 * Returns a transfer that the laptop and the phone have approved, under the newest of these
 * policies.
 */
function approvedBy(key: VaultKey, policies: readonly AdoptedPolicy[]) {
  const request = approvedTransfer({ key, governedBy: present(policies.at(-1)).policy });
  const approvals = approvalsOf(request.transaction.digest, LAPTOP, PHONE);
  return { ...request, approvals, policies };
}

test('a payment is signed while any one of the four co-signers is absent', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const first = [founded(policy)];
  const key = await keyUnder(policy);
  for (const absent of [1, 2, 3, 4]) {
    const outcome = await thresholdSign(without(absent), approvedBy(key, first));
    expect([absent, outcome.ok ? 'signed' : outcome.reason]).toEqual([absent, 'signed']);
  }
  expect(await thresholdSign(without(1, 3), approvedBy(key, first))).toMatchObject({ verdict: 'unavailable' });
  vi.restoreAllMocks();
});

test('a policy change reaches three co-signers while one is absent, and that one when it is back', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const first = founded(policy);
  const key = await keyUnder(policy);
  const next: Policy = { ...policy, version: 2, previousHash: policyHashOf(policy) };
  const policies = [first, changeTo(next, [LAPTOP, PHONE])];
  expect(await thresholdSign(without(4), approvedBy(key, policies))).toMatchObject({ ok: true });
  // Co-signer 1 is absent now, so the co-signer that missed the change has to sign.
  expect(await thresholdSign(without(1), approvedBy(key, policies))).toMatchObject({ ok: true });
  vi.restoreAllMocks();
});

test('under a policy that requires receipts of every co-signer, an absent co-signer blocks the payment until it is back', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const key = await keyUnder(guarded);
  const request = approvedBy(key, [founded(guarded)]);
  const outcome = await thresholdSign(without(2), request);
  expect(outcome).toMatchObject({ verdict: 'unavailable' });
  expect(await thresholdSign(cosigners.all, request)).toMatchObject({ ok: true });
  vi.restoreAllMocks();
});
