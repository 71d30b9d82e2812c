import type { AccountNonce, ChainAdapter, PreparationFault } from '#chains/chain-adapter.ts';
import { adapterFor } from '#chains/adapters.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { AssetAmount } from '#domain/transaction/exposure.ts';
import type { TransactionId } from '#domain/id.ts';
import { parseTransactionId } from '#domain/id.ts';
import { mayBeReorged } from '#domain/wallet/reservation.ts';
import type { Spending } from '#domain/wallet/reservation.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import { signedAttempts } from '#domain/transaction/transaction.ts';
import { WAITS_FOR_NONCE } from '#domain/wallet/nonce-wait.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import type { VaultObject } from '#objects/vault/object.ts';
import type { AllocationResult, CountTexts, HeldSlot, ReservationFault } from '#objects/wallet-nonce/object.ts';

type VaultStub = DurableObjectStub<VaultObject>;

/** `unproven`: RPC nodes count transactions of the wallet that are not known, and it is not proven. `behind`: another one is about to end. */
export type NonceFault =
  | PreparationFault
  | { readonly kind: 'unproven' }
  /** The balance does not hold it beside what other transactions of the wallet take. */
  | { readonly kind: 'in-flight' }
  | { readonly kind: 'behind'; readonly waitsFor: TransactionId };

interface Allocation {
  readonly env: CoordinatorEnv;
  readonly vault: VaultStub;
  readonly adapter: ChainAdapter;
  readonly transaction: Transaction;
  /** What it takes, for a wallet with balances; absent where coins are claimed. */
  readonly spending?: Spending;
}

export function allocatorOf(env: CoordinatorEnv, { intent: { chain, from } }: Transaction) {
  return env.WALLET_NONCE.getByName(`nonce:${chain}:${from}`);
}

/** Coins that other transactions of the wallet have claimed; none where there are accounts. */
export async function claimedUtxos({
  env,
  adapter,
  transaction,
}: Pick<Allocation, 'env' | 'adapter' | 'transaction'>): Promise<ReadonlySet<string>> {
  if (!adapter.spendsUtxos) return new Set();
  return new Set(await allocatorOf(env, transaction).claimedByOthers({ transactionId: transaction.id }));
}

/** Reports whether a transaction of a wallet waits for the one before. */
export function hasOrderedNonces(chain: Chain): boolean {
  const { maxInFlight, spendsUtxos } = adapterFor(chain, []);
  return maxInFlight === null && !spendsUtxos;
}

export interface AllocatedNonce {
  /** Decimal text. */
  readonly nonce: string;
  /** What the transaction takes at most from now on, of each asset; absent where coins are claimed. */
  readonly reserved?: readonly AssetAmount[];
}

/** The nonce of a transaction, with what it takes reserved in the same call. Asked again it is the same one. */
export async function allocateNonce(allocation: Allocation): Promise<Result<AllocatedNonce, NonceFault>> {
  const { env, adapter, transaction } = allocation;
  let answer: AllocationResult = { nonce: null, why: 'unproven' };
  for (const requiresProof of [false, true]) {
    const response = await requestAllocation(allocation, requiresProof);
    if (!response.ok) return response;
    answer = response.value;
    if (answer.nonce !== null || answer.why !== 'unproven') break;
  }
  if (answer.nonce === null) {
    return refused(isUnreserved(answer) ? await faultOfFunds(allocation, answer) : faultOf(answer));
  }
  const { nonce } = answer;
  if (adapter.maxInFlight === null || BigInt(nonce) < BigInt(adapter.maxInFlight)) return accepted(answer);
  await allocatorOf(env, transaction).release({ transactionId: transaction.id });
  return refused({ kind: 'busy' });
}

async function requestAllocation(
  allocation: Allocation,
  requiresProof: boolean,
): Promise<Result<AllocationResult, NonceFault>> {
  const { env, adapter, transaction, spending } = allocation;
  const { id: transactionId, intent } = transaction;
  const counts = await adapter.accountNonce(intent.from, requiresProof);
  if (!counts.ok) return refused({ kind: 'transient', detail: counts.refusal.detail });
  const held = await heldBySigned(allocation);
  const request = { transactionId, held, ...countTexts(counts.value) };
  const full = spending === undefined ? request : { ...request, spending };
  return accepted(await allocatorOf(env, transaction).allocate(full));
}

/**
 * The vault is the truth for what is under way: without it a book that was set back would give a nonce twice. Where nonces are places, one
 * RPC node that states a final inclusion is enough to give the place to another transaction: a second node that is away would stop the
 * wallet else. Should it be false, the chain still carries out one of the two at most.
 */
async function heldBySigned({ vault, adapter, transaction: { chain, intent } }: Allocation): Promise<HeldSlot[]> {
  const held = await vault.heldNonces({ chain, address: intent.from });
  return held.flatMap(({ nonce, isFinalForOneNode, ...rest }) => {
    const isReleased = isFinalForOneNode && adapter.maxInFlight !== null;
    return nonce === null ? [] : [{ ...rest, nonce, isReleased }];
  });
}

/** Reserves what a further attempt takes, at the nonce that its transaction has. Null, or the fault for which it waits. */
export async function reserveFor(allocation: Allocation): Promise<NonceFault | null> {
  const { env, transaction, spending } = allocation;
  if (spending === undefined) return null;
  const held = await heldBySigned(allocation);
  const answer = await allocatorOf(env, transaction).reserve({ transactionId: transaction.id, held, spending });
  return answer === null ? null : faultOfFunds(allocation, answer);
}

function isUnreserved(answer: Extract<AllocationResult, { readonly nonce: null }>): answer is ReservationFault {
  return answer.why === 'in-flight' || answer.why === 'stale';
}

/**
 * The fault of a transaction that does not fit into the balance beside others. One that the vault does not have, or has ended,
 * gives back what it reserved: it would be in the way for ever. Without others there is nothing to wait for.
 */
async function faultOfFunds({ env, vault, transaction }: Allocation, answer: ReservationFault): Promise<NonceFault> {
  if (answer.why === 'stale') return { kind: 'transient', detail: 'the RPC node is behind what is final' };
  const { others } = answer;
  if (others.length === 0) {
    const detail = 'the wallet does not hold what the transaction takes together with what its account has to keep';
    return { kind: 'permanent', reason: 'INSUFFICIENT_FUNDS', detail };
  }
  const { chain, intent } = transaction;
  // Read after the allocator has answered: who is in its book and not held now, is over.
  const held = new Set<string>();
  for (const one of await vault.heldNonces({ chain, address: intent.from })) held.add(one.transactionId);
  for (const other of others) {
    if (!held.has(other)) await allocatorOf(env, transaction).release({ transactionId: other });
  }
  return { kind: 'in-flight' };
}

/**
 * The fault to wait for, where a payment is refused for want of money that other transactions of the wallet may have taken and
 * may give back: they are in a block, and not settled. Else the refusal itself. The dry run is of the newest block and not of
 * the one whose balance was compared, so a transfer of tokens that reverts counts as such a want.
 */
export async function fundsFault(
  { vault, transaction }: Pick<Allocation, 'vault' | 'transaction'>,
  refusal: NonceFault,
): Promise<NonceFault> {
  if (refusal.kind !== 'permanent') return refusal;
  const { id, chain, intent } = transaction;
  const isTokenTransfer = intent.kind === 'transfer' && intent.tokenAddress !== null;
  const isReverted = isTokenTransfer && refusal.reason === 'SIMULATION_REVERTED';
  if (refusal.reason !== 'INSUFFICIENT_FUNDS' && !isReverted) return refusal;
  const held = await vault.heldNonces({ chain, address: intent.from });
  const undecided = held.flatMap(({ transactionId, amounts }) => (transactionId === id ? [] : amounts));
  const ofToken = undecided.filter(({ tokenAddress }) => isTokenTransfer && tokenAddress === intent.tokenAddress);
  return mayBeReorged(refusal.missing, isReverted ? ofToken : undecided) ? { kind: 'in-flight' } : refusal;
}

function countTexts({ latest, pending, proven }: AccountNonce): CountTexts {
  const texts = { latest: latest.toString(), pending: pending.toString() };
  if (proven === undefined) return texts;
  const [provenLatest, provenPending] = [proven.latest?.toString() ?? null, proven.pending?.toString() ?? null];
  return { ...texts, proven: { latest: provenLatest, pending: provenPending, block: proven.block.toString() } };
}

function faultOf(answer: Exclude<Extract<AllocationResult, { readonly nonce: null }>, ReservationFault>): NonceFault {
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
  if (!hasOrderedNonces(adapter.chain)) return;
  const sinceMs = signedAttempts(transaction)[0]?.signed.atMs ?? Date.now();
  const isYoung = Date.now() - sinceMs < POLLS_BEFORE_BLOCKER * adapter.chain.pollIntervalMs;
  if (isYoung && stateReason !== WAITS_FOR_NONCE) return;
  const allocator = allocatorOf(env, transaction);
  let found: Awaited<ReturnType<typeof allocator.blocker>> = 'unproven';
  for (const requiresProof of [false, true]) {
    const counts = await adapter.accountNonce(intent.from, requiresProof);
    if (!counts.ok) return;
    found = await allocator.blocker({ transactionId: id, ...countTexts(counts.value) });
    if (found !== 'unproven') break;
  }
  if (found === 'unproven') return;
  const owner = found?.transactionId ?? null;
  const held = owner === null ? [] : await vault.heldNonces({ chain, address: intent.from });
  const isHeld = held.some(({ transactionId }) => transactionId === owner);
  if (owner !== null && !isHeld) await allocator.release({ transactionId: owner });
  const blocker =
    found === null ? null : { transactionId: isHeld && owner !== null ? parseTransactionId(owner) : null };
  await vault.record(id, { type: 'waitForNonce', blocker });
}
