import type { AccountNonce, ChainClient, PreparationFault } from '#chains/chain-client.ts';
import type { ChainFault, PaymentOrdering } from '#chains/chain-rules.ts';
import { rulesFor } from '#chains/families/rules-for.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { AssetAmount } from '#domain/asset/exposure.ts';
import type { TransactionId } from '#domain/id.ts';
import { parseTransactionId } from '#domain/id.ts';
import type { CountTexts } from '#domain/wallet/count-texts.ts';
import { countTexts } from '#domain/wallet/count-texts.ts';
import { mayBeReorged } from '#domain/wallet/reservation.ts';
import type { Spending } from '#domain/wallet/reservation.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused, unreachable } from '#domain/result.ts';
import type { TransactionEvent } from '#domain/transaction/event.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import { signedAttempts } from '#domain/transaction/transaction.ts';
import { WAITS_FOR_NONCE } from '#domain/transaction/nonce-wait.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import type { VaultDoors } from '#objects/vault/doors/doors.ts';
import type { HeldNonceRecord } from '#objects/vault/views.ts';
import type { AllocationResult, HeldSlot, ReservationFault } from '#objects/wallet-nonce/object.ts';

/**
 * `unproven`: RPC nodes count unknown transactions of the wallet, without proof. `behind`: another
 * transaction is about to end.
 */
export type NonceFault =
  | PreparationFault
  | { readonly kind: 'unproven' }
  /** The balance does not cover it beside the spending of the wallet's other transactions. */
  | { readonly kind: 'in-flight' }
  | { readonly kind: 'behind'; readonly waitsFor: TransactionId };

interface Allocation {
  readonly env: CoordinatorEnv;
  readonly vault: VaultDoors;
  readonly client: ChainClient;
  readonly transaction: Transaction;
  /** Its spending, for a wallet with balances; absent where UTXOs are reserved. */
  readonly spending?: Spending;
}

export function allocatorOf(env: CoordinatorEnv, { intent: { chain, from } }: Transaction) {
  return env.WALLET_NONCE.getByName(`nonce:${chain}:${from}`);
}

/**
 * Ends a transaction by an event, unless others wait above its nonce. Meanwhile no transaction gets
 * a nonce above it. Reports whether the event was recorded.
 *
 * @param end.state the state after the event; in another one the transaction continues, because
 *   another consumer was faster
 */
export async function endReleasing(
  { env, vault, transaction }: Pick<Allocation, 'env' | 'vault' | 'transaction'>,
  end: { readonly event: TransactionEvent; readonly state: 'FAILED' | 'CANCELLED' },
): Promise<boolean> {
  const { id } = transaction;
  const allocator = allocatorOf(env, transaction);
  if (!(await allocator.reserveRelease({ transactionId: id }))) return false;
  const after = await vault.report({ type: 'recordEvent', id, event: end.event });
  if (after?.state !== end.state) await allocator.cancelRelease({ transactionId: id });
  return true;
}

/**
 * Returns the UTXOs that other transactions of the wallet have reserved; none on chains with
 * accounts.
 */
export async function claimedUtxos({
  env,
  client,
  transaction,
}: Pick<Allocation, 'env' | 'client' | 'transaction'>): Promise<ReadonlySet<string>> {
  if (client.rules.ordering.by !== 'utxos') return new Set();
  return new Set(await allocatorOf(env, transaction).claimedByOthers({ transactionId: transaction.id }));
}

/**
 * Returns the UTXOs of the wallet that members have locked; none on chains with accounts. A lock
 * that comes later is found when the bytes are stored.
 */
export async function lockedUtxos({
  vault,
  client,
  transaction: { chain },
}: Pick<Allocation, 'vault' | 'client' | 'transaction'>): Promise<ReadonlySet<string>> {
  if (client.rules.ordering.by !== 'utxos') return new Set();
  return new Set(await vault.work({ type: 'lockedUtxos', chain }));
}

/** Reports whether a transaction of a wallet waits for the previous one. */
export function hasOrderedNonces(chain: Chain): boolean {
  return rulesFor(chain).ordering.by === 'account-nonce';
}

/** Returns the maximum number of payments of a wallet in flight; null where it has no maximum. */
function maxInFlight(ordering: PaymentOrdering): number | null {
  switch (ordering.by) {
    case 'account-nonce':
      return null;
    case 'nonce-slots':
      return ordering.slots;
    case 'utxos':
      return ordering.maxInFlight;
    default:
      return unreachable(ordering);
  }
}

export interface AllocatedNonce {
  /** Decimal text. */
  readonly nonce: string;
  /**
   * The maximum that the transaction spends from now on, of each asset; absent where UTXOs are
   * reserved.
   */
  readonly reserved?: readonly AssetAmount[];
  /** The bytes of the payments that have released it (`NonceSlot.predecessors`). */
  readonly predecessors?: readonly string[];
}

/**
 * Returns the nonce of a transaction, and reserves its spending in the same call. A repeated call
 * returns the same nonce.
 *
 * @param unprovenCounts the counts of the account by one RPC node
 */
export async function allocateNonce(
  allocation: Allocation,
  unprovenCounts: Result<AccountNonce, ChainFault>,
): Promise<Result<AllocatedNonce, NonceFault>> {
  const { env, client, transaction } = allocation;
  const max = maxInFlight(client.rules.ordering);
  let answer: AllocationResult = { nonce: null, why: 'unproven' };
  let held: readonly HeldPayment[] = [];
  for (const requiresProof of [false, true]) {
    const counts = requiresProof ? await client.accountNonce(transaction.intent.from, true) : unprovenCounts;
    if (!counts.ok) return refused({ kind: 'transient', detail: counts.refusal.detail });
    held = await heldBySigned(allocation);
    answer = await requestAllocation(allocation, { held, max, counts: countTexts(counts.value) });
    if (answer.nonce !== null || answer.why !== 'unproven') break;
  }
  if (answer.nonce === null) {
    return refused(isUnreserved(answer) ? await faultOfFunds(allocation, answer) : faultOf(answer));
  }
  const { nonce } = answer;
  const released = held.filter(({ slot }) => slot.isReleased === true && slot.nonce === nonce);
  const predecessors = released.flatMap(({ payload }) => (payload === null ? [] : [payload]));
  if (max === null || BigInt(nonce) < BigInt(max)) return accepted({ ...answer, predecessors });
  await allocatorOf(env, transaction).release({ transactionId: transaction.id });
  return refused({ kind: 'busy' });
}

interface RequestTerms {
  readonly held: readonly HeldPayment[];
  readonly max: number | null;
  readonly counts: CountTexts;
}

async function requestAllocation(
  { env, transaction, spending }: Allocation,
  { held, max, counts }: RequestTerms,
): Promise<AllocationResult> {
  return allocatorOf(env, transaction).allocate({
    transactionId: transaction.id,
    held: held.map(({ slot }) => slot),
    ...counts,
    ...(max === null ? {} : { slots: max }),
    ...(spending === undefined ? {} : { spending }),
  });
}

/** A payment in flight, and the bytes of its newest attempt, which the allocator does not need. */
interface HeldPayment extends Pick<HeldNonceRecord, 'payload'> {
  readonly slot: HeldSlot;
}

/**
 * Returns the nonces in use. The vault is the source of truth for transactions in flight: without
 * it an allocator whose storage was rolled back would allocate a nonce twice. With nonce slots, a
 * final inclusion on one RPC node is enough to release the slot when no other is free, because an
 * unreachable second node would otherwise block the wallet. So is the end by a member: the chain
 * executes one of two payments with the same nonce.
 */
async function heldBySigned({ vault, client, transaction: { chain, intent } }: Allocation): Promise<HeldPayment[]> {
  const held = await vault.work({ type: 'heldNonces', chain, address: intent.from });
  const { by } = client.rules.ordering;
  return held.flatMap(({ nonce, isFinalForOneNode, hasEnded, payload, ...rest }) => {
    const isReleased = hasEnded || (isFinalForOneNode && by !== 'account-nonce');
    return nonce === null || (hasEnded && by !== 'nonce-slots')
      ? []
      : [{ slot: { ...rest, nonce, isReleased }, payload }];
  });
}

/**
 * Reserves the spending of a further attempt at the transaction's nonce. Returns null, or the fault
 * for which it waits.
 */
export async function reserveFor(allocation: Allocation): Promise<NonceFault | null> {
  const { env, transaction, spending } = allocation;
  if (spending === undefined) return null;
  const held = (await heldBySigned(allocation)).map(({ slot }) => slot);
  const answer = await allocatorOf(env, transaction).reserve({ transactionId: transaction.id, held, spending });
  return answer === null ? null : faultOfFunds(allocation, answer);
}

function isUnreserved(answer: Extract<AllocationResult, { readonly nonce: null }>): answer is ReservationFault {
  return answer.why === 'in-flight' || answer.why === 'stale';
}

/**
 * Returns the fault of a transaction whose spending the balance does not cover beside others.
 * Reservations of transactions that the vault does not have, or has ended, are released: they would
 * block it permanently. Without others it does not wait.
 */
async function faultOfFunds({ env, vault, transaction }: Allocation, answer: ReservationFault): Promise<NonceFault> {
  if (answer.why === 'stale') return { kind: 'transient', detail: 'the RPC node is behind what is final' };
  const { others } = answer;
  if (others.length === 0) {
    const detail = 'the wallet does not hold what the transaction takes together with what its account has to keep';
    return { kind: 'permanent', reason: 'INSUFFICIENT_FUNDS', detail };
  }
  const { chain, intent } = transaction;
  // Read after the allocator's answer: a transaction that has a reservation and no nonce in use now
  // has ended.
  const held = new Set<string>();
  for (const one of await vault.work({ type: 'heldNonces', chain, address: intent.from })) held.add(one.transactionId);
  for (const other of others) {
    if (!held.has(other)) await allocatorOf(env, transaction).release({ transactionId: other });
  }
  return { kind: 'in-flight' };
}

/**
 * Returns the fault to retry when a payment lacks funds that other transactions of the wallet may
 * release: they are in a block and not settled. Otherwise returns the refusal. The dry run uses the
 * newest block and not the block of the compared balance, so a token transfer that reverts also
 * counts as a lack of funds.
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
  const held = await vault.work({ type: 'heldNonces', chain, address: intent.from });
  const undecided = held.flatMap(({ transactionId, amounts }) => (transactionId === id ? [] : amounts));
  const ofToken = undecided.filter(({ tokenAddress }) => isTokenTransfer && tokenAddress === intent.tokenAddress);
  return mayBeReorged(refusal.missing, isReverted ? ofToken : undecided) ? { kind: 'in-flight' } : refusal;
}

function faultOf(answer: Exclude<Extract<AllocationResult, { readonly nonce: null }>, ReservationFault>): NonceFault {
  if (answer.why === 'unproven') return { kind: 'unproven' };
  const waitsFor = answer.why === 'behind' ? parseTransactionId(answer.waitsFor) : null;
  return waitsFor === null ? { kind: 'busy' } : { kind: 'behind', waitsFor };
}

/**
 * The number of the chain's poll intervals before a blocker is searched: a lower transaction that
 * is about to be mined is not worth reporting, and each change is an entry of the history. Ours.
 */
const POLLS_BEFORE_BLOCKER = 8;

/**
 * Records what an unmined transaction waits behind: a lower unused nonce. A nonce of a transaction
 * that the vault has ended, or does not have, is released first: it would block the wallet
 * permanently.
 */
export async function recordBlocker({ env, vault, client, transaction }: Allocation): Promise<void> {
  const { id, chain, intent, stateReason } = transaction;
  if (!hasOrderedNonces(client.chain)) return;
  const sinceMs = signedAttempts(transaction)[0]?.signed.atMs ?? Date.now();
  const isYoung = Date.now() - sinceMs < POLLS_BEFORE_BLOCKER * client.chain.pollIntervalMs;
  if (isYoung && stateReason !== WAITS_FOR_NONCE) return;
  const allocator = allocatorOf(env, transaction);
  let found: Awaited<ReturnType<typeof allocator.blocker>> = 'unproven';
  for (const requiresProof of [false, true]) {
    const counts = await client.accountNonce(intent.from, requiresProof);
    if (!counts.ok) return;
    found = await allocator.blocker({ transactionId: id, ...countTexts(counts.value) });
    if (found !== 'unproven') break;
  }
  if (found === 'unproven') return;
  const owner = found?.transactionId ?? null;
  const held = owner === null ? [] : await vault.work({ type: 'heldNonces', chain, address: intent.from });
  const isHeld = held.some(({ transactionId, hasEnded }) => transactionId === owner && !hasEnded);
  if (owner !== null && !isHeld) await allocator.release({ transactionId: owner });
  const blocker =
    found === null ? null : { transactionId: isHeld && owner !== null ? parseTransactionId(owner) : null };
  await vault.report({ type: 'recordEvent', id, event: { type: 'waitForNonce', blocker } });
}
