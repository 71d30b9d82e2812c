import type { ChainAdapter } from '#chains/chain-adapter.ts';
import { actionOfAttempt } from '#domain/transaction/intent.ts';
import { isAtRest } from '#domain/transaction/inclusion-steps.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import { newestAttempt } from '#domain/transaction/transaction.ts';
import { nextPurpose, replacementSpeed } from '#domain/transaction/transition.ts';
import { claimedUtxos } from '#jobs/signing/nonce-allocation.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import type { VaultObject } from '#objects/vault/object.ts';

interface Repricing {
  readonly env: CoordinatorEnv;
  readonly vault: DurableObjectStub<VaultObject>;
  readonly adapter: ChainAdapter;
  readonly transaction: Transaction;
}

/**
 * Has an attempt that no block takes for its price followed by one that pays more, where what was approved suffices for that. The
 * price is asked for first: an attempt that is given up for a price above the cap, and tried again with each look, would never rest.
 */
export async function reprice({ env, vault, adapter, transaction }: Repricing): Promise<void> {
  const { id, intent } = transaction;
  const newest = newestAttempt(transaction);
  if (newest === null || intent.kind === 'message') return;
  const effect = actionOfAttempt(intent, nextPurpose(transaction));
  const taken = await claimedUtxos({ env, adapter, transaction });
  const quote = await adapter.quote(effect, newest, { speed: replacementSpeed(transaction), taken });
  const event = { type: 'reprice', attempt: newest.number } as const;
  if (quote.ok) {
    await vault.record(id, { ...event, obstacle: null });
    return;
  }
  // What rests has a reason already, and keeps it.
  if (quote.refusal.kind !== 'permanent' || isAtRest(transaction)) return;
  const { reason } = quote.refusal;
  if (reason === 'FEE_CAP_EXCEEDED') await vault.record(id, { ...event, obstacle: 'FEE_ABOVE_CAP' });
  if (reason === 'INSUFFICIENT_FUNDS') await vault.record(id, { ...event, obstacle: reason });
}
