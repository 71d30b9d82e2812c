import type { ChainClient } from '#chains/chain-client.ts';
import { actionOfAttempt } from '#domain/transaction/intent.ts';
import { isAtRest } from '#domain/transaction/inclusion-steps.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import { newestAttempt } from '#domain/transaction/transaction.ts';
import { nextPurpose, replacementSpeed } from '#domain/transaction/transition.ts';
import { claimedUtxos, lockedUtxos } from '#jobs/signing/nonce-allocation.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import type { VaultDoors } from '#objects/vault/doors/doors.ts';

interface Repricing {
  readonly env: CoordinatorEnv;
  readonly vault: VaultDoors;
  readonly client: ChainClient;
  readonly transaction: Transaction;
}

/**
 * Replaces an attempt whose price no block accepts by one that pays more, when the approved fee
 * suffices. The quote comes first: an attempt that fails at the cap and is tried again with each
 * poll would never stop.
 */
export async function reprice({ env, vault, client, transaction }: Repricing): Promise<void> {
  const { id, intent } = transaction;
  const newest = newestAttempt(transaction);
  if (newest === null || intent.kind === 'message') return;
  const effect = actionOfAttempt(intent, nextPurpose(transaction));
  const taken = await claimedUtxos({ env, client, transaction });
  const locked = await lockedUtxos({ vault, client, transaction });
  const quote = await client.quote(effect, newest, { speed: replacementSpeed(transaction), taken, locked });
  const event = { type: 'reprice', attempt: newest.number } as const;
  if (quote.ok) {
    await vault.report({ type: 'recordEvent', id, event: { ...event, obstacle: null } });
    return;
  }
  // A resting transaction already has a reason, and keeps it.
  if (quote.refusal.kind !== 'permanent' || isAtRest(transaction)) return;
  const { reason } = quote.refusal;
  if (reason === 'FEE_CAP_EXCEEDED')
    await vault.report({ type: 'recordEvent', id, event: { ...event, obstacle: 'FEE_ABOVE_CAP' } });
  if (reason === 'INSUFFICIENT_FUNDS')
    await vault.report({ type: 'recordEvent', id, event: { ...event, obstacle: reason } });
}
