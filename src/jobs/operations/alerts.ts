import type { Alert, AlertCode } from '#domain/operations/alert.ts';
import { ALERT_CODES_OF } from '#domain/operations/alert.ts';
import { alertsOfWork } from '#domain/operations/service-health.ts';
import { alertsOfDatabase, ownsDatabase } from '#domain/operations/database-owner.ts';
import type { CosignerState } from '#domain/operations/cosigner.ts';
import { alertsOfCosigners, withFaultyShares } from '#domain/operations/cosigner.ts';
import type { SettingFault } from '#domain/operations/setting-fault.ts';
import { alertsOfSettings } from '#domain/operations/setting-fault.ts';
import { cosignersOf } from '#cosigner-client/client.ts';
import { statesOfCosigners } from '#cosigner-client/pair-states.ts';
import { hasEndpoints } from '#monitors/endpoint.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { logAlert } from '#objects/metrics.ts';
import { errorText } from '#store/error-text.ts';
import { resolveQuietAlerts, settleAlerts } from '#store/operations/alerts.ts';
import { readDatabaseOwner, storeDatabaseOwner } from '#store/operations/database-owner.ts';
import { readHealth } from '#store/operations/health.ts';
import { keysToTest } from '#store/operations/key-exports.ts';
import type { ShareTests } from '#store/operations/share-tests.ts';
import { readShareTests, storeShareTests } from '#store/operations/share-tests.ts';

const EVERY_MS = 15 * 60_000;
const MINUTE_MS = 60_000;

/** Checks run four times an hour: often enough to be noticed, seldom enough to be read. */
export const isAlertMinute = (nowMs: number) => nowMs % EVERY_MS < MINUTE_MS;

/** What one check has found. */
export interface Finding {
  /** The codes that it checks. An open alert of one of them that it does not find is over. */
  readonly codes: readonly AlertCode[];
  readonly found: readonly Alert[];
}

/**
 * Logs the alerts that a check has found and stores them, and resolves the others of the check.
 * They are logged before: without D1 the log is all that has them.
 */
export async function settle(env: CoordinatorEnv, finding: Finding, nowMs: number): Promise<void> {
  for (const alert of finding.found) logAlert(env, alert);
  await settleAlerts(env.DB, finding, nowMs);
}

/**
 * Raises the alerts of refused settings and of a database of another deployment, in the first
 * minute of each quarter of an hour.
 */
export async function raiseSettingAlerts(
  env: CoordinatorEnv,
  nowMs: number,
  {
    settingFaults,
    fingerprints,
  }: { readonly settingFaults: readonly SettingFault[]; readonly fingerprints: readonly string[] },
): Promise<void> {
  if (!isAlertMinute(nowMs)) return;
  const found = [...alertsOfSettings(settingFaults), ...(await alertsOfOwner(env, fingerprints))];
  await settle(env, { codes: ALERT_CODES_OF.settings, found }, nowMs);
}

/**
 * Compares the deployment with the one that wrote D1. A new key is written beside an old one, so
 * that the old one can be removed later. Without D1 the refused settings have to do.
 */
async function alertsOfOwner(env: CoordinatorEnv, own: readonly string[]): Promise<readonly Alert[]> {
  try {
    const written = await readDatabaseOwner(env.DB);
    const isCurrent = written !== null && written.join() === own.join();
    if (own.length > 0 && !isCurrent && ownsDatabase(written, own)) await storeDatabaseOwner(env.DB, own);
    return alertsOfDatabase(written, own);
  } catch (error) {
    console.error(JSON.stringify({ event: 'database-owner-unread', error: errorText(error) }));
    return [];
  }
}

/**
 * Raises the alerts of pending work, in the first minute of each quarter of an hour. Resolves those
 * of events that have not happened again.
 */
export async function raiseWorkAlerts(env: CoordinatorEnv, nowMs: number): Promise<void> {
  if (!isAlertMinute(nowMs)) return;
  await resolveQuietAlerts(env.DB, nowMs);
  // The transactions that have not changed for the longest time show whether any is stuck.
  const hasMonitors = hasEndpoints(env.WEBHOOK_ENDPOINTS);
  const condition = await readHealth(env.DB, { limit: 20, nowMs, hasMonitors });
  // This sweep runs, whatever happened to the ones before.
  const found = alertsOfWork({ ...condition, lastSweepAtMs: nowMs }, nowMs);
  await settle(env, { codes: ALERT_CODES_OF.work, found }, nowMs);
}

/** Raises the alerts of co-signers, in the first minute of each quarter of an hour. */
export async function raiseCosignerAlerts(env: CoordinatorEnv, nowMs: number): Promise<void> {
  if (!isAlertMinute(nowMs)) return;
  const states = await statesOfCosigners(cosignersOf(env), await testedKeys(env, nowMs));
  const found = alertsOfCosigners(withFaultyShares(states, await faultyShares(env, states, nowMs)));
  await settle(env, { codes: ALERT_CODES_OF.cosigners, found }, nowMs);
}

/** Stores the tests, and returns the faulty shares. Without D1 those of this test have to do. */
async function faultyShares(
  env: CoordinatorEnv,
  states: readonly CosignerState[],
  nowMs: number,
): Promise<ShareTests['faulty']> {
  try {
    await storeShareTests(env.DB, states, nowMs);
    return (await readShareTests(env.DB)).faulty;
  } catch (error) {
    console.error(JSON.stringify({ event: 'share-tests-not-stored', error: errorText(error) }));
    return [];
  }
}

/** Returns some keys. Without D1 there are none, and the co-signers are tested nevertheless. */
async function testedKeys(env: CoordinatorEnv, nowMs: number): Promise<readonly string[]> {
  try {
    return await keysToTest(env.DB, nowMs);
  } catch (error) {
    console.error(JSON.stringify({ event: 'keys-not-tested', error: errorText(error) }));
    return [];
  }
}
