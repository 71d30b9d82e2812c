import * as z from 'zod';
import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import type { StreamedEvents, Wait } from '#http/edge/event-stream.ts';
import { event, eventStream, lastEventId } from '#http/edge/event-stream.ts';
import { PENDING_STATES } from '#http/user/pending.ts';
import { pendingVaults } from '#store/vaults.ts';

/**
 * The interval of reads. A read is one statement over the user's vaults in the read model. A vault
 * that reported to its members would call every one of them at each step of a payment.
 */
const READ_MS = 5_000;
const POSITION = /^[0-9a-f]{64}$/;

const eventsQuery = z.strictObject({
  after: z
    .string()
    .regex(POSITION, 'Must be a position of the list.')
    .optional()
    .meta({ description: 'The position of the list that the caller has. `Last-Event-ID` precedes it' }),
});

/**
 * GET /user/me/events: streams Server-Sent Events `pending` to the dashboard, without data, when
 * the answer of `GET /user/me/pending` may have changed, in any vault of the caller. The id of an
 * event is the position of that list. The stream continues after `Last-Event-ID`, or after the
 * position in the query, and without both it starts now. It ends after ten minutes, or when the
 * session ends.
 *
 * API clients poll instead.
 */
export const ownEvents = route({
  method: 'GET',
  path: '/user/me/events',
  access: 'stream',
  sessionOnly: true,
  summary: 'Stream that something may wait for your decision',
  query: eventsQuery,
  answer: { status: 200, schema: null },
  refuses: [],
  handle: openStream,
});

async function openStream(context: HttpContext, { query }: Input<{ query: typeof eventsQuery }>): Promise<Response> {
  const lastId = lastEventId(context, POSITION);
  if (!lastId.ok) return lastId.refusal;
  const position = async () => {
    const { userId } = actorOf(context);
    return (await pendingVaults(context.env.DB, userId, PENDING_STATES)).position;
  };
  const id = lastId.value ?? query.after ?? (await position());
  return eventStream(context, {
    first: { id, text: '' },
    next: (wait) => nextChange(wait, position),
  });
}

/** Reads at intervals until something changed, or the time is over, or the reader disconnected. */
async function nextChange({ after, waitMs, signal }: Wait, position: () => Promise<string>): Promise<StreamedEvents> {
  for (let waitedMs = 0; ; waitedMs += READ_MS) {
    const id = await position();
    if (id !== after) return { id, text: event('pending', {}) };
    if (waitedMs >= waitMs) return { id, text: '' };
    await scheduler.wait(Math.min(READ_MS, waitMs - waitedMs), { signal });
  }
}
