import { hexToBytes } from '@noble/hashes/utils.js';
import { addressOn } from '#chains/inspect/address-on.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import { generateKey } from '../cosigner/key/generate-key.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';
import { byDevice, founded } from '../cosigner/policy/device-scene.ts';
import { anvilRules, present, startCosigners } from '../cosigner/cosigners.ts';
import { Puppet } from '../cosigner/signing/byzantine-cosigner.ts';
import { changeTo, LAPTOP, PHONE, revoked, shownTo } from './policy-scene.ts';

/**
 * A vault that requires receipts of every co-signer. Co-signer 1 knows its revocation, co-signer 2
 * is hostile, and co-signer 3 is not shown the revocation.
 */

export const guarded: Policy = { ...byDevice, rules: { ...byDevice.rules, signOnce: 'every-cosigner' } };
export const after: Policy = { ...revoked, rules: guarded.rules, previousHash: policyHashOf(guarded) };
export const before = founded(guarded);
export const change = changeTo(after, [LAPTOP, PHONE]);

export type WithheldScene = Awaited<ReturnType<typeof startWithheldScene>>;

export async function startWithheldScene() {
  const cosigners = await startCosigners();
  const puppet = await Puppet.ofNode2(cosigners.folder);
  const crew: readonly CosignerClient[] = [...cosigners.some(1), puppet, ...cosigners.some(3)];
  const scheme = 'ecdsa-secp256k1';
  const made = await generateKey(crew, { scheme, policies: [before] });
  if (!made.ok) throw new Error(made.refusal.reason);
  const address = addressOn(anvilRules.chain.caip2, scheme, hexToBytes(made.value.publicKey));
  const key: VaultKey = { ...made.value, addresses: { anvil: present(address) } };
  const [adopted] = await shownTo(cosigners.some(1), change, cosigners.all);
  if (adopted !== 'adopted') throw new Error(`co-signer 1 answers ${adopted}`);
  const [one, three] = [present(cosigners.some(1)[0]), present(cosigners.some(3)[0])];
  /** Returns the first row that a co-signer attests for a transaction. */
  const rowAt = async (cosigner: CosignerClient, transactionId: string) => {
    const response = await cosigner.call(`key/${key.keyId}/signed`, { transactionId });
    if (!response.ok) throw new Error(response.refusal.code);
    return present((response.value as { record: unknown; signature: string }[])[0]);
  };
  /**
   * Gives the row of co-signers 2 and 3 to co-signer 1, as after a signature in which it did not
   * take part.
   */
  const witnessedAtOne = async (transactionId: string, request: unknown) => {
    const line = await rowAt(three, transactionId);
    const attesters = { 2: await puppet.rowSignature(key.keyId, { request }), 3: line.signature };
    return one.call(`key/${key.keyId}/witness`, { record: line.record, witnesses: attesters });
  };
  return { cosigners, puppet, key, one, three, rowAt, witnessedAtOne };
}
