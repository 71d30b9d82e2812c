import type { ChainClient } from '#chains/chain-client.ts';
import type { ChainSignature } from '#chains/chain-rules.ts';
import type { TransactionId } from '#domain/id.ts';
import type { MessageIntent } from '#domain/transaction/intent.ts';
import { actionOfAttempt } from '#domain/transaction/intent.ts';
import type { Attempt } from '#domain/transaction/transaction.ts';
import { newestAttempt, signedAttempts } from '#domain/transaction/transaction.ts';
import { chainClientFor } from '#chains/clients/client-for.ts';
import { rulesFor } from '#chains/families/rules-for.ts';
import type { SigningContact } from '#jobs/signing/signing-contact.ts';
import { trackContact } from '#jobs/signing/signing-contact.ts';
import { policySource } from '#jobs/signing/policy-source.ts';
import { propagateSignedRecord, signedBytesOf } from '#jobs/signing/propagate-signed-record.ts';
import { broadcastNewest } from '#jobs/signing/broadcast.ts';
import { isDecided } from '#jobs/signing/confirm.ts';
import type { TurnOfWork } from '#jobs/signing/give-up.ts';
import { endCancelled, fillsNonce, giveUp, recordFault, timeFault } from '#jobs/signing/give-up.ts';
import type { Preparation } from '#jobs/signing/prepare.ts';
import { prepare } from '#jobs/signing/prepare.ts';
import { cosignersOf } from '#cosigner-client/client.ts';
import type { OpenedSessions } from '#jobs/signing/relay.ts';
import type { Signable } from '#jobs/signing/threshold-sign.ts';
import { availableHolders, openSessionsAhead, thresholdSign } from '#jobs/signing/threshold-sign.ts';
import { needsReceipts } from '#domain/policy/policy.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import type { VaultDoors } from '#objects/vault/doors/doors.ts';

interface SigningTurn extends TurnOfWork {
  readonly client: ChainClient;
}

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
  if (await endCancelled({ env, vault, work })) return;
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
async function signMessage(turn: TurnOfWork, intent: MessageIntent): Promise<void> {
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
  { env, vault, work }: TurnOfWork,
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
