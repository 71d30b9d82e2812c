/**
 * Attack: a co-signer that knows a revocation attests a row that others showed it, and the attestation is passed off as its receipt.
 * Attacker: coordinator and co-signer
 * Co-signers: 1
 * Finding: 2.7
 * Defence: receipts have a domain of their own, name the policy of the giver, and are given after its own check alone.
 */
import { hexToBytes } from '@noble/hashes/utils.js';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { addressOn } from '#chains/address-on.ts';
import { policyHashOf } from '#cosigner/policy-chain.ts';
import type { Policy } from '#domain/policy.ts';
import type { VaultKey } from '#domain/vault.ts';
import { relay } from '#jobs/relay.ts';
import { generateKey } from '#local/generate-key.ts';
import type { CosignerClient } from '#nodes/cosigner-client.ts';
import { byDevice } from '../../cosigner/device-scene.ts';
import type { Nodes } from '../../cosigner/nodes.ts';
import { anvilAdapter, approvedTransfer, present, startNodes } from '../../cosigner/nodes.ts';
import { Puppet } from '../../cosigner/puppet.ts';
import { openBody } from '../../cosigner/refused-by-all.ts';
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

test('an attested row is no receipt: the co-signer that is behind does not pay the revoked devices', async () => {
  const [one, three] = [present(nodes.some(1)[0]), present(nodes.some(3)[0])];
  const path = `key/${key.keyId}`;
  const theft = approvedTransfer({ key, governedBy: guarded, nonce: 9n });
  const asked = { ...theft, policies: [before], approvals: approvalsOf(theft.transaction.digest, LAPTOP, PHONE) };
  const body = openBody(asked, [2, 3]);
  const { request } = body;
  puppet.inForce = guarded;
  const session = async (receipts: Readonly<Record<string, string>>) => {
    const run = await relay({
      nodes: [puppet, three],
      place: () => path,
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
