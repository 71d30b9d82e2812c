import { unreachable } from '#domain/result.ts';
import type { TransactionId } from '#domain/id.ts';
import { newestAttempt } from '#domain/transaction.ts';
import { chainAccess } from '#chains/access.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import type { VaultObject } from '#objects/vault.ts';

/**
 * Sends the stored bytes of the newest attempt. A lost reply can only lead to the same bytes again: what the network has is
 * 'already known', and an answer that says nothing keeps the job outstanding.
 */
export async function broadcast(
  env: CoordinatorEnv,
  vault: DurableObjectStub<VaultObject>,
  id: TransactionId,
): Promise<void> {
  const work = await vault.work(id, 'broadcast');
  const attempt = work === null ? null : newestAttempt(work.transaction);
  if (work === null || attempt === null || attempt.signed === null) return;
  const adapter = chainAccess(env, work.chain);
  if (adapter === null) return;
  const verdict = await adapter.broadcast(attempt.signed.raw, attempt.signed.hash);
  const { number } = attempt;
  switch (verdict.outcome) {
    case 'accepted':
      await vault.record(id, { type: 'send', attempt: number, outcome: 'accepted', answer: null });
      return;
    case 'unknown':
    case 'underpriced':
      await vault.record(id, { type: 'send', attempt: number, outcome: verdict.outcome, answer: verdict.answer });
      return;
    case 'refused':
      await vault.record(id, { type: 'refuseBroadcast', attempt: number, answer: verdict.answer });
      return;
    case 'undecided':
      // The job stays outstanding, and asks again.
      return;
    case 'conflicted':
      // Another transaction has the nonce. The confirmation job decides, once that one is deep enough to stay.
      await vault.record(id, { type: 'send', attempt: number, outcome: 'refused', answer: verdict.answer });
      return;
    default:
      unreachable(verdict);
  }
}
