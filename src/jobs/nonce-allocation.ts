import type { ChainAdapter, PreparationFault } from '#chains/chain-adapter.ts';
import { adapterFor } from '#chains/adapters.ts';
import type { Chain } from '#domain/chain.ts';
import type { TransactionId } from '#domain/id.ts';
import { parseTransactionId } from '#domain/id.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Transaction } from '#domain/transaction.ts';
import { signedAttempts } from '#domain/transaction.ts';
import { WAITS_FOR_NONCE } from '#domain/nonce-wait.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import type { VaultObject } from '#objects/vault.ts';
import type { AllocationAnswer } from '#objects/wallet-nonce.ts';

type VaultStub = DurableObjectStub<VaultObject>;

/** `unproven`: RPC nodes count transactions of the wallet that are not known, and it is not proven. `behind`: another one is about to end. */
export type NonceFault =
  | PreparationFault
  | { readonly kind: 'unproven' }
  | { readonly kind: 'behind'; readonly waitsFor: TransactionId };

interface Allocation {
  readonly env: CoordinatorEnv;
  readonly vault: VaultStub;
  readonly adapter: ChainAdapter;
  readonly transaction: Transaction;
}

export function allocatorOf(env: CoordinatorEnv, { intent: { chain, from } }: Transaction) {
  return env.WALLET_NONCE.getByName(`nonce:${chain}:${from}`);
}

/** Reports whether a transaction of a wallet waits for the one before. */
export function ordersNonces(chain: Chain): boolean {
  const { mostInFlight, paysWithCoins } = adapterFor(chain, []);
  return mostInFlight === null && !paysWithCoins;
}

/** The nonce of a transaction, as decimal text. Asked again it is the same one. */
export async function allocateNonce(allocation: Allocation): Promise<Result<string, NonceFault>> {
  const { env, adapter, transaction } = allocation;
  let answer: AllocationAnswer = { nonce: null, why: 'unproven' };
  for (const isDoubted of [false, true]) {
    const asked = await askAllocator(allocation, isDoubted);
    if (!asked.ok) return asked;
    answer = asked.value;
    if (answer.nonce !== null || answer.why !== 'unproven') break;
  }
  if (answer.nonce === null) return refused(faultOf(answer));
  const { nonce } = answer;
  if (adapter.mostInFlight === null || BigInt(nonce) < BigInt(adapter.mostInFlight)) return accepted(nonce);
  await allocatorOf(env, transaction).release({ transactionId: transaction.id });
  return refused({ kind: 'busy' });
}

async function askAllocator(
  { env, vault, adapter, transaction }: Allocation,
  isDoubted: boolean,
): Promise<Result<AllocationAnswer, NonceFault>> {
  const { id: transactionId, chain, intent } = transaction;
  const counts = await adapter.accountNonce(intent.from, isDoubted);
  if (!counts.ok) return refused({ kind: 'transient', detail: counts.refusal.detail });
  const { proven } = counts.value;
  // The vault is the truth for what is under way: without it a book that was set back would give a nonce twice.
  const held = (await vault.heldNonces({ chain, address: intent.from })).flatMap(({ transactionId: other, nonce }) =>
    nonce === null ? [] : [{ transactionId: other, nonce }],
  );
  const request = { transactionId, held, ...textsOf(counts.value) };
  const full = proven === undefined ? request : { ...request, proven: textsOf(proven) };
  return accepted(await allocatorOf(env, transaction).allocate(full));
}

function textsOf({ latest, pending }: { readonly latest: bigint; readonly pending: bigint }) {
  return { latest: latest.toString(), pending: pending.toString() };
}

function faultOf(answer: Extract<AllocationAnswer, { readonly nonce: null }>): NonceFault {
  if (answer.why === 'unproven') return { kind: 'unproven' };
  const waitsFor = answer.why === 'behind' ? parseTransactionId(answer.waitsFor) : null;
  return waitsFor === null ? { kind: 'busy' } : { kind: 'behind', waitsFor };
}

/**
 * Looks for these many intervals of the chain's poll pass before a blocker is looked for: a transaction below that is about to
 * be mined is no news, and each change is a line of the history. Ours.
 */
const POLLS_BEFORE_BLOCKER = 8;

/**
 * Records what a transaction that is not mined waits behind: a lower nonce that is unused. One that belongs to a transaction
 * which the vault has ended, or does not have, is given back first: it would be in the way for ever.
 */
export async function recordBlocker({ env, vault, adapter, transaction }: Allocation): Promise<void> {
  const { id, chain, intent, stateReason } = transaction;
  if (!ordersNonces(adapter.chain)) return;
  const sinceMs = signedAttempts(transaction)[0]?.signed.atMs ?? Date.now();
  const isYoung = Date.now() - sinceMs < POLLS_BEFORE_BLOCKER * adapter.chain.pollIntervalMs;
  if (isYoung && stateReason !== WAITS_FOR_NONCE) return;
  const counts = await adapter.accountNonce(intent.from);
  if (!counts.ok) return;
  const allocator = allocatorOf(env, transaction);
  const found = await allocator.blocker({ transactionId: id, latest: counts.value.latest.toString() });
  const owner = found?.transactionId ?? null;
  const held = owner === null ? [] : await vault.heldNonces({ chain, address: intent.from });
  const isHeld = held.some(({ transactionId }) => transactionId === owner);
  if (owner !== null && !isHeld) await allocator.release({ transactionId: owner });
  const blocker =
    found === null ? null : { transactionId: isHeld && owner !== null ? parseTransactionId(owner) : null };
  await vault.record(id, { type: 'waitForNonce', blocker });
}
