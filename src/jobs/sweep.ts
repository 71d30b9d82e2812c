import type { VaultId } from '#domain/id.ts';
import { parseVaultId } from '#domain/id.ts';
import { raiseAlerts } from '#jobs/alerts.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import { vaultStub } from '#objects/vault/stub.ts';
import { errorText } from '#store/error-text.ts';
import { pruneDeliveries, claimDueDeliveries } from '#store/deliveries.ts';
import { SESSION_SECONDS } from '#domain/access/session.ts';
import { pruneSessions } from '#store/sessions.ts';
import { pruneValuations } from '#store/valuations.ts';
import { stalledVaults } from '#store/transactions.ts';
import { claimVaultsToWake, vaultsWithoutOrigins } from '#store/vaults.ts';

/** A watched transaction that has not moved for this long is looked at, whatever its vault's alarm was doing. */
const STALLED_AFTER_MS = 60_000;

/** Every vault is woken this often at least: what never reached the read model is not seen in it either. */
const EVERY_VAULT_MS = 60 * 60 * 1000;

/** Deliveries are kept this long after they are dealt with, for whoever asks what a monitor has said. */
const DELIVERY_RETENTION_MS = 30 * 24 * 60 * 60 * 1000;

/** What tokens say of themselves, and what they were worth last, is asked again after this. */
const VALUATION_RETENTION_MS = 60 * 24 * 60 * 60 * 1000;

/**
 * Of each in one run; the rest follow a minute later, the longest-quiet first. Together with the statements for D1 they stay below the thousand
 * others that an invocation may ask, and a hundred thousand vaults have all had their turn within 125 minutes.
 */
const MAX_STALLED = 100;
const MAX_IN_TURN = 800;
/** Rows of D1, which are dealt with in one statement. */
const MAX_ROWS = 200;
/** What a queue takes in one call. */
const MAX_MESSAGES = 100;
/** A vault that sleeps takes its time to wake: a minute is too short for one after the other. */
const WOKEN_AT_ONCE = 20;

/**
 * The second engine, run by cron each minute: alarms and messages can be lost, and then nothing else would ever move the
 * transaction. It only wakes the vault, which knows what is due, so it is harmless beside a healthy one.
 */
export async function sweep(env: CoordinatorEnv, nowMs: number): Promise<void> {
  const quiet = await stalledVaults(env.DB, { updatedBeforeMs: nowMs - STALLED_AFTER_MS, limit: MAX_STALLED });
  const turn = await claimVaultsToWake(env.DB, { wokenBeforeMs: nowMs - EVERY_VAULT_MS, nowMs, limit: MAX_IN_TURN });
  // Their message was lost, or they wait for their chain.
  const lost = await claimDueDeliveries(env.DB, { dueBeforeMs: nowMs - STALLED_AFTER_MS, nowMs, limit: MAX_ROWS });
  for (const some of inGroups(lost, MAX_MESSAGES)) {
    await env.ACTIVITY_QUEUE.sendBatch(some.map((deliveryId) => ({ body: { deliveryId } })));
  }
  await pruneDeliveries(env.DB, { receivedBeforeMs: nowMs - DELIVERY_RETENTION_MS, limit: MAX_ROWS });
  await pruneSessions(env.DB, nowMs - SESSION_SECONDS * 1000);
  await pruneValuations(env.DB, { requestedBeforeMs: nowMs - VALUATION_RETENTION_MS, limit: MAX_ROWS });
  const woken = [...new Set([...quiet, ...turn])].flatMap((number) => parseVaultId(number) ?? []);
  const old = new Set(await vaultsWithoutOrigins(env.DB, nowMs));
  for (const some of inGroups(woken, WOKEN_AT_ONCE)) {
    await Promise.all(some.map((vaultId) => wakeVault(env, vaultId, old.has(vaultId))));
  }
  // Last: whatever it finds, the vaults are awake.
  await raiseAlerts(env, nowMs);
}

async function wakeVault(env: CoordinatorEnv, vaultId: VaultId, isEntryOld: boolean): Promise<void> {
  try {
    await vaultStub(env, vaultId).rearmAlarm(isEntryOld);
  } catch (error) {
    console.error(JSON.stringify({ event: 'sweep-failed', vaultId, error: errorText(error) }));
  }
}

function inGroups<T>(all: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));
}
