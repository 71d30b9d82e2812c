import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { raiseAlert } from '#objects/metrics.ts';

/** An RPC node that does not trace is an alert once in this time, and not for each transaction. */
const EVERY_MS = 60 * 60_000;

/** When the alert was last raised in this isolate, by chain and host. */
const alerts = new WeakMap<Pick<CoordinatorEnv, 'METRICS' | 'DB'>, Map<string, number>>();

/**
 * Raises the alert that RPC nodes did not show what contracts did: their payments are missing in
 * the record, and the comparison of the balance finds them later.
 *
 * @param hosts of the RPC nodes; none when nothing is missing
 */
export async function raiseUntraced(
  env: Pick<CoordinatorEnv, 'METRICS' | 'DB'>,
  { chain, hosts = [] }: { readonly chain: string; readonly hosts?: readonly string[] | undefined },
  nowMs: number,
): Promise<void> {
  const raisedAtMs = alerts.get(env) ?? new Map<string, number>();
  alerts.set(env, raisedAtMs);
  for (const host of new Set(hosts)) {
    const name = `${chain} ${host}`;
    if (nowMs - (raisedAtMs.get(name) ?? 0) < EVERY_MS) continue;
    raisedAtMs.set(name, nowMs);
    await raiseAlert(env, {
      code: 'trace-unavailable',
      subject: `${chain} ${host}`,
      detail: `RPC node ${host} of ${chain} shows no readable trace.`,
    });
  }
}
