import type { ChainClient } from '#chains/chain-client.ts';
import type { NodeStatement, Observation } from '#chains/observation.ts';
import { acceptanceOf } from '#jobs/signing/broadcast.ts';
import { observeAttempts } from '#chains/clients/observe-attempts.ts';
import type { FailureReason } from '#domain/transaction/event.ts';
import { hasWaitedUnshown, isAtRest } from '#domain/transaction/inclusion-steps.ts';
import { COIN_UNKNOWN, NOT_SHOWN } from '#domain/transaction/job.ts';
import { labelsOf, usdValueOf } from '#domain/asset/valuation.ts';
import type { TransactionId } from '#domain/id.ts';
import { isPastNotAfter } from '#domain/transaction/not-after.ts';
import { isPastNotAfterTime } from '#domain/transaction/intent.ts';
import type { ValuedInclusion, Inclusion, Transaction } from '#domain/transaction/transaction.ts';
import { newestAttempt, signedAttempts } from '#domain/transaction/transaction.ts';
import { chainClientFor } from '#chains/clients/client-for.ts';
import { raiseUntraced } from '#jobs/operations/untraced-alert.ts';
import { valueAssets } from '#jobs/value-assets.ts';
import { recordBlocker } from '#jobs/signing/nonce-allocation.ts';
import { reprice } from '#jobs/signing/reprice.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import type { TransactionWork } from '#objects/vault/views.ts';
import type { VaultDoors } from '#objects/vault/doors/doors.ts';
import { errorText } from '#store/error-text.ts';

/**
 * Observes the attempts of a transaction and reports the result. The vault decides what it means
 * and when to poll again. The job does not wait, so a lost message costs one poll and nothing else.
 */
export async function confirm(env: CoordinatorEnv, vault: VaultDoors, id: TransactionId): Promise<void> {
  const work = await vault.work({ type: 'transactionWork', id, job: 'confirm' });
  if (work === null) return;
  const client = chainClientFor(env, work.chain);
  if (client !== null) await observeAndAct({ env, vault, client, work });
}

/**
 * Records the state of a transaction's attempts, and rebroadcasts or reprices those that no RPC
 * node has.
 */
export async function observeAndAct(watch: Watch): Promise<void> {
  const { env, vault, client, work } = watch;
  const { id } = work.transaction;
  const observed = await observeAttempts(client, work.transaction);
  // An unreachable RPC node shows nothing; the vault's alarm sends this job again.
  if (!observed.ok) {
    await recordUnshown(watch);
    return;
  }
  await recordObservation(watch, observed.value);
  const { value: seen } = observed;
  // An inclusion that an RPC node contradicts from the start is not recorded, like an absent one.
  const isDisputed = seen.type === 'included' && seen.inclusion.secondNode === 'disagrees';
  const isUnrecorded = isDisputed && work.transaction.state === 'BROADCAST';
  const isAbsent = isUnrecorded || (seen.type === 'absent' && !seen.nonceTaken);
  const isWithheld = seen.type === 'absent' && isAbsent && seen.isWithheld === true;
  const isUseDisputed = seen.type === 'absent' && seen.isUseDisputed === true;
  const isSilent = isAtRest(work.transaction) || work.transaction.stateReason === NOT_SHOWN;
  const isResting = seen.type === 'absent' && isAbsent && !seen.inMempool && isSilent;
  const isDear = isResting && waitsForPriceAgain(work.transaction);
  if (seen.type === 'absent' && (seen.isTooCheap === true || isDear)) {
    await reprice({ env, vault, client, transaction: work.transaction });
  }
  if (isAbsent && isPastNotAfter(work.transaction, Date.now()))
    await vault.report({ type: 'recordEvent', id, event: { type: 'endByTime' } });
  else if (isUnrecorded || isUseDisputed || isResting || isWithheld) await offerAgain(watch);
  if (seen.type === 'absent' && isAbsent && !seen.inMempool) await recordUnshown(watch);
  if (isAbsent) await recordBlocker({ env, vault, client, transaction: work.transaction });
}

/**
 * Reasons of a record whose next attempt is possible after its price, or the balance, has changed.
 */
const PRICE_REASONS: ReadonlySet<string | null> = new Set<FailureReason>(['FEE_CAP_EXCEEDED', 'INSUFFICIENT_FUNDS']);

function waitsForPriceAgain({ stateReason }: Transaction): boolean {
  return PRICE_REASONS.has(stateReason);
}

/**
 * Broadcasts the newest bytes again, when some RPC nodes have them and another one does not (a node
 * may not relay them), or when the network accepts neither them nor another attempt. It records
 * only what the nodes say of bytes that one of them accepts: for all others nothing has changed,
 * and the next poll shows the effect.
 */
async function offerAgain({ vault, client, work: { transaction, chain } }: Watch): Promise<void> {
  const newest = signedAttempts(transaction).at(-1);
  // An ended transaction is not broadcast, because members may have paid again.
  if (transaction.state !== 'BROADCAST' || newest === undefined || newest.sent === null) return;
  if (newest.purpose === 'intent' && isPastNotAfterTime(transaction.intent, Date.now())) return;
  const verdict = await client.broadcast(newest.signed.raw, newest.signed.hash);
  if (verdict.outcome !== 'accepted' || newest.sent.outcome !== 'accepted') return;
  const acceptance = acceptanceOf(verdict, chain);
  const event = { type: 'send', attempt: newest.number, ...acceptance, isRepeated: true } as const;
  await vault.report({ type: 'recordEvent', id: transaction.id, event });
}

/**
 * Reports whether an earlier attempt decides the transaction, before a further one is signed. It
 * may have been included meanwhile, or be excluded permanently: then this records it, and nothing
 * more is signed. While no attempt can be signed no other job polls, so this also records that a
 * UTXO is unknown, or is known again. When nothing is visible yet, the chain still executes at most
 * one of all attempts.
 */
export async function isDecided(watch: Watch): Promise<boolean> {
  const { transaction } = watch.work;
  if (signedAttempts(transaction).length === 0) return false;
  const seen = await observeAttempts(watch.client, transaction);
  if (!seen.ok) {
    await recordUnshown(watch);
    return false;
  }
  const isOver = decides(seen.value);
  const isCoinUnknown = seen.value.type === 'absent' && seen.value.isCoinUnknown === true;
  if (isOver || isCoinUnknown || transaction.stateReason === COIN_UNKNOWN) await recordObservation(watch, seen.value);
  if (!isOver && seen.value.type === 'absent' && !seen.value.inMempool) await recordUnshown(watch);
  return isOver;
}

/** Reports that no RPC node explains a transaction in flight, once that has lasted. */
async function recordUnshown({ vault, work: { transaction } }: Watch): Promise<void> {
  if (!hasWaitedUnshown(transaction, Date.now())) return;
  await vault.report({ type: 'recordEvent', id: transaction.id, event: { type: 'unshown' } });
}

/**
 * Reports whether an observation is conclusive. A used nonce, even one without a visible
 * transaction, allows no further attempt. An inclusion that RPC nodes contradict decides nothing.
 */
function decides(seen: Observation): boolean {
  if (seen.type === 'included') return seen.inclusion.secondNode !== 'disagrees';
  return seen.type === 'absent' && (seen.nonceTaken || seen.isUnexplained === true);
}

interface Watch {
  readonly env: CoordinatorEnv;
  readonly vault: VaultDoors;
  readonly client: ChainClient;
  readonly work: TransactionWork;
}

/** Reports an observation to the vault. */
async function recordObservation(watch: Watch, seen: Observation): Promise<void> {
  const { vault, work } = watch;
  const { id, inclusion } = work.transaction;
  // Other consumers run concurrently and may have signed another attempt since.
  const lookedFor = signedAttempts(work.transaction).length;
  if (seen.type === 'included') {
    await raiseUntraced(watch.env, { chain: work.chain.name, hosts: seen.untracedBy }, Date.now());
    const confirmationsNeeded = work.chain.confirmations;
    const value = valueBefore(inclusion, seen.inclusion) ?? (await valueOf(watch, seen.inclusion));
    const after = await vault.report({
      type: 'recordEvent',
      id,
      event: {
        type: 'include',
        inclusion: { ...seen.inclusion, ...value },
        confirmationsNeeded,
        lookedFor,
      },
    });
    logDoubt(watch, after, seen.statements);
  } else if (seen.type === 'lapsed' && inclusion !== null) {
    // The recorded block is gone first. The next poll reports that no attempt can be included.
    const event = { type: 'miss', inMempool: false, nonceTaken: false, lookedFor } as const;
    await vault.report({ type: 'recordEvent', id, event });
  } else if (seen.type === 'lapsed') {
    const newest = newestAttempt(work.transaction);
    if (newest !== null)
      await vault.report({ type: 'recordEvent', id, event: { type: 'lapse', attempt: newest.number } });
  } else {
    const { type: _, unansweredBy: __, statements, ...found } = seen;
    const after = await vault.report({ type: 'recordEvent', id, event: { type: 'miss', ...found, lookedFor } });
    logDoubt(watch, after, statements);
  }
}

/**
 * Logs what each RPC node states, once for each reason for which a record waits for them. The host
 * of the wrong node is not in the record: members cannot do anything about it.
 */
function logDoubt(
  { work: { transaction, chain } }: Watch,
  after: Pick<Transaction, 'stateReason'> | null,
  statements: readonly NodeStatement[] = [],
): void {
  const reason = after?.stateReason ?? null;
  if (reason === null || reason === transaction.stateReason || statements.length === 0) return;
  const { id: transactionId, vaultId } = transaction;
  const line = { event: 'payment-in-doubt', vaultId, transactionId, chain: chain.name, reason, statements };
  console.error(JSON.stringify(line));
}

type MarketValue = Pick<ValuedInclusion, 'usdValue' | 'tokens'>;

/**
 * Returns the known market value while the transaction stays in its block with the same movements;
 * later prices change nothing.
 */
function valueBefore(
  before: ValuedInclusion | null,
  { hash, blockHash, movementCount }: Inclusion,
): MarketValue | null {
  if (before?.hash !== hash || before.blockHash !== blockHash || before.movementCount !== movementCount) return null;
  return { usdValue: before.usdValue, tokens: before.tokens };
}

/** A cached price arrives within this time. */
const MAX_WAIT_MS = 1_000;

/**
 * Returns the market value of an inclusion. A confirmation does not wait for a price: without one
 * within a moment the record has none.
 */
async function valueOf({ env, client, work }: Watch, found: Inclusion): Promise<MarketValue> {
  const { movements, changes } = found;
  // The known labels of its tokens stay when more movements are found than before.
  const nothing: MarketValue = { usdValue: null, tokens: work.transaction.inclusion?.tokens ?? [] };
  const request = valueAssets(
    env,
    { chain: work.chain, client },
    { movements, wallets: [work.transaction.intent.from] },
  ).then(
    (valuation) => ({ usdValue: usdValueOf(changes, valuation), tokens: labelsOf(changes, valuation) }),
    (error: unknown) => {
      console.error(JSON.stringify({ event: 'appraisal-failed', chain: work.chain.name, error: errorText(error) }));
      return nothing;
    },
  );
  return Promise.race([request, scheduler.wait(MAX_WAIT_MS).then(() => nothing)]);
}
