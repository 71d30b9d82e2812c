import type { Amount } from '#domain/amount.ts';
import type { CanonicalField } from '#domain/canonical.ts';
import { canonicalBytes } from '#domain/canonical.ts';
import type { TransactionId, VaultId } from '#domain/id.ts';

/**
 * What the signers approve: every field that moves value, fixed at creation and never edited. Approvals bind to the hash of
 * its canonical bytes; every co-signer rebuilds that hash from the fields and proves that the bytes to sign do exactly this.
 * The account nonce is not part of it: it is allocated at signing, so that a slow approval never blocks a faster one.
 */
export interface TransferIntent {
  readonly kind: 'transfer';
  readonly vaultId: VaultId;
  readonly transactionId: TransactionId;
  /** CAIP-2: names differ between vendors, and a chain id alone does not name its family. */
  readonly chain: string;
  /** The wallet that pays, in the chain's canonical spelling. */
  readonly from: string;
  readonly to: string;
  /** Token contract in canonical spelling, or null for the native asset. */
  readonly tokenAddress: string | null;
  readonly amount: Amount;
  /** The most that may be paid for inclusion, in the chain's smallest unit. */
  readonly maxFee: Amount;
  readonly policyVersion: number;
  /** Lower-case hex SHA-256 of that policy. */
  readonly policyHash: string;
  readonly note: string | null;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
}

/** Grows with the kinds of transaction; every consumer switches over `kind`. */
export type Intent = TransferIntent;

/** Ours: a quorum that met just before the expiry still has a day to be signed. */
const SIGNING_GRACE_MS = 24 * 60 * 60 * 1000;

/** From then on no co-signer takes part: approvals do not live for ever in the drawer of a coordinator. */
export function signingEndsAtMs(intent: Intent): number {
  return intent.expiresAtMs + SIGNING_GRACE_MS;
}

/** The bytes whose SHA-256 is the digest that signers approve (GET challenge shows both). */
export function intentBytes(intent: Intent): Uint8Array<ArrayBuffer> {
  const fields: CanonicalField[] = [
    ['kind', intent.kind],
    ['vaultId', String(intent.vaultId)],
    ['transactionId', intent.transactionId],
    ['chain', intent.chain],
    ['from', intent.from],
    ['to', intent.to],
    ['tokenAddress', intent.tokenAddress],
    ['amount', intent.amount],
    ['maxFee', intent.maxFee],
    ['policyVersion', String(intent.policyVersion)],
    ['policyHash', intent.policyHash],
    ['note', intent.note],
    ['createdAtMs', String(intent.createdAtMs)],
    ['expiresAtMs', String(intent.expiresAtMs)],
  ];
  return canonicalBytes('conclave/intent/v1', fields);
}
