import { chainsFrom } from '#chains/families/registry.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import type { StreamedEvents } from '#http/edge/event-stream.ts';
import { event, eventStream, lastEventId } from '#http/edge/event-stream.ts';
import { callObject } from '#http/edge/object-call.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import { recordOf } from '#http/transaction/transaction-path.ts';
import { balanceRecords } from '#http/encode/balance.ts';
import type { VaultChanges } from '#objects/vault/commands/feed.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';

/**
 * The maximum number of lines of the history that a stream replays. A reader that was away for
 * longer loads its page again, which costs less.
 */
const MAX_REPLAY = 200;

/**
 * GET /vault/{vaultId}/events: streams Server-Sent Events `transaction` and `balance` to the
 * dashboard, each with the whole current record. The id of an event is a position in the history of
 * the vault. With `Last-Event-ID` the stream resumes after that position; without it the stream
 * starts at the current one. A position that is too old gives the event `reload`, and the stream
 * starts at the current one. The stream ends after ten minutes, or when the session or the
 * membership ends.
 *
 * API clients poll instead.
 */
export const vaultEvents = route({
  method: 'GET',
  path: '/vault/:vaultId/events',
  access: 'stream',
  sessionOnly: true,
  summary: 'Stream the changes of a vault',
  answer: { status: 200, schema: null },
  refuses: ['forbidden'],
  handle: openStream,
});

async function openStream(
  context: HttpContext,
  { params: { vaultId } }: Input<{ params: 'vaultId' }>,
): Promise<Response> {
  const lastId = lastEventId(context, /^[0-9]{1,15}$/);
  if (!lastId.ok) return lastId.refusal;
  const actor = actorOf(context);
  const begun = await callObject(
    () => vaultStub(context.env, vaultId),
    (vault) => vault.query(actor, { type: 'beginFeed' }),
  );
  if (!begun.ok) return refusalProblem(context, begun.refusal);
  const reached = lastId.value === null ? begun.value : Math.min(Number.parseInt(lastId.value, 10), begun.value);
  const isOld = begun.value - reached > MAX_REPLAY;
  return eventStream(context, {
    first: { text: isOld ? event('reload', {}) : '', id: String(isOld ? begun.value : reached) },
    next: async ({ after, waitMs }) => {
      const position = { after: Number.parseInt(after, 10), waitMs };
      const changes = await vaultStub(context.env, vaultId).query(actor, { type: 'nextChanges', ...position });
      if (!changes.ok) return null;
      return changes.value.seq === position.after ? { text: '', id: after } : eventsOf(context, changes.value);
    },
  });
}

async function eventsOf(context: HttpContext, changes: VaultChanges): Promise<StreamedEvents> {
  const balances = await balanceRecords(context.env.DB, changes, chainsFrom(context.env));
  const events = [
    ...changes.transactions.map((view) => event('transaction', recordOf(context, view))),
    ...balances.map((record) => event('balance', record)),
  ];
  return { text: events.join('\n'), id: String(changes.seq) };
}
