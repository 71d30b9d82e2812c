import { alertsFor } from '#domain/alert.ts';
import { cosignersOf } from '#cosigner-client/client.ts';
import { statesOfCosigners } from '#cosigner-client/pair-states.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import { recordMetric } from '#objects/metrics.ts';
import { readHealth } from '#store/health.ts';

const EVERY_MS = 15 * 60_000;
const MINUTE_MS = 60_000;

/** Logs each alert four times an hour: often enough to be noticed, and rarely enough to be read. */
export async function raiseAlerts(env: CoordinatorEnv, nowMs: number): Promise<void> {
  if (nowMs % EVERY_MS >= MINUTE_MS) return;
  // The transactions that have not changed for the longest time show whether any is stuck.
  const condition = await readHealth(env.DB, { limit: 20 });
  for (const { code, detail } of alertsFor(condition, await statesOfCosigners(cosignersOf(env)), nowMs)) {
    console.error(JSON.stringify({ event: 'alert', code, detail }));
    recordMetric(env, { kind: 'alert', texts: [code] });
  }
}
