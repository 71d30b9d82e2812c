import type { VaultId } from '#domain/id.ts';
import { parseVaultId } from '#domain/id.ts';
import { sendActivity } from '#jobs/activity-queue.ts';
import { isAlertMinute, raiseCosignerAlerts, raiseSettingAlerts, raiseWorkAlerts } from '#jobs/operations/alerts.ts';
import { announceAlerts, announceUnstored } from '#jobs/operations/announce-alerts.ts';
import { callHeartbeat } from '#jobs/operations/heartbeat.ts';
import { probeQueues } from '#jobs/operations/probe-queues.ts';
import { probeRpcNodes } from '#jobs/operations/probe-rpc-nodes.ts';
import { PRUNES, repeated } from '#jobs/prune.ts';
import { STATE_UNREADABLE } from '#domain/operations/alert.ts';
import type { SettingFault } from '#domain/operations/setting-fault.ts';
import type { ActivityMessage } from '#objects/configuration.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { raiseAlert, storeAlert } from '#objects/metrics.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';
import type { WokenVault } from '#objects/vault/views.ts';
import { logUnreadable } from '#store/document.ts';
import { errorText } from '#store/error-text.ts';
import { unreadableText } from '#store/object-schema.ts';
import { inGroups } from '#store/batched-query.ts';
import { storeFundedChains } from '#store/operations/rpc-nodes.ts';
import { storeSweepEnd } from '#store/operations/sweep-runs.ts';
import { claimDue } from '#store/retried-rows.ts';
import { claimStalledVaults } from '#store/transactions.ts';
import { claimVaultsToWake, storeReports } from '#store/vaults.ts';

/** The vault of a record that was due this long ago is woken, whatever its alarm was doing. */
const STALLED_AFTER_MS = 60_000;

/**
 * Every vault is woken at least this often, because the read model does not show what never reached
 * it.
 */
const EVERY_VAULT_MS = 60 * 60 * 1000;

/**
 * The maximum number of each in one run; the others follow a minute later, the ones due for longest
 * first. Together with the statements for D1 they stay below the thousand subrequests of an
 * invocation, and a hundred thousand vaults are all woken within 125 minutes.
 */
const MAX_STALLED = 100;
const MAX_IN_TURN = 800;
/** Rows of D1, which one statement processes. */
const MAX_ROWS = 200;
/** A sleeping vault takes time to wake: a minute is too short to wake all of them in sequence. */
const WOKEN_AT_ONCE = 20;

/** What a run of the sweep has. */
export interface SweepRun {
  readonly nowMs: number;
  /** The settings that are refused. The entry point finds them, because `http/` reads some. */
  readonly settingFaults: readonly SettingFault[];
  /** The fingerprints of the keys in TOKEN_MAC_KEY; empty when the setting is refused. */
  readonly fingerprints: readonly string[];
}

/** Returns `behind` when it left work to the next run. */
type Step = (env: CoordinatorEnv, nowMs: number, run: SweepRun) => Promise<'behind' | void>;

// A claimed row is due again now, and no later round of the same run gets it.
const overdueAt = (nowMs: number) => ({ dueBeforeMs: nowMs - STALLED_AFTER_MS, nowMs, limit: MAX_ROWS });

/** In their order: the vaults are awake, and lost messages sent, whatever the others find. */
const STEPS = {
  'wake-stalled-vaults': async (env, nowMs) => {
    const query = { dueBeforeMs: nowMs - STALLED_AFTER_MS, nowMs, limit: MAX_STALLED };
    await wakeVaults(env, await claimStalledVaults(env.DB, query), nowMs);
  },
  'wake-vaults-in-turn': async (env, nowMs) => {
    const query = { wokenBeforeMs: nowMs - EVERY_VAULT_MS, nowMs, limit: MAX_IN_TURN };
    await wakeVaults(env, await claimVaultsToWake(env.DB, query), nowMs);
  },
  // The message of a due row was lost, or the row waits for its chain.
  'resend-deliveries': (env, nowMs) => resend(env, nowMs, 'deliveries', (deliveryId) => ({ deliveryId })),
  'resend-scans': (env, nowMs) => resend(env, nowMs, 'scans', (scanId) => ({ scanId })),
  ...PRUNES,
  'alert-settings': raiseSettingAlerts,
  'probe-queues': probeQueues,
  'probe-rpc-nodes': probeRpcNodes,
  'alert-work': raiseWorkAlerts,
  'alert-cosigners': raiseCosignerAlerts,
  'record-end': (env, nowMs) => storeSweepEnd(env.DB, nowMs),
} as const satisfies Readonly<Record<string, Step>>;

export type SweepStep = keyof typeof STEPS;

/**
 * Wakes vaults by cron each minute, independently of alarms and messages: those can be lost, and
 * then nothing else would ever continue the transaction. It only wakes the vault, which knows what
 * is due, so it does no harm beside a working alarm.
 *
 * A step that fails stops no other step. It is an alert in each run in which it fails, because a
 * fault that comes and goes would be missed by an alert four times an hour.
 */
export async function sweep(env: CoordinatorEnv, sweepRun: SweepRun): Promise<void> {
  const { nowMs } = sweepRun;
  const failed: string[] = [];
  const behind: string[] = [];
  for (const [step, run] of Object.entries<Step>(STEPS)) {
    try {
      if ((await run(env, nowMs, sweepRun)) === 'behind') behind.push(step);
    } catch (error) {
      failed.push(step);
      console.error(JSON.stringify({ event: 'sweep-step-failed', step, error: errorText(error) }));
    }
  }
  if (failed.length > 0) {
    const alert = {
      code: 'sweep-step-failed',
      detail: `Steps of the sweep that failed: ${failed.join(', ')}.`,
    } as const;
    const isStored = await raiseAlert(env, alert);
    if (!isStored && isAlertMinute(nowMs)) await announceUnstored(env, alert, nowMs);
  }
  if (behind.length > 0)
    await raiseAlert(env, { code: 'sweep-behind', detail: `Steps of the sweep that left work: ${behind.join(', ')}.` });
  await announceAlerts(env, nowMs);
  await callHeartbeat(env);
}

/** Sends the messages of the due rows of a table again. */
function resend(
  env: CoordinatorEnv,
  nowMs: number,
  table: 'deliveries' | 'scans',
  messageOf: (id: string) => ActivityMessage,
): Promise<'behind' | undefined> {
  return repeated(MAX_ROWS, async () => {
    const due = await claimDue(env.DB, table, overdueAt(nowMs));
    await sendActivity(env, due.map(messageOf));
    return due.length;
  });
}

/** Wakes vaults, and stores what each one reports, and the chains on which any has money. */
async function wakeVaults(env: CoordinatorEnv, numbers: readonly number[], nowMs: number): Promise<void> {
  const vaultIds = numbers.flatMap((number) => parseVaultId(number) ?? []);
  const woken = new Map<VaultId, WokenVault>();
  for (const some of inGroups(vaultIds, WOKEN_AT_ONCE)) {
    await Promise.all(some.map((vaultId) => wakeVault(env, vaultId, woken)));
  }
  if (woken.size === 0) return;
  await storeReports(env.DB, woken);
  const funded = new Set([...woken.values()].flatMap(({ fundedChains }) => fundedChains));
  await storeFundedChains(env.DB, [...funded], nowMs);
}

async function wakeVault(env: CoordinatorEnv, vaultId: VaultId, woken: Map<VaultId, WokenVault>): Promise<void> {
  try {
    woken.set(vaultId, await vaultStub(env, vaultId).wake());
  } catch (error) {
    if (unreadableText(error) !== null) {
      const detail = logUnreadable(error, { vaultId });
      await storeAlert(env, { code: STATE_UNREADABLE, detail });
    } else console.error(JSON.stringify({ event: 'sweep-failed', vaultId, error: errorText(error) }));
  }
}
