import * as z from 'zod';
import type { HintLane } from '#domain/activity/hint-budget.ts';
import { chargeOf, MAX_HINTS } from '#domain/activity/hint-budget.ts';
import { sendDeliveries } from '#jobs/activity-queue.ts';
import type { HintOutcome } from '#jobs/record-hints.ts';
import { afterTry, isReadable, needsRetry, recordHints } from '#jobs/record-hints.ts';
import { readDelivery } from '#monitors/endpoint.ts';
import type { Hint, Report } from '#monitors/monitor.ts';
import { EMPTY_REPORT } from '#monitors/report.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { inGroups } from '#store/batched-query.ts';
import type { StoredDelivery } from '#store/deliveries.ts';
import { openDelivery, splitDelivery, updateDelivery } from '#store/deliveries.ts';

/**
 * Processes one delivery: reads each hash from its chain, and reports the result to every vault
 * that it concerns. The delivery itself is only a hint: a forged one credits nothing.
 *
 * A message for a time that the row no longer names reads nothing, so one that arrives twice
 * exceeds no budget. The times are compared with each other and not with a clock, because the
 * clocks of machines differ. A message without a time is that of a claimed row.
 */
export async function ingest(
  env: CoordinatorEnv,
  { deliveryId, dueAtMs: sentForMs }: { readonly deliveryId: string; readonly dueAtMs?: number },
): Promise<void> {
  const delivery = await openDelivery(env.DB, deliveryId);
  const nowMs = Date.now();
  if (delivery === null || (sentForMs !== undefined && delivery.dueAtMs !== sentForMs)) return;
  const { endpointId } = delivery;
  const report = reportOf(delivery);
  if (report.alarm !== null) {
    console.error(JSON.stringify({ event: 'monitor-notice', endpointId, detail: report.alarm }));
  }
  // The endpoint counts what it received, once, and neither parts nor reopened deliveries.
  const isFirst = !isPart(delivery) && delivery.tries === 0;
  const unread = isFirst ? (report.unread ?? unknownNetwork(env, report.hints)) : undefined;
  if (report.hints.length > MAX_HINTS) {
    const groups = inGroups(report.hints, MAX_HINTS);
    const { parts, isCounted } = await splitDelivery(env.DB, delivery, { groups, nowMs, unread });
    if (isCounted) logUnread(delivery, unread);
    await sendDeliveries(env, parts, nowMs);
    return;
  }
  const before = { ...delivery, sinceMs: delivery.receivedAtMs };
  const outcomes = await recordHints(env, report.hints, before);
  const tried = afterTry(outcomes, before, nowMs);
  const next = report.hints.length === 0 && report.unread !== null ? { ...tried, outcome: '{"unread":1}' } : tried;
  if (next.state === 'failed') console.error(JSON.stringify({ event: 'delivery-failed', endpointId, deliveryId }));
  const retry = next.state === 'open' ? { ...retryOf(delivery, report.hints, outcomes), nowMs } : null;
  const { dueAtMs, isCounted } = await updateDelivery(env.DB, deliveryId, { ...next, unread, retry });
  if (isCounted) logUnread(delivery, unread);
  if (next.state === 'open') await sendDeliveries(env, [{ id: deliveryId, dueAtMs }], nowMs);
}

/** Returns what the next try of a delivery takes of the budget of its endpoint. */
function retryOf(delivery: StoredDelivery, hints: readonly Hint[], outcomes: readonly HintOutcome[]) {
  if (delivery.provider === 'part') {
    const left = hints.filter((_, i) => needsRetry(outcomes[i] ?? 'away'));
    return { charge: chargeOf('bulk', left.length), left };
  }
  if (isPart(delivery)) return { charge: chargeOf('bulk', hints.length), left: null };
  const isMissed = outcomes.some((outcome) => outcome === 'missing' || outcome === 'away');
  const lane: HintLane = isMissed ? 'missed' : 'known';
  return { charge: chargeOf(lane, hints.length), left: null };
}

/** Reports whether a delivery is a part of a long one, or was reopened. */
function isPart({ parts }: StoredDelivery): boolean {
  return parts === 1;
}

/** Logs a delivery that was not understood, without its body. */
function logUnread({ endpointId, provider }: StoredDelivery, unread: string | null | undefined): void {
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
  if (provider !== 'part') return readDelivery(provider, body);
  return { ...EMPTY_REPORT, hints: partHints.parse(JSON.parse(body)) };
}

const partHints = z.array(z.strictObject({ chain: z.string(), hash: z.string() }));
