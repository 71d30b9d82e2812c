import { alertsOfCosigners, alertsOfWork } from '#domain/operations/alert.ts';
import { cosignersOf } from '#cosigner-client/client.ts';
import { statesOfCosigners } from '#cosigner-client/pair-states.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { logAlert } from '#objects/metrics.ts';
import { readHealth } from '#store/operations/health.ts';

const EVERY_MS = 15 * 60_000;
const MINUTE_MS = 60_000;

/** Alerts are logged four times an hour: often enough to be noticed, seldom enough to be read. */
const isAlertMinute = (nowMs: number) => nowMs % EVERY_MS < MINUTE_MS;

/** Logs the alerts of pending work, in the first minute of each quarter of an hour. */
export async function raiseWorkAlerts(env: CoordinatorEnv, nowMs: number): Promise<void> {
  if (!isAlertMinute(nowMs)) return;
  // The transactions that have not changed for the longest time show whether any is stuck.
  const condition = await readHealth(env.DB, { limit: 20, nowMs });
  for (const alert of alertsOfWork(condition, nowMs)) logAlert(env, alert);
}

/** Logs the alerts of co-signers, in the first minute of each quarter of an hour. */
export async function raiseCosignerAlerts(env: CoordinatorEnv, nowMs: number): Promise<void> {
  if (!isAlertMinute(nowMs)) return;
  for (const alert of alertsOfCosigners(await statesOfCosigners(cosignersOf(env)))) logAlert(env, alert);
}
