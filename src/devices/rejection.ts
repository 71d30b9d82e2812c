import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { transactionRejectionBytes } from '#domain/access/transaction-rejection.ts';
import type { PolicyChange } from '#domain/policy/policy-change.ts';
import { rejectionBytes } from '#domain/policy/policy-rejection.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';

/** The bytes of a rejection, and the digest that a device signs, both as hex. */
interface SignedRejection {
  readonly canonical: string;
  readonly digest: string;
}

export function rejectionOf({ id, policy, digest }: Pick<PolicyChange, 'id' | 'policy' | 'digest'>): SignedRejection {
  return signed(rejectionBytes({ vaultId: policy.vaultId, changeId: id, mandateDigest: digest }));
}

export function rejectionOfTransaction({
  id,
  vaultId,
  digest,
}: Pick<Transaction, 'id' | 'vaultId' | 'digest'>): SignedRejection {
  return signed(transactionRejectionBytes({ vaultId, transactionId: id, intentDigest: digest }));
}

function signed(bytes: Uint8Array): SignedRejection {
  return { canonical: bytesToHex(bytes), digest: bytesToHex(sha256(bytes)) };
}
