import { unreachable } from '#domain/result.ts';
import type { TransactionId } from '#domain/id.ts';
import { outstandingJob } from '#domain/transaction/job.ts';
import { isPastNotAfterTime } from '#domain/transaction/intent.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import { newestAttempt, signedAttempts } from '#domain/transaction/transaction.ts';
import type { BroadcastVerdict, ChainClient } from '#chains/chain-client.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { EventOf } from '#domain/transaction/event.ts';
import { chainClientFor } from '#chains/clients/client-for.ts';
import { allocatorOf, endReleasing, hasOrderedNonces } from '#jobs/signing/nonce-allocation.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import type { VaultDoors } from '#objects/vault/doors/doors.ts';

interface Broadcasting {
  readonly env: CoordinatorEnv;
  readonly vault: VaultDoors;
  readonly client: ChainClient;
  readonly transaction: Transaction;
}

/** Broadcasts a transaction that waits for it. */
export async function broadcast(env: CoordinatorEnv, vault: VaultDoors, id: TransactionId): Promise<void> {
  const work = await vault.work({ type: 'transactionWork', id, job: 'broadcast' });
  const client = work === null ? null : chainClientFor(env, work.chain);
  if (work !== null && client !== null) await broadcastNewest({ env, vault, client, transaction: work.transaction });
}

/**
 * Broadcasts the stored bytes of the newest attempt, if the transaction waits for it. A lost reply
 * can only lead to the same bytes again: the network reports bytes that it has as 'already known',
 * and an inconclusive answer keeps the job pending.
 */
export async function broadcastNewest({ env, vault, client, transaction }: Broadcasting): Promise<void> {
  const attempt = outstandingJob(transaction) === 'broadcast' ? newestAttempt(transaction) : null;
  if (attempt === null || attempt.signed === null) return;
  const { id } = transaction;
  // Paying bytes are not broadcast after the time limit of their intent, whether they are signed or
  // not.
  if (attempt.purpose === 'intent' && isPastNotAfterTime(transaction.intent, Date.now())) {
    await vault.report({ type: 'recordEvent', id, event: { type: 'endByTime' } });
    return;
  }
  const verdict = await client.broadcast(attempt.signed.raw, attempt.signed.hash);
  const { number } = attempt;
  const { chain } = client;
  const keepsCoins = client.rules.ordering.by === 'utxos';
  const mayEnd = hasOrderedNonces(chain) && signedAttempts(transaction).length === 1;
  // An earlier run may have stopped while it was ending the transaction.
  if (mayEnd && verdict.outcome !== 'refused') await allocatorOf(env, transaction).cancelRelease({ transactionId: id });
  switch (verdict.outcome) {
    case 'accepted':
      await vault.report({
        type: 'recordEvent',
        id,
        event: { type: 'send', attempt: number, ...acceptanceOf(verdict, chain) },
      });
      return;
    case 'unknown':
    case 'underpriced':
    case 'undecided':
      await vault.report({
        type: 'recordEvent',
        id,
        event: { type: 'send', attempt: number, outcome: verdict.outcome, answer: verdict.answer },
      });
      return;
    case 'refused':
      if (mayEnd) await endOrFill({ env, vault, transaction }, { attempt: number, answer: verdict.answer });
      else
        await vault.report({
          type: 'recordEvent',
          id,
          event: { type: 'refuseBroadcast', attempt: number, answer: verdict.answer, keepsCoins },
        });
      return;
    case 'conflicted':
      // Another transaction has the nonce. The confirmation job decides when that one is deep
      // enough to stay.
      await vault.report({
        type: 'recordEvent',
        id,
        event: { type: 'send', attempt: number, outcome: 'refused', answer: verdict.answer },
      });
      return;
    default:
      unreachable(verdict);
  }
}

/**
 * Returns the acceptance by one RPC node beside the refusal of another one. A higher price is
 * offered only where the chain orders payments: elsewhere the first one may wait for hours.
 */
export function acceptanceOf(
  { objection }: Extract<BroadcastVerdict, { readonly outcome: 'accepted' }>,
  chain: Chain,
): Pick<EventOf<'send'>, 'outcome' | 'answer' | 'objection'> {
  const accepted = { outcome: 'accepted', answer: null } as const;
  if (objection === undefined) return accepted;
  return { ...accepted, objection: { ...objection, isPrice: objection.isPrice && hasOrderedNonces(chain) } };
}

interface Refused {
  readonly env: CoordinatorEnv;
  readonly vault: VaultDoors;
  readonly transaction: Transaction;
}

/**
 * Ends a payment that every RPC node refuses. When others wait above its nonce, an attempt without
 * effect uses the nonce first.
 */
async function endOrFill(
  refused: Refused,
  refusal: { readonly attempt: number; readonly answer: string },
): Promise<void> {
  const event = { type: 'refuseBroadcast', ...refusal } as const;
  if (await endReleasing(refused, { event: { ...event, blocksOthers: false }, state: 'FAILED' })) return;
  const { vault, transaction } = refused;
  await vault.report({ type: 'recordEvent', id: transaction.id, event: { ...event, blocksOthers: true } });
}
