import type { ChainAdapter, PreparationFault } from '#chains/chain-adapter.ts';
import type { TransactionId } from '#domain/id.ts';
import { parseTransactionId } from '#domain/id.ts';
import { signingEndsAtMs } from '#domain/intent.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Attempt, Transaction } from '#domain/transaction.ts';
import { newestAttempt } from '#domain/transaction.ts';
import { chainAccess } from '#jobs/chain-access.ts';
import { broadcast } from '#jobs/broadcast.ts';
import { cosignersOf } from '#jobs/cosigner-client.ts';
import { thresholdSign } from '#jobs/threshold-sign.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import type { TransactionWork, VaultObject } from '#objects/vault.ts';

type VaultStub = DurableObjectStub<VaultObject>;

/** Co-signers go by their own clocks: signing is given up only when each of them has refused for some time. */
const CLOCK_TOLERANCE_MS = 10 * 60 * 1000;

/**
 * Takes an approved transaction from SIGNING to BROADCAST. Every step can be cut off and run again:
 *
 *  1. fees, gas and a dry run are asked of the chain; nothing is stored, a nonce is not touched before they succeed;
 *  2. the nonce belongs to the transaction: asked again, the allocator gives the same one;
 *  3. the unsigned bytes are stored before any co-signer sees them: a second run finds them and asks for the same signature;
 *  4. the signed bytes and their hash are stored before the first send. A signature that was made but not stored was never
 *     sent, and the next one is over the same bytes.
 */
export async function sign(env: CoordinatorEnv, vault: VaultStub, id: TransactionId): Promise<void> {
  const work = await vault.work(id, 'sign');
  if (work === null) return;
  if (Date.now() >= signingEndsAtMs(work.transaction.intent) + CLOCK_TOLERANCE_MS) {
    await vault.record(id, { type: 'failSigning', reason: 'SIGNING_TIMEOUT', detail: null });
    return;
  }
  const adapter = chainAccess(env, work.chain);
  if (adapter === null) {
    await vault.record(id, { type: 'delaySigning', reason: 'CHAIN_NOT_CONFIGURED' });
    return;
  }
  const prepared = await prepare({ env, vault, adapter, transaction: work.transaction });
  if (!prepared.ok) {
    const fault = prepared.refusal;
    if (fault.kind === 'transient') await vault.record(id, { type: 'delaySigning', reason: 'CHAIN_UNAVAILABLE' });
    else await vault.record(id, { type: 'failSigning', reason: fault.reason, detail: fault.detail });
    return;
  }
  await signAttempt({ env, vault, adapter, work, attempt: prepared.value });
}

interface Preparation {
  readonly env: CoordinatorEnv;
  readonly vault: VaultStub;
  readonly adapter: ChainAdapter;
  readonly transaction: Transaction;
}

/** The attempt to sign: the one that is stored already, or a new one. */
async function prepare(preparation: Preparation): Promise<Result<Attempt, PreparationFault>> {
  const { env, vault, adapter, transaction } = preparation;
  const { intent, id } = transaction;
  const newest = newestAttempt(transaction);
  if (newest !== null && newest.signed === null) return accepted(newest);
  const quote = await adapter.quote(intent, newest);
  if (!quote.ok) return quote;
  const nonce = newest === null ? await allocateNonce(env, adapter, transaction) : accepted(newest.nonce);
  if (!nonce.ok) return nonce;
  const composed = adapter.compose(intent, quote.value, BigInt(nonce.value));
  const after = await vault.record(id, { type: 'prepare', attempt: composed });
  const attempt = after === null ? null : newestAttempt(after);
  // Somebody else may have been faster: what is stored is what is signed.
  return attempt === null || attempt.signed !== null
    ? refused({ kind: 'transient', detail: 'the transaction moved on' })
    : accepted(attempt);
}

async function allocateNonce(
  env: CoordinatorEnv,
  adapter: ChainAdapter,
  transaction: Transaction,
): Promise<Result<string, PreparationFault>> {
  const { chain, from } = transaction.intent;
  const counts = await adapter.accountNonce(from);
  if (!counts.ok) return refused({ kind: 'transient', detail: counts.refusal.detail });
  const { nonce } = await env.WALLET_NONCE.getByName(`nonce:${chain}:${from}`).allocate({
    transactionId: transaction.id,
    latest: counts.value.latest.toString(),
    pending: counts.value.pending.toString(),
  });
  return accepted(nonce);
}

interface SigningTurn {
  readonly env: CoordinatorEnv;
  readonly vault: VaultStub;
  readonly adapter: ChainAdapter;
  readonly work: TransactionWork;
  readonly attempt: Attempt;
}

async function signAttempt({ env, vault, adapter, work, attempt }: SigningTurn): Promise<void> {
  const { transaction, key, policies, signingThreshold } = work;
  const { id, intent, approvals } = transaction;
  const outcome = await thresholdSign(cosignersOf(env), {
    key,
    signingThreshold,
    intent,
    attempt,
    approvals,
    policies,
  });
  if (!outcome.ok) {
    if (outcome.verdict === 'unavailable')
      await vault.record(id, { type: 'delaySigning', reason: 'SIGNER_UNAVAILABLE' });
    else await vault.record(id, { type: 'failSigning', reason: 'SIGNERS_REFUSED', detail: outcome.reason });
    return;
  }
  const assembled = adapter.assemble(intent, attempt, outcome.signature);
  if (!assembled.ok) throw new Error(`co-signers gave a signature that does not fit: ${assembled.refusal.detail}`);
  await vault.record(id, { type: 'sign', attempt: attempt.number, ...assembled.value });
  // The message for the broadcast follows from the outbox in any case; going on at once only saves its trip.
  await broadcast(env, vault, id);
}

/** Reads the id of a message; null for one that no version of this service has sent. */
export function transactionOf(text: string | null): TransactionId | null {
  return text === null ? null : parseTransactionId(text);
}
