import * as z from 'zod';
import { ATTEMPT_PURPOSES } from '#domain/transaction/intent.ts';
import { TRANSACTION_JOBS } from '#domain/transaction/job.ts';
import { publicRejection } from '#domain/transaction/rpc-rejection.ts';
import { newestAttempt, SEND_OUTCOMES, TRANSACTION_STATES } from '#domain/transaction/transaction.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { problem } from '#http/encode/problem.ts';
import { rfc3339, rfc3339OrNull } from '#http/encode/rfc3339.ts';
import { callObject } from '#http/edge/object-call.ts';
import type { OperatorInput } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { vaultStubOf } from '#http/transaction/transaction-path.ts';
import type { TransactionProgress } from '#objects/vault/views.ts';

const time = z.iso.datetime();

const progressSchema = z
  .strictObject({
    id: z.string(),
    vaultId: z.int(),
    chain: z.string(),
    state: z.enum(TRANSACTION_STATES),
    stateReason: z.string().nullable(),
    stateDetail: z.string().nullable().meta({ description: 'The text of RPC nodes that refuse the bytes' }),
    createdAt: time,
    updatedAt: time,
    approvals: z.strictObject({ count: z.int(), required: z.int() }),
    waitsFor: z.string().nullable().meta({ description: 'The transaction that owns the lower nonce' }),
    job: z.enum(TRANSACTION_JOBS).nullable().meta({ description: 'The job that its state requires' }),
    queued: z
      .strictObject({ dueAt: time, tries: z.int() })
      .nullable()
      .meta({ description: 'When this job is sent next, and how often it was sent without an effect' }),
    attempts: z.int(),
    newestAttempt: z
      .strictObject({
        number: z.int(),
        purpose: z.enum(ATTEMPT_PURPOSES),
        hash: z.string().nullable(),
        outcome: z.enum(SEND_OUTCOMES).nullable().meta({ description: 'Null for one that was never sent' }),
        sentAt: time.nullable(),
      })
      .nullable(),
    inclusion: z
      .strictObject({
        blockNumber: z.string(),
        confirmations: z.int(),
        required: z.int().nullable(),
        secondNode: z.enum(['agrees', 'away', 'disagrees']).nullable(),
        finalized: z.boolean(),
      })
      .nullable(),
  })
  .meta({ id: 'TransactionProgress' });

/**
 * GET /internal/transaction/{txId}: returns what an outgoing transaction waits for, without its
 * amount, recipient or people.
 */
export const readProgress = route({
  method: 'GET',
  path: '/internal/transaction/:txId',
  access: 'service',
  scope: 'status',
  summary: 'Read what a transaction waits for',
  answer: { status: 200, schema: progressSchema },
  refuses: ['transaction-not-found'],
  handle: async (context: HttpContext, { params: { txId: id } }: OperatorInput<{ params: 'txId' }>) => {
    const found =
      id === null
        ? null
        : await callObject(
            () => vaultStubOf(context, id),
            (vault) => vault.work({ type: 'transactionProgress', id }),
          );
    return found === null ? problem(context, 'transaction-not-found') : context.json(progressOf(found));
  },
});

function progressOf({ transaction, job, queued, confirmations: required }: TransactionProgress) {
  const { inclusion, attempts } = transaction;
  const attempt = newestAttempt(transaction);
  return {
    id: transaction.id,
    vaultId: transaction.vaultId,
    chain: transaction.chain,
    state: transaction.state,
    stateReason: transaction.stateReason,
    stateDetail: publicRejection(transaction),
    createdAt: rfc3339(transaction.createdAtMs),
    updatedAt: rfc3339(transaction.updatedAtMs),
    approvals: { count: transaction.approvals.length, required: transaction.requiredApprovals },
    waitsFor: transaction.waitsFor,
    job,
    queued: queued === null ? null : { dueAt: rfc3339(queued.dueAtMs), tries: queued.tries },
    attempts: attempts.length,
    newestAttempt:
      attempt === null
        ? null
        : {
            number: attempt.number,
            purpose: attempt.purpose,
            hash: attempt.signed?.hash ?? null,
            outcome: attempt.sent?.outcome ?? null,
            sentAt: rfc3339OrNull(attempt.sent?.atMs ?? null),
          },
    inclusion:
      inclusion === null
        ? null
        : {
            blockNumber: inclusion.blockNumber,
            confirmations: inclusion.confirmations,
            required,
            secondNode: inclusion.secondNode ?? null,
            finalized: inclusion.finalized,
          },
  };
}
