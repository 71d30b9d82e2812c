import type { CosignerSet } from '#cosigner/cosigner-set.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import { type Refused, refusal } from '#cosigner/refusal.ts';
import { recordFields } from '#cosigner/policy/signed-record.ts';
import type { SignedRecord } from '#cosigner/tables/signed-table.ts';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { verifyAsCosigner } from '#mpc/envelope.ts';
import type { PartyIndex } from '#mpc/party.ts';

/**
 * Enforces sign-once even when the co-signer that two groups share is hostile. A receipt is the
 * signature of a co-signer over its sign-once row for one attempt of a transaction. The co-signer
 * writes the row first, after the full check of the bytes. The row fixes the nonce, nonce account
 * or first UTXO for all attempts. A receipt names the policy under which the co-signer checked. Its
 * bytes have a domain of their own: a co-signer also signs rows that others attested to it, and
 * such a signature is no receipt. A co-signer that gave a receipt for one payment refuses to sign
 * another payment of the same transaction, and to give a receipt for it. So with receipts of every
 * co-signer, a second signature needs a group without an honest member.
 *
 * The co-signers of the session give no separate receipt: each of them writes its row before its
 * first message, and there is no signature without that message.
 */
export interface ReceiptTerms {
  readonly membership: CosignerSet;
  readonly keyId: string;
  readonly signers: readonly PartyIndex[];
  /** The row that this co-signer commits to in this session. */
  readonly record: SignedRecord;
  /** The policy in force, under which every co-signer with a receipt has to have checked. */
  readonly policy: Policy;
  readonly isBanned: (peer: PartyIndex) => Promise<boolean>;
}

/** Returns the bytes that a co-signer signs after it checked a request itself and wrote its row. */
export function receiptBytes(keyId: string, record: SignedRecord, policy: Policy): Uint8Array<ArrayBuffer> {
  return canonicalBytes('conclave/sign-once-receipt/v1', [
    ...recordFields(keyId, record),
    ['policyVersion', String(policy.version)],
    ['policyHash', policyHashOf(policy)],
  ]);
}

/**
 * Returns the refusal for the first co-signer whose receipt is missing or wrong, or null. A
 * co-signer that this one banned needs no receipt: it was caught cheating, and must not block the
 * vault.
 */
export async function receiptFault(
  { membership, keyId, signers, record, policy, isBanned }: ReceiptTerms,
  receipts: ReadonlyMap<PartyIndex, Uint8Array>,
): Promise<Refused | null> {
  const bytes = receiptBytes(keyId, record, policy);
  for (const [party, peer] of membership.peers) {
    if (signers.includes(party)) continue;
    const receipt = receipts.get(party);
    if (receipt !== undefined && (await verifyAsCosigner(peer, bytes, receipt))) continue;
    if (!(await isBanned(party))) return refusal('receipt-missing', null, party);
  }
  return null;
}
