import * as z from 'zod';
import { afterTry, isReadable, MAX_HINTS, recordHints } from '#jobs/record-hints.ts';
import { monitorOf } from '#monitors/endpoint.ts';
import type { Hint, Report } from '#monitors/monitor.ts';
import { EMPTY_REPORT } from '#monitors/report.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import { inGroups } from '#store/batched-query.ts';
import type { StoredDelivery } from '#store/deliveries.ts';
import { insertDelivery, openDelivery, updateDelivery } from '#store/deliveries.ts';

/**
 * Processes one delivery: reads each hash from its chain, and reports the result to every vault
 * that it concerns. The delivery itself is only a hint: a forged one credits nothing.
 */
export async function ingest(env: CoordinatorEnv, deliveryId: string): Promise<void> {
  const delivery = await openDelivery(env.DB, deliveryId);
  if (delivery === null) return;
  const nowMs = Date.now();
  const { endpointId } = delivery;
  const report = reportOf(delivery);
  if (report.alarm !== null) {
    console.error(JSON.stringify({ event: 'monitor-notice', endpointId, detail: report.alarm }));
  }
  // The endpoint counts what it received, once, and not the parts.
  const isCounted = delivery.provider !== 'part' && delivery.tries === 0;
  const counted = isCounted ? (report.unread ?? unknownNetwork(env, report.hints)) : undefined;
  if (report.hints.length > MAX_HINTS) {
    await split(env, delivery, { hints: report.hints, counted });
    return;
  }
  const before = { ...delivery, sinceMs: delivery.receivedAtMs };
  const tried = afterTry(await recordHints(env, report.hints, before), before, nowMs);
  const next = report.hints.length === 0 && report.unread !== null ? { ...tried, outcome: '{"unread":1}' } : tried;
  if (next.state === 'failed') console.error(JSON.stringify({ event: 'delivery-failed', endpointId, deliveryId }));
  await update(env, delivery, next, counted);
  // The sweep sends the message again if it is lost.
  if (next.state === 'open') {
    await env.ACTIVITY_QUEUE.send({ deliveryId }, { delaySeconds: Math.ceil((next.dueAtMs - nowMs) / 1000) });
  }
}

/**
 * Splits a long delivery into several short ones, each processed and retried on its own. An
 * interrupted split is repeated.
 */
async function split(
  env: CoordinatorEnv,
  delivery: StoredDelivery,
  { hints, counted }: { readonly hints: readonly Hint[]; readonly counted: string | null | undefined },
): Promise<void> {
  const { id, endpointId, tries } = delivery;
  const nowMs = Date.now();
  const groups = inGroups(hints, MAX_HINTS);
  for (const [i, some] of groups.entries()) {
    const part = { id: `${id}.${i * MAX_HINTS}`, provider: 'part', endpointId, receivedAtMs: nowMs };
    const isOpen = await insertDelivery(env.DB, { ...part, body: JSON.stringify(some) });
    if (isOpen) await env.ACTIVITY_QUEUE.send({ deliveryId: part.id });
  }
  const outcome = JSON.stringify({ parts: groups.length });
  await update(env, delivery, { state: 'done', tries: tries + 1, dueAtMs: nowMs, outcome }, counted);
}

/** Stores the outcome of a try. Logs a delivery that was not understood, once, without its body. */
async function update(
  env: CoordinatorEnv,
  { id, endpointId, provider }: StoredDelivery,
  tried: Parameters<typeof updateDelivery>[2],
  unread: string | null | undefined,
): Promise<void> {
  if (!(await updateDelivery(env.DB, id, tried, unread))) return;
  console.error(JSON.stringify({ event: 'monitor-unread', endpointId, provider, kind: unread }));
}

/**
 * Returns the name of the network when this deployment cannot read any network that a delivery
 * names; null otherwise. Such a monitor works and never has an effect.
 */
function unknownNetwork(env: CoordinatorEnv, hints: readonly Hint[]): string | null {
  const named = [...new Set(hints.map(({ chain }) => chain))];
  const isUnknown = named.length > 0 && named.every((chain) => !isReadable(env, chain));
  return isUnknown ? `unknown-chain ${named[0]}` : null;
}

/** Returns the hints of a delivery. */
function reportOf({ provider, body }: StoredDelivery): Report {
  const said = parsedJson(body);
  if (provider === 'part') return { hints: partHints.parse(said), alarm: null, unread: null };
  return monitorOf(provider)?.read(said) ?? { ...EMPTY_REPORT, alarm: 'there is no such monitor' };
}

const partHints = z.array(z.strictObject({ chain: z.string(), hash: z.string() }));

/**
 * Parses JSON, or returns null. The sender's signature does not prove that the text is well-formed.
 */
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
