import type { ChainClient, PreparationFault } from '#chains/chain-client.ts';
import type { ChainSignature, Quote } from '#chains/chain-rules.ts';
import { unitsOf } from '#domain/asset/amount.ts';
import type { FailureReason, TransactionEvent } from '#domain/transaction/event.ts';
import { waitsForPrice } from '#domain/wallet/fee-cap.ts';
import { automaticBumpLimit } from '#domain/wallet/fee-bump-limit.ts';
import type { TransactionId } from '#domain/id.ts';
import type { MessageIntent, OnChainIntent } from '#domain/transaction/intent.ts';
import { attemptEndsAtMs, actionOfAttempt, isPastNotAfterTime } from '#domain/transaction/intent.ts';
import { maxLagBlocks } from '#domain/asset/chain.ts';
import { FUNDS_IN_FLIGHT, sumOf } from '#domain/wallet/reservation.ts';
import type { Spending } from '#domain/wallet/reservation.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused, unreachable } from '#domain/result.ts';
import type { Attempt, Speed, Transaction } from '#domain/transaction/transaction.ts';
import { isPermanentlyRejected, newestAttempt, signedAttempts } from '#domain/transaction/transaction.ts';
import { nextPurpose, replacementSpeed } from '#domain/transaction/transition.ts';
import { chainClientFor } from '#chains/clients/client-for.ts';
import { rulesFor } from '#chains/families/rules-for.ts';
import { haveSameNonce } from '#chains/inspect/payload.ts';
import { spendingOf } from '#chains/inspect/spending.ts';
import type { SigningContact } from '#jobs/signing/signing-contact.ts';
import { trackContact } from '#jobs/signing/signing-contact.ts';
import { policySource } from '#jobs/signing/policy-source.ts';
import { propagateSignedRecord, signedBytesOf } from '#jobs/signing/propagate-signed-record.ts';
import { broadcastNewest } from '#jobs/signing/broadcast.ts';
import { isDecided } from '#jobs/signing/confirm.ts';
import type { AllocatedNonce, NonceFault } from '#jobs/signing/nonce-allocation.ts';
import {
  allocateNonce,
  allocatorOf,
  claimedUtxos,
  hasOrderedNonces,
  lockedUtxos,
  reserveFor,
  fundsFault,
} from '#jobs/signing/nonce-allocation.ts';
import { cosignersOf } from '#cosigner-client/client.ts';
import type { OpenedSessions } from '#jobs/signing/relay.ts';
import type { Signable } from '#jobs/signing/threshold-sign.ts';
import { availableHolders, openSessionsAhead, thresholdSign } from '#jobs/signing/threshold-sign.ts';
import { needsReceipts } from '#domain/policy/policy.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import type { VaultDoors } from '#objects/vault/doors/doors.ts';
import type { TransactionWork } from '#objects/vault/views.ts';

/**
 * Co-signers use their own clocks: signing ends only after each of them has refused for some time.
 */
const CLOCK_TOLERANCE_MS = 10 * 60 * 1000;

/**
 * Takes an approved transaction from SIGNING to BROADCAST, and signs the replacement of one that is
 * in BROADCAST. Every step can be interrupted and repeated:
 *
 * 1. The chain returns fees, gas and a dry run. Nothing is stored, and no nonce is used before they
 *    succeed.
 * 2. The nonce belongs to the transaction: a repeated call to the allocator returns the same one.
 * 3. The unsigned bytes are stored before any co-signer receives them: a second run finds them and
 *    requests the same signature.
 * 4. The signed bytes and their hash are stored before the first broadcast. A signature that was
 *    made but not stored was never broadcast, and the next one is over the same bytes.
 */
export async function sign(env: CoordinatorEnv, vault: VaultDoors, id: TransactionId): Promise<void> {
  const work = await vault.work({ type: 'transactionWork', id, job: 'sign' });
  if (work === null) return;
  const { intent } = work.transaction;
  // No time limit ends the filling of a nonce: transactions above it have no other way to the
  // chain.
  const reason = fillsNonce(work.transaction) ? null : timeFault(work.transaction, Date.now());
  if (reason !== null) {
    await giveUp({ env, vault, work }, { reason, detail: null });
    return;
  }
  if (intent.kind === 'message') {
    // A message needs no RPC call.
    await signMessage({ env, vault, work }, intent);
    return;
  }
  const client = chainClientFor(env, work.chain);
  if (client === null) {
    await vault.report({ type: 'recordEvent', id, event: { type: 'delaySigning', reason: 'CHAIN_NOT_CONFIGURED' } });
    return;
  }
  const turn = { env, vault, client, work };
  if (await isDecided(turn)) return;
  const preparation = { env, vault, client, transaction: work.transaction, intent, run: crypto.randomUUID() };
  const [prepared, ahead] = await Promise.all([prepare(preparation), openedAhead(turn)]);
  if (!prepared.ok) {
    await recordFault(turn, prepared.refusal);
    return;
  }
  const { signingDigest } = prepared.value;
  const { isStale: needsFresh } = await signAttempt(turn, preparation, { attempt: prepared.value, ahead });
  if (!needsFresh) return;
  const fresh = await prepare({ ...preparation, instead: signingDigest });
  if (fresh.ok) await signAttempt(turn, preparation, { attempt: fresh.value, ahead: null });
  else await recordFault(turn, fresh.refusal);
}

/**
 * Opens sessions of co-signers while the first run prepares the bytes. Bytes of an earlier run are
 * opened with their request: no co-signer begins then unless all accept it, so they can be replaced
 * when their price is outdated (signing-contact.ts). A transaction that was delayed opens nothing,
 * because it may be delayed again.
 */
async function openedAhead({ env, work }: SigningTurn): Promise<OpenedSessions | null> {
  const { key, adoption, transaction } = work;
  if (transaction.stateReason !== null || newestAttempt(transaction)?.signed === null) return null;
  return openSessionsAhead(cosignersOf(env), { key, policies: adoption });
}

async function recordFault({ env, vault, work }: SigningTurn, fault: NonceFault): Promise<void> {
  const { transaction } = work;
  // A transaction that fills a nonce for others does not end for its price, which may fall.
  const isWaiting = fault.kind !== 'permanent' || fillsNonce(transaction) || waitsForPrice(transaction, fault.reason);
  if (isWaiting) await vault.report({ type: 'recordEvent', id: work.transaction.id, event: delayOf(fault) });
  else await giveUp({ env, vault, work }, fault);
}

/**
 * Returns why nothing more is signed of a transaction after its time limit. The limit that a member
 * chose needs no tolerance.
 */
function timeFault(transaction: Transaction, nowMs: number): 'NOT_AFTER_PASSED' | 'SIGNING_TIMEOUT' | null {
  const purpose = nextPurpose(transaction);
  if (purpose === 'intent' && isPastNotAfterTime(transaction.intent, nowMs)) return 'NOT_AFTER_PASSED';
  return nowMs >= attemptEndsAtMs(transaction.intent, purpose) + CLOCK_TOLERANCE_MS ? 'SIGNING_TIMEOUT' : null;
}

/** Returns the event for a fault that may pass with time. */
function delayOf(fault: NonceFault): TransactionEvent {
  switch (fault.kind) {
    case 'busy':
      return { type: 'delaySigning', reason: 'WALLET_BUSY' };
    case 'transient':
      return { type: 'delaySigning', reason: 'CHAIN_UNAVAILABLE' };
    case 'unproven':
      return { type: 'delaySigning', reason: 'NONCE_UNCONFIRMED' };
    case 'in-flight':
      return { type: 'delaySigning', reason: FUNDS_IN_FLIGHT };
    case 'behind':
      return { type: 'waitForNonce', blocker: { transactionId: fault.waitsFor } };
    case 'permanent':
      return { type: 'delaySigning', reason: fault.reason === 'FEE_CAP_EXCEEDED' ? 'FEE_ABOVE_CAP' : fault.reason };
    default:
      return unreachable(fault);
  }
}

interface Preparation {
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
async function prepare(preparation: Preparation): Promise<Result<Attempt, NonceFault>> {
  const { env, vault, client, transaction, intent, run, instead } = preparation;
  const { id } = transaction;
  const newest = newestAttempt(transaction);
  const purpose = nextPurpose(transaction);
  const isStored = newest !== null && newest.signed === null && newest.purpose === purpose;
  if (isStored && newest.signingDigest !== instead) return accepted(newest);
  const effect = actionOfAttempt(intent, purpose);
  const allocator = allocatorOf(env, transaction);
  const [taken, locked] = await Promise.all([claimedUtxos(preparation), lockedUtxos(preparation)]);
  // Unsigned bytes are not on the network: the attempt that they replace counts.
  const replaced = isStored ? (transaction.attempts.at(-2) ?? null) : newest;
  const speed = replaced === null ? transaction.speed : replacementSpeed(transaction);
  const { joins = 0, includeMayCarryMore = false } = transaction;
  // The counts need nothing of the quote, so they take no time of their own.
  const [quote, basis] = await Promise.all([
    quoteSinceSettled(preparation, { effect, replaced, speed, taken, locked, joins, includeMayCarryMore }),
    newest === null ? client.accountNonce(intent.from).then((counts) => ({ counts })) : { kept: newest },
  ]);
  if (!quote.ok) return refused(await fundsFault(preparation, quote.refusal));
  const { utxos = [], maxFee, spending } = quote.value;
  const limit = client.rules.ordering.by === 'utxos' ? automaticBumpLimit(transaction) : null;
  if (limit !== null && unitsOf(maxFee) > limit) {
    const detail = `RPC nodes want ${maxFee} for a replacement, and a person has to ask for more than ${limit}`;
    return refused({ kind: 'permanent', reason: 'SPEED_UP_NEEDED', detail });
  }
  // Another transaction was faster: other UTXOs exist, or will.
  if (utxos.length > 0 && !(await allocator.claim({ transactionId: id, utxos }))) return refused({ kind: 'busy' });
  const allocation = spending === undefined ? preparation : { ...preparation, spending };
  const given = await ('counts' in basis ? allocateNonce(allocation, basis.counts) : keepNonce(allocation, basis.kept));
  if (!given.ok) return given;
  const { nonce, reserved = [], predecessors = [] } = given.value;
  const path = { from: intent.from, nonce: BigInt(nonce), replaced, predecessors };
  const anchor = await client.anchor(path);
  if (!anchor.ok) return refused({ kind: 'transient', detail: anchor.refusal.detail });
  const composed = client.rules.compose(effect, quote.value, anchor.value);
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
  const preparedBy = hasOrderedNonces(client.chain) ? { preparedBy: run } : {};
  const event = { type: 'prepare', attempt: { ...composed, purpose, ...preparedBy } } as const;
  const after = await vault.report({
    type: 'recordEvent',
    id,
    event: instead === undefined ? event : { ...event, instead },
  });
  const attempt = after === null ? null : newestAttempt(after);
  // Another run may have been faster: the stored bytes are signed.
  return attempt === null || attempt.signed !== null
    ? refused({ kind: 'transient', detail: 'the transaction moved on' })
    : accepted(attempt);
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

interface SigningTurn {
  readonly env: CoordinatorEnv;
  readonly vault: VaultDoors;
  readonly client: ChainClient;
  readonly work: TransactionWork;
}

/**
 * Signs an attempt. Reports whether the bytes were too old to be signed while co-signers are
 * available to sign fresh ones.
 */
async function signAttempt(
  turn: SigningTurn,
  { intent, run }: Preparation,
  { attempt, ahead }: { readonly attempt: Attempt; readonly ahead: OpenedSessions | null },
): Promise<{ readonly isStale: boolean }> {
  const { env, vault, client, work } = turn;
  const { id } = work.transaction;
  const evidence = await client.evidence(attempt.payload);
  if (!evidence.ok) {
    await vault.report({ type: 'recordEvent', id, event: { type: 'delaySigning', reason: 'CHAIN_UNAVAILABLE' } });
    return { isStale: false };
  }
  const contact = attempt.preparedBy !== undefined ? trackContact(vault, work.transaction, { attempt, run }) : null;
  const signatures = await signaturesOf(turn, attempt, { evidence: evidence.value, contact, ahead });
  if (signatures === null) return { isStale: contact?.isStale() === true };
  const assembled = client.rules.assemble(actionOfAttempt(intent, attempt.purpose), attempt, signatures);
  if (!assembled.ok) throw new Error(`co-signers gave a signature that does not fit: ${assembled.refusal.detail}`);
  const event = { type: 'sign', attempt: attempt.number, ...assembled.value } as const;
  const transaction = await vault.report({ type: 'recordEvent', id, event });
  // The outbox sends the message for the broadcast in any case; a direct call only saves its delay.
  if (transaction !== null) await broadcastNewest({ env, vault, client, transaction });
  // No caller waits for this any more, and a co-signer receives a missed record when it matters
  // (`thresholdSign`).
  const { key, adoption } = work;
  // With receipts every co-signer already has the record.
  if (needsReceipts(adoption.policy)) return { isStale: false };
  const signed = () => [signedBytesOf(client.rules, intent, { ...attempt, signed: assembled.value })];
  const logged = { keyId: key.keyId, transactionId: id, threshold: adoption.policy.signingThreshold, signed };
  await propagateSignedRecord(availableHolders(cosignersOf(env), key), logged);
  return { isStale: false };
}

/**
 * Signs a message. It has no nonce, no fee and no attempts: its bytes follow from the intent, so a
 * second run requests the same ones.
 */
async function signMessage(turn: Omit<SigningTurn, 'client'>, intent: MessageIntent): Promise<void> {
  const { vault, work } = turn;
  const rules = rulesFor(work.chain);
  const composed = rules.composeMessage(intent);
  const bytes = { number: 1, purpose: 'intent', ...composed } as const;
  const [signature] = (await signaturesOf(turn, bytes, { evidence: [], contact: null, ahead: null })) ?? [];
  if (signature === undefined) return;
  const assembled = rules.assembleMessage(intent, signature);
  if (!assembled.ok) throw new Error(`co-signers gave a signature that does not fit: ${assembled.refusal.detail}`);
  await vault.report({
    type: 'recordEvent',
    id: work.transaction.id,
    event: { type: 'signMessage', signature: assembled.value },
  });
}

interface SigningInput {
  readonly evidence: readonly string[];
  readonly contact: SigningContact | null;
  readonly ahead: OpenedSessions | null;
}

/** Returns null when there are no signatures yet, or never will be, and records it. */
async function signaturesOf(
  { env, vault, work }: Omit<SigningTurn, 'client'>,
  attempt: Signable,
  { evidence, contact, ahead }: SigningInput,
): Promise<readonly ChainSignature[] | null> {
  const { key, adoption } = work;
  const policies = policySource(vault, adoption);
  const { id, intent, approvals } = work.transaction;
  const rules = rulesFor(work.chain);
  const earlier = () => signedAttempts(work.transaction).map((one) => signedBytesOf(rules, intent, one));
  const requested = { key, intent, attempt, approvals, policies, evidence, ahead, earlier };
  const request = contact === null ? requested : { ...requested, mayStart: contact.mayStart };
  const outcome = await thresholdSign(cosignersOf(env), request);
  if (outcome.ok) return outcome.signatures;
  if (contact?.isStale() === true) return null;
  if (outcome.verdict === 'unavailable')
    await vault.report({ type: 'recordEvent', id, event: { type: 'delaySigning', reason: 'SIGNER_UNAVAILABLE' } });
  else await giveUp({ env, vault, work }, { reason: 'SIGNERS_REFUSED', detail: outcome.reason });
  await contact?.end();
  return null;
}

/**
 * Ends signing: a first attempt ends with its transaction, and a replacement ends alone. When
 * others wait above its nonce, an attempt without effect uses the nonce, because a transaction that
 * was approved may be undone.
 */
async function giveUp(
  { env, vault, work }: Omit<SigningTurn, 'client'>,
  { reason, detail }: { readonly reason: FailureReason; readonly detail: string | null },
): Promise<void> {
  const { transaction, chain } = work;
  const { id } = transaction;
  if (signedAttempts(transaction).some((attempt) => !isPermanentlyRejected(attempt, transaction))) {
    await vault.report({ type: 'recordEvent', id, event: { type: 'abandonReplacement', reason } });
    return;
  }
  // A transaction that fills its nonce, and for which co-signers refuse even that, ends: the next
  // transaction gets the nonce.
  const canFill = hasOrderedNonces(chain) && !fillsNonce(transaction);
  const allocator = allocatorOf(env, transaction);
  const mayGo = !canFill || (await allocator.leave({ transactionId: id }));
  const end = { reason, detail };
  const after = await vault.report({
    type: 'recordEvent',
    id,
    event: mayGo ? { type: 'failSigning', ...end } : { type: 'fillNonce', ...end },
  });
  // Another consumer was faster, and the transaction continues.
  if (canFill && mayGo && after?.state !== 'FAILED') await allocator.stay({ transactionId: id });
}

/** Reports whether a transaction was given up, and no signed attempt uses its nonce yet. */
function fillsNonce(transaction: Transaction): boolean {
  const isUp = transaction.givenUp !== null;
  return isUp && signedAttempts(transaction).every(({ purpose }) => purpose === 'intent');
}
