import { spentUtxos } from '#chains/inspect/spent-utxos.ts';
import { findChain } from '#chains/families/registry.ts';
import { authorize } from '#domain/vault/membership.ts';
import type { TransactionId } from '#domain/id.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import type { Actor } from '#domain/access/approval.ts';
import type { Vault } from '#domain/vault/vault.ts';
import { walletAddress } from '#domain/vault/vault.ts';
import type { UtxoLock, WalletOutpoint } from '#domain/wallet/utxo-lock.ts';
import { MAX_UTXO_LOCKS } from '#domain/wallet/utxo-lock.ts';
import type { VaultContext } from '#objects/vault/context.ts';
import { writeVaultChange } from '#objects/vault/writes/vault-writes.ts';

/**
 * The locks of UTXOs. No attempt spends a locked UTXO: a lock of a UTXO that an attempt spends is
 * refused, and bytes that spend a locked UTXO are not stored. Both are decided in a turn of the
 * vault, so it does not matter which of the two arrives first.
 */

/** The wallet of a vault on a chain, as the list of its UTXOs requires it. */
export interface UtxoWallet {
  readonly address: string;
  readonly locks: readonly UtxoLock[];
  readonly spending: readonly { readonly outpoint: string; readonly transactionId: TransactionId }[];
}

/**
 * Locks a UTXO: no payment spends it until it is unlocked. A repeated request returns the first
 * lock. The chain is not read, because a lock must be possible while no RPC node answers.
 *
 * Refuses, in order: `forbidden`, `chain-not-enabled`, `wallet-not-ready`, `utxo-in-flight`,
 * `too-many-utxo-locks`.
 */
export async function lockUtxo(
  context: VaultContext,
  actor: Actor,
  { chain, outpoint }: WalletOutpoint,
): Promise<Result<UtxoLock, Refusal>> {
  const entered = authorize(context.vault(), actor, 'curate');
  if (!entered.ok) return entered;
  const { vault } = entered.value;
  const wallet = walletOn(vault, chain);
  if (!wallet.ok) return wallet;
  const { storage } = context;
  const known = storage.utxoLocks.read({ chain, outpoint });
  if (known !== null) return accepted(known);
  const spender = spendingOn(context, { chain, address: wallet.value }).find((one) => one.outpoint === outpoint);
  if (spender !== undefined) return refused({ code: 'utxo-in-flight', transactionId: spender.transactionId });
  if (storage.utxoLocks.count() >= MAX_UTXO_LOCKS) {
    return refused({ code: 'too-many-utxo-locks', limit: MAX_UTXO_LOCKS });
  }
  const lock = { chain, outpoint, lockedBy: actor.userId, lockedAtMs: Date.now() };
  await context.commits.run(() => {
    storage.utxoLocks.add(lock);
    writeVaultChange(storage, vault, { action: 'lock-utxo', detail: JSON.stringify({ chain, outpoint }), actor });
  });
  return accepted(lock);
}

/** Unlocks a UTXO. A repeated request changes nothing. Refuses `forbidden`. */
export async function unlockUtxo(
  context: VaultContext,
  actor: Actor,
  { chain, outpoint }: WalletOutpoint,
): Promise<Result<null, Refusal>> {
  const entered = authorize(context.vault(), actor, 'curate');
  if (!entered.ok) return entered;
  const { storage } = context;
  if (storage.utxoLocks.read({ chain, outpoint }) === null) return accepted(null);
  await context.commits.run(() => {
    storage.utxoLocks.remove({ chain, outpoint });
    const detail = JSON.stringify({ chain, outpoint });
    writeVaultChange(storage, entered.value.vault, { action: 'unlock-utxo', detail, actor });
  });
  return accepted(null);
}

/**
 * Returns what the vault knows of the UTXOs of a wallet. Refuses, in order: `forbidden`,
 * `chain-not-enabled`, `wallet-not-ready`.
 */
export function utxoWallet(
  context: VaultContext,
  actor: Actor,
  { chain }: Pick<WalletOutpoint, 'chain'>,
): Result<UtxoWallet, Refusal> {
  const entered = authorize(context.vault(), actor, 'view');
  if (!entered.ok) return entered;
  const wallet = walletOn(entered.value.vault, chain);
  if (!wallet.ok) return wallet;
  const address = wallet.value;
  const spending = spendingOn(context, { chain, address });
  return accepted({ address, locks: context.storage.utxoLocks.ofChain(chain), spending });
}

/** Returns the locked UTXOs of a chain by name, for those who select UTXOs. */
export function lockedUtxos(
  { storage, vault }: VaultContext,
  { chain }: Pick<WalletOutpoint, 'chain'>,
): readonly string[] {
  return vault() === null ? [] : storage.utxoLocks.ofChain(chain).map(({ outpoint }) => outpoint);
}

/**
 * Reports whether an event stores bytes that spend a locked UTXO. The lock came after the selection
 * of the UTXOs, so the job selects again. UTXOs of earlier attempts do not count: they can be spent
 * in any case.
 */
export function spendsLocked(
  { storage, chains }: VaultContext,
  { chain: name, attempts }: Transaction,
  event: TransactionEvent,
): boolean {
  if (event.type !== 'prepare') return false;
  const chain = findChain(chains, name);
  const locked = chain === null ? [] : storage.utxoLocks.ofChain(name);
  if (chain === null || locked.length === 0) return false;
  const [spent, earlier] = [spentUtxos(chain, [event.attempt]), spentUtxos(chain, attempts)];
  return locked.some(({ outpoint }) => spent.has(outpoint) && !earlier.has(outpoint));
}

function walletOn(vault: Vault, chain: string): Result<string, Refusal> {
  if (!vault.configuration.chains.includes(chain)) return refused({ code: 'chain-not-enabled', chain });
  const address = walletAddress(vault, chain);
  return address === null ? refused({ code: 'wallet-not-ready', chain }) : accepted(address);
}

/** Returns the UTXOs that attempts of transactions in flight spend, or of ended ones may spend. */
function spendingOn(
  { storage, chains }: VaultContext,
  wallet: { readonly chain: string; readonly address: string },
): UtxoWallet['spending'] {
  const chain = findChain(chains, wallet.chain);
  if (chain === null) return [];
  return storage.transactionsWithNonces().flatMap(({ id: transactionId, chain: name, intent, attempts }) => {
    if (name !== wallet.chain || intent.kind === 'message' || intent.from !== wallet.address) return [];
    return [...spentUtxos(chain, attempts)].map((outpoint) => ({ outpoint, transactionId }));
  });
}
