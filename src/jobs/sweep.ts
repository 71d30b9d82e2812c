import { parseVaultId } from '#domain/id.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import { stuck } from '#store/transactions.ts';

/** A watched transaction that has not moved for this long is looked at, whatever its vault's alarm was doing. */
const QUIET_MS = 60_000;

/** Vaults woken per run; the rest follow a minute later, oldest first. */
const PER_RUN = 500;

/**
 * The second engine, run by cron each minute: alarms and messages can be lost, and then nothing else would ever move the
 * transaction. It only wakes the vault, which knows what is due, so it is harmless beside a healthy one.
 */
export async function sweep(env: CoordinatorEnv, nowMs: number): Promise<void> {
  const quiet = await stuck(env.DB, { updatedBeforeMs: nowMs - QUIET_MS, limit: PER_RUN });
  const vaultIds = new Set(quiet.map((transaction) => transaction.vaultId));
  for (const text of vaultIds) {
    const vaultId = parseVaultId(text);
    if (vaultId === null) continue;
    try {
      await env.VAULT.getByName(`vault:${vaultId}`).nudge();
    } catch (error) {
      console.error(JSON.stringify({ event: 'sweep-failed', vaultId, error: String(error) }));
    }
  }
}
