/**
 * Attack: after a revocation, a row of the revoked devices is attested to a co-signer, which then cancels it for a fee under the old policy.
 * Attacker: coordinator and co-signer
 * Co-signers: 1
 * Finding: 2.2
 * Defence: only a row of its own, or one that was attested before it adopted the policy in force, lets the named policy judge a cancellation.
 */
import { hexToBytes } from '@noble/hashes/utils.js';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { addressOn } from '#chains/address-on.ts';
import { policyHashOf } from '#cosigner/policy-chain.ts';
import { effectOf } from '#domain/intent.ts';
import type { Policy } from '#domain/policy.ts';
import type { VaultKey } from '#domain/vault.ts';
import { relay } from '#jobs/relay.ts';
import { generateKey } from '#local/generate-key.ts';
import type { CosignerClient } from '#nodes/cosigner-client.ts';
import { byDevice } from '../../cosigner/device-scene.ts';
import type { Nodes } from '../../cosigner/nodes.ts';
import { anvilAdapter, approvedTransfer, attemptOf, present, startNodes } from '../../cosigner/nodes.ts';
import { Puppet } from '../../cosigner/puppet.ts';
import { openBody } from '../../cosigner/refused-by-all.ts';
import { amount } from '../../domain/cast.ts';
import { approvalsOf, changeTo, LAPTOP, PHONE, revoked, shownTo } from '../policy-scene.ts';

let nodes: Nodes;
let puppet: Puppet;
let key: VaultKey;
const guarded: Policy = { ...byDevice, rules: { ...byDevice.rules, signOnce: 'every-cosigner' } };
const after: Policy = { ...revoked, rules: guarded.rules, previousHash: policyHashOf(guarded) };
const before = { policy: guarded, mandate: null };
const change = changeTo(after, [LAPTOP, PHONE]);

beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  nodes = await startNodes();
  puppet = await Puppet.ofNode2(nodes.folder);
  const scheme = 'ecdsa-secp256k1';
  const made = await generateKey(crew(), { scheme, threshold: 2, policies: [before] });
  if (!made.ok) throw new Error(made.refusal.reason);
  const address = addressOn(anvilAdapter.chain.caip2, scheme, hexToBytes(made.value.publicKey));
  key = { ...made.value, addresses: { anvil: present(address) } };
  // Co-signer 1 knows the revocation; co-signer 3 is not shown it.
  expect(await shownTo(nodes.some(1), key.keyId, change)).toEqual(['adopted']);
}, 120_000);
afterAll(() => nodes.stop());

function crew(): readonly CosignerClient[] {
  return [...nodes.some(1), puppet, ...nodes.some(3)];
}

/** The first row that a co-signer attests for a transaction. */
async function rowAt(node: CosignerClient, transactionId: string) {
  const told = await node.call(`key/${key.keyId}/signed`, { transactionId });
  if (!told.ok) throw new Error(told.refusal.code);
  return present((told.value as { record: unknown; signature: string }[])[0]);
}

/** Co-signer 1 takes the row from co-signers 2 and 3, as after a signature that it had no part in. */
async function witnessedAtOne(transactionId: string, request: unknown) {
  const [one, three] = [present(nodes.some(1)[0]), present(nodes.some(3)[0])];
  const line = await rowAt(three, transactionId);
  const witnesses = { 2: await puppet.rowSignature(key.keyId, { request }), 3: line.signature };
  return one.call(`key/${key.keyId}/witness`, { record: line.record, witnesses });
}

test('revoked devices burn no fees at a co-signer that knows the revocation', async () => {
  const [one, three] = [present(nodes.some(1)[0]), present(nodes.some(3)[0])];
  const path = `key/${key.keyId}`;
  const theft = approvedTransfer({ key, governedBy: guarded, nonce: 9n });
  const asked = { ...theft, policies: [before], approvals: approvalsOf(theft.transaction.digest, LAPTOP, PHONE) };
  const { request } = openBody(asked, [1, 2]);
  puppet.inForce = guarded;
  expect(await three.call(`${path}/receipt`, { request })).toMatchObject({ ok: true });
  expect(await witnessedAtOne(theft.intent.transactionId, request)).toMatchObject({ ok: true });
  const effect = { ...effectOf(theft.intent, 'cancellation'), maxFee: amount('9'.repeat(30)) };
  const price = BigInt(theft.intent.maxFee) / 21_000n;
  const attempt = { ...attemptOf(effect, { maxFeePerGas: price, nonce: 9n }, 2), purpose: 'cancellation' as const };
  const burn = openBody({ ...asked, attempt, policies: [before, change] }, [1, 2]);
  puppet.inForce = after;
  const signed = await relay({ nodes: [one, puppet], place: () => path, request: () => burn });
  expect(signed.ok ? 'signed' : signed.refusal.code).toBe('not-enough-approvals');
}, 60_000);
