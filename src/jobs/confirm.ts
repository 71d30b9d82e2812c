import { labelsOf, usdValueOf } from '#domain/appraisal.ts';
import type { TransactionId } from '#domain/id.ts';
import type { AppraisedInclusion, Inclusion } from '#domain/transaction.ts';
import { newestAttempt } from '#domain/transaction.ts';
import { chainAccess } from '#chains/access.ts';
import { appraise } from '#jobs/appraise.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import type { TransactionWork } from '#objects/vault-views.ts';
import type { VaultObject } from '#objects/vault.ts';
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
  const newest = work === null ? null : newestAttempt(work.transaction);
  if (work === null || newest === null) return;
  const adapter = chainAccess(env, work.chain);
  if (adapter === null) return;
  const { intent, attempts, inclusion } = work.transaction;
  const observed = await adapter.observe({
    from: intent.from,
    nonce: BigInt(newest.nonce),
    hashes: attempts.flatMap((attempt) => (attempt.signed === null ? [] : [attempt.signed.hash])),
    newest: { payload: newest.payload, validUntil: newest.validUntil },
    parent: intent.kind === 'transfer' ? (intent.paysFor ?? null) : null,
    inclusion,
  });
  // A node that is away tells nothing; the vault's alarm sends this job again.
  if (!observed.ok) return;
  if (observed.value.type === 'included') {
    const confirmationsNeeded = work.chain.confirmations;
    const found = observed.value.inclusion;
    const worth = worthBefore(inclusion, found) ?? (await worthOf(env, work, found));
    await vault.record(id, { type: 'include', inclusion: { ...found, ...worth }, confirmationsNeeded });
  } else if (observed.value.type === 'lapsed') {
    await vault.record(id, { type: 'lapse', attempt: newest.number });
  } else {
    const { inMempool, nonceTaken } = observed.value;
    await vault.record(id, { type: 'miss', inMempool, nonceTaken });
  }
}

type Worth = Pick<AppraisedInclusion, 'usdValue' | 'tokens'>;

/** What is known of it while it stays in its block; prices of later change nothing. */
function worthBefore(before: AppraisedInclusion | null, { hash, blockHash }: Inclusion): Worth | null {
  if (before?.hash !== hash || before.blockHash !== blockHash) return null;
  return { usdValue: before.usdValue, tokens: before.tokens };
}

const NOTHING: Worth = { usdValue: null, tokens: [] };
/** A price that is known already is there in a moment. */
const MOST_WAIT_MS = 1_000;

/** No confirmation waits for a price: where nothing is found out in a moment the record says nothing. */
async function worthOf(env: CoordinatorEnv, work: TransactionWork, found: Inclusion): Promise<Worth> {
  const { movements, changes } = found;
  const asked = appraise(env, work.chain, { movements, wallets: [work.transaction.intent.from] }).then(
    (appraisal) => ({ usdValue: usdValueOf(changes, appraisal), tokens: labelsOf(changes, appraisal) }),
    (error: unknown) => {
      console.error(JSON.stringify({ event: 'appraisal-failed', chain: work.chain.name, error: errorText(error) }));
      return NOTHING;
    },
  );
  return Promise.race([asked, scheduler.wait(MOST_WAIT_MS).then(() => NOTHING)]);
}
