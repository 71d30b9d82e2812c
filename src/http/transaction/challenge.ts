import { bytesToHex } from '@noble/hashes/utils.js';
import { approvalsNeeded, approvers, hasApproved } from '#domain/approval.ts';
import { intentBytes } from '#domain/intent.ts';
import type { HttpContext, Route } from '#http/context.ts';
import { actorOf } from '#http/context.ts';
import { askObject } from '#http/object-call.ts';
import { refusalProblem } from '#http/problem.ts';
import { timeText } from '#http/time-text.ts';
import { transactionIdOf, vaultObjectOf } from '#http/transaction/view.ts';
import type { TransactionView } from '#objects/vault-views.ts';

/**
 * GET /transaction/{txId}/challenge (spec part 4): what a signer is asked to approve. The digest is the SHA-256 of `canonical`,
 * and `canonical` follows from `intent` by the encoding of domain/canonical.ts, so a signer can recompute both offline.
 *
 * Refuses, in order: the credential, `invalid-request`, `forbidden`, `transaction-not-found`, `transaction-not-pending`.
 */
export const challenge: Route = {
  method: 'GET',
  path: '/transaction/:txId/challenge',
  access: 'read',
  handle: async (context: HttpContext) => {
    const id = transactionIdOf(context);
    if (id instanceof Response) return id;
    const actor = actorOf(context);
    const read = await askObject(
      () => vaultObjectOf(context, id),
      (vault) => vault.challenge(actor, id),
    );
    return read.ok ? context.json(challengeOf(read.value)) : refusalProblem(context, read.refusal);
  },
};

function challengeOf({ transaction, policy, viewer }: TransactionView) {
  const { intent } = transaction;
  const [required, count] = [approvalsNeeded(transaction, policy), approvers(transaction, policy).length];
  return {
    transactionId: transaction.id,
    vaultId: transaction.vaultId,
    version: 'conclave/intent/v1',
    algorithm: 'sha-256',
    digest: transaction.digest,
    canonical: bytesToHex(intentBytes(intent)),
    intent,
    approvals: {
      required,
      count,
      remaining: Math.max(0, required - count),
      byMe: hasApproved(transaction, viewer.userId),
    },
    policy: { version: policy.version, threshold: policy.threshold, signers: policy.signers },
    expiresAt: timeText(intent.expiresAtMs),
  };
}
