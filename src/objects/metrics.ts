import type { Alert } from '#domain/operations/alert.ts';
import { addAlert } from '#store/operations/alerts.ts';
import { errorText } from '#store/error-text.ts';
import type { CoordinatorConfig } from '#objects/configuration.ts';

/**
 * The metrics of a running service, without ids, addresses, amounts or names. In the data set
 * `index1` is the kind, the texts are `blob1`, `blob2`, ... and the numbers `double1`, ... in the
 * order below.
 */
export type Metric =
  /** `path` as the API defines it, such as `/transaction/:txId`. */
  | { readonly kind: 'request'; readonly texts: readonly [method: string, path: string, status: string] }
  /** Numbers: how often it was delivered, and milliseconds since it was sent. */
  | {
      readonly kind: 'job';
      readonly texts: readonly [job: string, outcome: 'done' | 'failed'];
      readonly numbers: readonly [attempts: number, ageMs: number];
    }
  /** Each time the alert is logged. */
  | { readonly kind: 'alert'; readonly texts: readonly [code: string] };

/**
 * Counts a metric, if there is a data set. It waits for nothing, and an error of the platform stops
 * nothing.
 */
export function recordMetric({ METRICS }: Pick<CoordinatorConfig, 'METRICS'>, metric: Metric): void {
  if (METRICS === undefined) return;
  const numbers = 'numbers' in metric ? metric.numbers : [];
  try {
    METRICS.writeDataPoint({ indexes: [metric.kind], blobs: [...metric.texts], doubles: [...numbers] });
  } catch (error) {
    console.error(JSON.stringify({ event: 'metric-lost', kind: metric.kind, error: String(error) }));
  }
}

/** Logs an alert and counts it. The detail has no text from outside of the service. */
export function logAlert(env: Pick<CoordinatorConfig, 'METRICS'>, alert: Alert & { readonly vaultId?: number }): void {
  const { newestAtMs: _, ...line } = alert;
  console.error(JSON.stringify({ event: 'alert', ...line }));
  recordMetric(env, { kind: 'alert', texts: [alert.code] });
}

/**
 * Logs the alert of an event, and stores it as `storeAlert` does. Returns whether it is stored.
 */
export async function raiseAlert(
  env: Pick<CoordinatorConfig, 'METRICS' | 'DB'>,
  alert: Alert & { readonly vaultId?: number },
): Promise<boolean> {
  logAlert(env, alert);
  return storeAlert(env, alert);
}

/**
 * Stores the alert of an event, so that it reaches the receiver of alerts. Returns whether it is
 * stored. Never throws: what happened goes on without it.
 */
export async function storeAlert({ DB }: Pick<CoordinatorConfig, 'DB'>, alert: Alert): Promise<boolean> {
  try {
    await addAlert(DB, alert, Date.now());
    return true;
  } catch (error) {
    console.error(JSON.stringify({ event: 'alert-not-stored', code: alert.code, error: errorText(error) }));
    return false;
  }
}
