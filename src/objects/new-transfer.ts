import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, randomBytes } from '@noble/hashes/utils.js';
import type { Amount } from '#domain/amount.ts';
import { parseAmount } from '#domain/amount.ts';
import type { Chain } from '#domain/chain.ts';
import { newTransactionId } from '#domain/id.ts';
import type { Intent } from '#domain/intent.ts';
import { intentBytes } from '#domain/intent.ts';
import { policyBytes } from '#domain/policy.ts';
import type { Policy } from '#domain/policy.ts';
import type { Actor, Transaction } from '#domain/transaction.ts';
import type { Vault } from '#domain/vault.ts';

/** A transfer as the caller asked for it: already parsed, addresses in the chain's canonical spelling. */
export interface TransferRequest {
  /** Canonical chain name. */
  readonly chain: string;
  readonly to: string;
  readonly tokenAddress: string | null;
  readonly amount: Amount;
  readonly note: string | null;
  readonly externalId: string | null;
  /** The caller's Idempotency-Key and the hash of the body it came with. */
  readonly idempotency: { readonly key: string; readonly fingerprint: string } | null;
}

export interface TransferOrigin {
  readonly vault: Vault;
  readonly chain: Chain;
  /** The wallet that pays. */
  readonly from: string;
  readonly actor: Actor;
  readonly nowMs: number;
}

/** The record of a new transfer: its intent and digest are fixed here for good. */
export function newTransfer(request: TransferRequest, origin: TransferOrigin): Transaction {
  const { vault, chain, actor, nowMs } = origin;
  const maxFee = parseAmount(chain.maxFee);
  if (maxFee === null) throw new Error(`chain ${chain.name} has no valid fee cap`);
  const id = newTransactionId(vault.id, nowMs, randomBytes(10));
  const intent: Intent = {
    kind: 'transfer',
    vaultId: vault.id,
    transactionId: id,
    chain: chain.caip2,
    from: origin.from,
    to: request.to,
    tokenAddress: request.tokenAddress,
    amount: request.amount,
    maxFee,
    policyVersion: vault.policy.version,
    policyHash: policyHash(vault.policy),
    note: request.note,
    createdAtMs: nowMs,
    expiresAtMs: nowMs + vault.configuration.decisionPeriodSeconds * 1000,
  };
  return {
    id,
    vaultId: vault.id,
    version: 1,
    state: vault.configuration.initialState,
    stateReason: null,
    displayType: 'SENT',
    direction: 'out',
    visible: true,
    chain: chain.name,
    intent,
    digest: intentDigest(intent),
    requiredApprovals: vault.policy.threshold,
    approvals: [],
    rejection: null,
    attempts: [],
    inclusion: null,
    nonceHeld: false,
    externalId: request.externalId,
    createdBy: actor,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  };
}

/** Lower-case hex SHA-256 over the canonical bytes: what signers approve and co-signers rebuild. */
function intentDigest(intent: Intent): string {
  return bytesToHex(sha256(intentBytes(intent)));
}

/** Lower-case hex SHA-256 that names a policy. */
export function policyHash(policy: Policy): string {
  return bytesToHex(sha256(policyBytes(policy)));
}
