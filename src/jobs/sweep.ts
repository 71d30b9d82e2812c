import type { VaultId } from '#domain/id.ts';
import { parseVaultId } from '#domain/id.ts';
import { sendActivity } from '#jobs/activity-queue.ts';
import { raiseAlerts } from '#jobs/alerts.ts';
import { PRUNES } from '#jobs/prune.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import { vaultStub } from '#objects/vault/stub.ts';
import { logUnreadable } from '#store/document.ts';
import { errorText } from '#store/error-text.ts';
import { unreadableText } from '#store/object-schema.ts';
import { inGroups } from '#store/batched-query.ts';
import { claimDue } from '#store/retried-rows.ts';
import { stalledVaults } from '#store/transactions.ts';
import { claimVaultsToWake } from '#store/vaults.ts';

/**
 * The vault of a watched transaction that has not changed for this long is woken, whatever its
 * alarm was doing.
 */
const STALLED_AFTER_MS = 60_000;

/**
 * Every vault is woken at least this often, because the read model does not show what never reached
 * it.
 */
const EVERY_VAULT_MS = 60 * 60 * 1000;

/**
 * The maximum number of each in one run; the others follow a minute later, the ones quiet for
 * longest first. Together with the statements for D1 they stay below the thousand subrequests of an
 * invocation, and a hundred thousand vaults are all woken within 125 minutes.
 */
const MAX_STALLED = 100;
const MAX_IN_TURN = 800;
/** Rows of D1, which one statement processes. */
const MAX_ROWS = 200;
/** A sleeping vault takes time to wake: a minute is too short to wake all of them in sequence. */
const WOKEN_AT_ONCE = 20;

/**
 * Wakes vaults by cron each minute, independently of alarms and messages: those can be lost, and
 * then nothing else would ever continue the transaction. It only wakes the vault, which knows what
 * is due, so it does no harm beside a working alarm.
 */
export async function sweep(env: CoordinatorEnv, nowMs: number): Promise<void> {
  const quiet = await stalledVaults(env.DB, { updatedBeforeMs: nowMs - STALLED_AFTER_MS, limit: MAX_STALLED });
  const turn = await claimVaultsToWake(env.DB, { wokenBeforeMs: nowMs - EVERY_VAULT_MS, nowMs, limit: MAX_IN_TURN });
  // Their message was lost, or they wait for their chain.
  const overdue = { dueBeforeMs: nowMs - STALLED_AFTER_MS, nowMs, limit: MAX_ROWS };
  const deliveries = await claimDue(env.DB, 'deliveries', overdue);
  const scans = await claimDue(env.DB, 'scans', overdue);
  await sendActivity(env, [
    ...deliveries.map((deliveryId) => ({ deliveryId })),
    ...scans.map((scanId) => ({ scanId })),
  ]);
  for (const prune of Object.values(PRUNES)) await prune(env, nowMs);
  const woken = [...new Set([...quiet, ...turn])].flatMap((number) => parseVaultId(number) ?? []);
  for (const some of inGroups(woken, WOKEN_AT_ONCE)) {
    await Promise.all(some.map((vaultId) => wakeVault(env, vaultId)));
  }
  // This comes last, so that the vaults are awake whatever it finds.
  await raiseAlerts(env, nowMs);
}

async function wakeVault(env: CoordinatorEnv, vaultId: VaultId): Promise<void> {
  try {
    await vaultStub(env, vaultId).rearmAlarm();
  } catch (error) {
    if (unreadableText(error) !== null) logUnreadable(error, { vaultId });
    else console.error(JSON.stringify({ event: 'sweep-failed', vaultId, error: errorText(error) }));
  }
}
