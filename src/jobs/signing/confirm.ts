import type { ChainAdapter, ChainFault, Observation } from '#chains/chain-adapter.ts';
import type { FailureReason } from '#domain/transaction/event.ts';
import { isAtRest } from '#domain/transaction/inclusion-steps.ts';
import { labelsOf, usdValueOf } from '#domain/asset/valuation.ts';
import type { TransactionId } from '#domain/id.ts';
import type { Result } from '#domain/result.ts';
import { isPastNotAfter } from '#domain/transaction/not-after.ts';
import { isPastNotAfterTime } from '#domain/transaction/intent.ts';
import type { ValuedInclusion, Attempt, Inclusion, Transaction } from '#domain/transaction/transaction.ts';
import { newestAttempt, signedAttempts } from '#domain/transaction/transaction.ts';
import { chainClientFor } from '#chains/client-for.ts';
import { valueAssets } from '#jobs/value-assets.ts';
import { recordBlocker } from '#jobs/signing/nonce-allocation.ts';
import { reprice } from '#jobs/signing/reprice.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import type { TransactionWork } from '#objects/vault/views.ts';
import type { VaultObject } from '#objects/vault/object.ts';
import { errorText } from '#store/error-text.ts';

/**
 * Looks where the attempts of a transaction are and reports it. The vault decides what that means, and when to look again:
 * there is no waiting here, so a lost message costs one poll and nothing else.
 */
export async function confirm(
  env: CoordinatorEnv,
  vault: DurableObjectStub<VaultObject>,
  id: TransactionId,
): Promise<void> {
  const work = await vault.work(id, 'confirm');
  if (work === null) return;
  const adapter = chainClientFor(env, work.chain);
  if (adapter !== null) await observeAndAct({ env, vault, work }, adapter);
}

/** Records where the attempts of a transaction are, and offers or reprices what no node has. */
export async function observeAndAct({ env, vault, work }: Watch, adapter: ChainAdapter): Promise<void> {
  const { id } = work.transaction;
  const observed = await observeAttempts(adapter, work.transaction);
  // A node that is away tells nothing; the vault's alarm sends this job again.
  if (!observed.ok) return;
  await recordObservation({ env, vault, work }, observed.value);
  const { value: seen } = observed;
  // What a node contradicts from the start is recorded as little as what no node has.
  const isDisputed = seen.type === 'included' && seen.inclusion.secondNode === 'disagrees';
  const isUnrecorded = isDisputed && work.transaction.state === 'BROADCAST';
  const isAbsent = isUnrecorded || (seen.type === 'absent' && !seen.nonceTaken);
  const isWithheld = seen.type === 'absent' && isAbsent && seen.isWithheld === true;
  const isResting = seen.type === 'absent' && isAbsent && !seen.inMempool && isAtRest(work.transaction);
  const isDear = isResting && waitsForPriceAgain(work.transaction);
  if (seen.type === 'absent' && (seen.isTooCheap === true || isDear)) {
    await reprice({ env, vault, adapter, transaction: work.transaction });
  }
  if (isAbsent && isPastNotAfter(work.transaction, Date.now())) await vault.record(id, { type: 'endByTime' });
  else if (isUnrecorded || isResting || isWithheld) await offerAgain(adapter, work.transaction);
  if (isAbsent) await recordBlocker({ env, vault, adapter, transaction: work.transaction });
}

/** Reasons of a record whose next attempt is to be had once its price, or the balance, has changed. */
const PRICE_REASONS: ReadonlySet<string | null> = new Set<FailureReason>(['FEE_CAP_EXCEEDED', 'INSUFFICIENT_FUNDS']);

function waitsForPriceAgain({ stateReason }: Transaction): boolean {
  return PRICE_REASONS.has(stateReason);
}

/**
 * Sends the newest bytes again, where some nodes have them and another one does not (those that have them may pass them on to no other
 * node), or where the network takes neither them nor another attempt. Nothing is recorded, because nothing has changed: the next look shows
 * what came of it.
 */
async function offerAgain(adapter: ChainAdapter, transaction: Transaction): Promise<void> {
  const newest = signedAttempts(transaction).at(-1);
  // What has ended is not offered: people may have paid again.
  if (transaction.state !== 'BROADCAST' || newest === undefined || newest.sent === null) return;
  if (newest.purpose === 'intent' && isPastNotAfterTime(transaction.intent, Date.now())) return;
  await adapter.broadcast(newest.signed.raw, newest.signed.hash);
}

/** Where the attempts of a transaction are that could be anywhere. Throws where none is signed: nobody looks for it. */
export async function observeAttempts(
  adapter: ChainAdapter,
  transaction: Transaction,
): Promise<Result<Observation, ChainFault>> {
  const { intent, attempts, inclusion } = transaction;
  const signed = signedAttempts(transaction);
  const newest = signed.at(-1);
  if (newest === undefined) throw new Error('nothing is signed that could be anywhere');
  return adapter.observe({
    from: intent.from,
    nonce: BigInt(newest.nonce),
    hashes: signed.map((attempt) => attempt.signed.hash),
    newest: { ...newest, validUntil: lastBlockOf(attempts) },
    payloads: signed.map(({ payload }) => payload),
    coinParents: attempts.flatMap(({ coinParents = [] }) => coinParents),
    inclusion,
  });
}

/** That can hold any of them. A node that lags gives a later attempt less time than an earlier one. */
function lastBlockOf(attempts: readonly Attempt[]): string | null {
  const blocks = attempts.flatMap(({ validUntil }) => (validUntil === null ? [] : [BigInt(validUntil)]));
  return blocks.length === 0 ? null : blocks.reduce((last, one) => (one > last ? one : last)).toString();
}

interface Watch {
  readonly env: CoordinatorEnv;
  readonly vault: DurableObjectStub<VaultObject>;
  readonly work: TransactionWork;
}

/** Tells the vault what was seen. */
export async function recordObservation({ env, vault, work }: Watch, seen: Observation): Promise<void> {
  const { id, inclusion } = work.transaction;
  // Others are at work beside this one, and may have signed another since.
  const lookedFor = signedAttempts(work.transaction).length;
  if (seen.type === 'included') {
    const confirmationsNeeded = work.chain.confirmations;
    const value = valueBefore(inclusion, seen.inclusion) ?? (await valueOf(env, work, seen.inclusion));
    await vault.record(id, {
      type: 'include',
      inclusion: { ...seen.inclusion, ...value },
      confirmationsNeeded,
      lookedFor,
    });
  } else if (seen.type === 'lapsed') {
    const newest = newestAttempt(work.transaction);
    if (newest !== null) await vault.record(id, { type: 'lapse', attempt: newest.number });
  } else {
    const { inMempool, nonceTaken, isUnexplained = false, isCoinUnknown = false, isTooCheap = false } = seen;
    const found = { inMempool, nonceTaken, isUnexplained, isCoinUnknown, isTooCheap };
    await vault.record(id, { type: 'miss', ...found, lookedFor });
  }
}

type MarketValue = Pick<ValuedInclusion, 'usdValue' | 'tokens'>;

/** What is known of it while it stays in its block, and no more of it is seen; prices of later change nothing. */
function valueBefore(
  before: ValuedInclusion | null,
  { hash, blockHash, movementCount }: Inclusion,
): MarketValue | null {
  if (before?.hash !== hash || before.blockHash !== blockHash || before.movementCount !== movementCount) return null;
  return { usdValue: before.usdValue, tokens: before.tokens };
}

/** A price that is known already is there in a moment. */
const MAX_WAIT_MS = 1_000;

/** No confirmation waits for a price: where nothing is found out in a moment the record says nothing. */
async function valueOf(env: CoordinatorEnv, work: TransactionWork, found: Inclusion): Promise<MarketValue> {
  const { movements, changes } = found;
  // What its tokens call themselves is known, where more of it is seen than before.
  const nothing: MarketValue = { usdValue: null, tokens: work.transaction.inclusion?.tokens ?? [] };
  const request = valueAssets(env, work.chain, { movements, wallets: [work.transaction.intent.from] }).then(
    (valuation) => ({ usdValue: usdValueOf(changes, valuation), tokens: labelsOf(changes, valuation) }),
    (error: unknown) => {
      console.error(JSON.stringify({ event: 'appraisal-failed', chain: work.chain.name, error: errorText(error) }));
      return nothing;
    },
  );
  return Promise.race([request, scheduler.wait(MAX_WAIT_MS).then(() => nothing)]);
}
