import type { AccountNonce, ChainClient, PreparationFault } from '#chains/chain-client.ts';
import type { ChainFault, Quote } from '#chains/chain-rules.ts';
import type { ComposedBytes } from '#domain/transaction/event.ts';
import { haveSameNonce } from '#chains/inspect/payload.ts';
import { spendingOf } from '#chains/inspect/spending.ts';
import { unitsOf } from '#domain/asset/amount.ts';
import { maxLagBlocks } from '#domain/asset/chain.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { AttemptPurpose, OnChainIntent } from '#domain/transaction/intent.ts';
import { actionOfAttempt } from '#domain/transaction/intent.ts';
import type { Attempt, Speed, Transaction } from '#domain/transaction/transaction.ts';
import { newestAttempt } from '#domain/transaction/transaction.ts';
import { nextPurpose, replacementSpeed } from '#domain/transaction/transition.ts';
import { automaticBumpLimit } from '#domain/wallet/fee-bump-limit.ts';
import type { Spending } from '#domain/wallet/reservation.ts';
import { sumOf } from '#domain/wallet/reservation.ts';
import type { AllocatedNonce, NonceFault } from '#jobs/signing/nonce-allocation.ts';
import {
  allocateNonce,
  allocatorOf,
  claimedUtxos,
  fundsFault,
  hasOrderedNonces,
  lockedUtxos,
  reserveFor,
} from '#jobs/signing/nonce-allocation.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import type { VaultDoors } from '#objects/vault/doors/doors.ts';

/** What the preparation of an attempt needs. */
export interface Preparation {
  readonly env: CoordinatorEnv;
  readonly vault: VaultDoors;
  readonly client: ChainClient;
  readonly transaction: Transaction;
  readonly intent: OnChainIntent;
  /** Random id of this run of the job. */
  readonly run: string;
  /**
   * The signing digest of stored bytes that are too old, and that no co-signer has begun to sign;
   * absent for all others.
   */
  readonly instead?: string;
}

/** Returns the attempt to sign: the stored one, or a new one. */
export async function prepare(preparation: Preparation): Promise<Result<Attempt, NonceFault>> {
  const { vault, client, transaction, run, instead } = preparation;
  const newest = newestAttempt(transaction);
  const purpose = nextPurpose(transaction);
  const isStored = newest !== null && newest.signed === null && newest.purpose === purpose;
  if (isStored && newest.signingDigest !== instead) return accepted(newest);
  // Unsigned bytes are not on the network: the attempt that they replace counts.
  const replaced = isStored ? (transaction.attempts.at(-2) ?? null) : newest;
  const plan = await quotedPlan(preparation, { purpose, newest, replaced });
  if (!plan.ok) return plan;
  const composed = await composedBytes(preparation, plan.value);
  if (!composed.ok) return composed;
  const preparedBy = hasOrderedNonces(client.chain) ? { preparedBy: run } : {};
  const event = { type: 'prepare', attempt: { ...composed.value, purpose, ...preparedBy } } as const;
  const after = await vault.report({
    type: 'recordEvent',
    id: transaction.id,
    event: instead === undefined ? event : { ...event, instead },
  });
  const attempt = after === null ? null : newestAttempt(after);
  // Another run may have been faster: the stored bytes are signed.
  return attempt === null || attempt.signed !== null
    ? refused({ kind: 'transient', detail: 'the transaction moved on' })
    : accepted(attempt);
}

/** Which attempt is prepared. */
interface NextAttempt {
  readonly purpose: AttemptPurpose;
  readonly newest: Attempt | null;
  readonly replaced: Attempt | null;
}

/** What a new attempt does, with the current fees and what its nonce follows from. */
interface Plan extends Omit<NextAttempt, 'newest'> {
  readonly effect: OnChainIntent;
  readonly quote: Quote;
  /** The counts of the chain for the first attempt, and the newest attempt for a further one. */
  readonly basis: { readonly counts: Result<AccountNonce, ChainFault> } | { readonly kept: Attempt };
}

/** Returns the plan of an attempt, and claims the UTXOs that it spends. */
async function quotedPlan(
  preparation: Preparation,
  { purpose, newest, replaced }: NextAttempt,
): Promise<Result<Plan, NonceFault>> {
  const { env, client, transaction, intent } = preparation;
  const effect = actionOfAttempt(intent, purpose);
  const [taken, locked] = await Promise.all([claimedUtxos(preparation), lockedUtxos(preparation)]);
  const speed = replaced === null ? transaction.speed : replacementSpeed(transaction);
  const { joins = 0, includeMayCarryMore = false } = transaction;
  // The counts need nothing of the quote, so they take no time of their own.
  const [quote, basis] = await Promise.all([
    quoteSinceSettled(preparation, { effect, replaced, speed, taken, locked, joins, includeMayCarryMore }),
    newest === null ? client.accountNonce(intent.from).then((counts) => ({ counts })) : { kept: newest },
  ]);
  if (!quote.ok) return refused(await fundsFault(preparation, quote.refusal));
  const { utxos = [], maxFee } = quote.value;
  const limit = client.rules.ordering.by === 'utxos' ? automaticBumpLimit(transaction) : null;
  if (limit !== null && unitsOf(maxFee) > limit) {
    const detail = `RPC nodes want ${maxFee} for a replacement, and a person has to ask for more than ${limit}`;
    return refused({ kind: 'permanent', reason: 'SPEED_UP_NEEDED', detail });
  }
  // Another transaction was faster: other UTXOs exist, or will.
  const isOwn =
    utxos.length === 0 || (await allocatorOf(env, transaction).claim({ transactionId: transaction.id, utxos }));
  return isOwn ? accepted({ purpose, effect, replaced, quote: quote.value, basis }) : refused({ kind: 'busy' });
}

/** Allocates the nonce of an attempt and composes its bytes. */
async function composedBytes(
  preparation: Preparation,
  { purpose, effect, replaced, quote, basis }: Plan,
): Promise<Result<ComposedBytes, NonceFault>> {
  const { client, intent } = preparation;
  const { spending } = quote;
  const allocation = spending === undefined ? preparation : { ...preparation, spending };
  const allocated = await ('counts' in basis
    ? allocateNonce(allocation, basis.counts)
    : keepNonce(allocation, basis.kept));
  if (!allocated.ok) return allocated;
  const { nonce, reserved = [], predecessors = [] } = allocated.value;
  const anchor = await client.anchor({ from: intent.from, nonce: BigInt(nonce), replaced, predecessors });
  if (!anchor.ok) return refused({ kind: 'transient', detail: anchor.refusal.detail });
  const composed = client.rules.compose(effect, quote, anchor.value);
  // On Solana a nonce slot may be open on one RPC node and not on the next, and then the bytes cost
  // the rent that was not reserved.
  if (spending !== undefined && sumOf(spendingOf(effect, unitsOf(composed.maxFee)), null) > sumOf(reserved, null)) {
    return refused({ kind: 'transient', detail: 'it would take more than what is reserved for it' });
  }
  // On Solana an earlier attempt may depend on the nonce of an account that RPC nodes invented.
  const isAgain = 'kept' in basis && client.rules.ordering.by === 'nonce-slots';
  if (isAgain && !haveSameNonce(intent, basis.kept, { ...composed, purpose })) {
    const detail = 'the nonce account does not exist, and co-signers sign a payment for one nonce';
    return refused({ kind: 'permanent', reason: 'NONCE_ACCOUNT_MISSING', detail });
  }
  return accepted(composed);
}

interface QuoteRequest {
  readonly effect: OnChainIntent;
  readonly replaced: Attempt | null;
  readonly speed: Speed;
  readonly taken: ReadonlySet<string>;
  readonly locked: ReadonlySet<string>;
  readonly joins: number;
  readonly includeMayCarryMore: boolean;
}

/**
 * Returns the quote of an RPC node that has the newest settled block. A settled block that is
 * impossibly far ahead of the head of two nodes came from a false inclusion: it is lowered, and the
 * next run of the job gets a quote.
 */
async function quoteSinceSettled(
  { env, client, transaction }: Preparation,
  { effect, replaced, ...options }: QuoteRequest,
): Promise<Result<Quote, PreparationFault>> {
  const allocator = allocatorOf(env, transaction);
  const settled = client.rules.ordering.by === 'utxos' ? 0n : BigInt(await allocator.settledBlock());
  const quote = await client.quote(effect, replaced, { ...options, notBefore: settled });
  if (quote.ok || quote.refusal.kind !== 'transient' || settled === 0n) return quote;
  const head = await client.provenHead();
  const isFalse = head.ok && settled - head.value > maxLagBlocks(client.chain);
  if (isFalse) await allocator.lowerSettledBlock({ head: head.value.toString() });
  return quote;
}

/**
 * Keeps the transaction's nonce for a further attempt, which may spend more than the previous ones.
 */
async function keepNonce(
  allocation: Preparation & { readonly spending?: Spending },
  { nonce }: Attempt,
): Promise<Result<AllocatedNonce, NonceFault>> {
  const fault = await reserveFor(allocation);
  return fault === null ? accepted({ nonce, reserved: allocation.spending?.amounts ?? [] }) : refused(fault);
}
