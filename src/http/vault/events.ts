import { chainsFrom } from '#chains/registry.ts';
import type { TokenId, VaultId } from '#domain/id.ts';
import type { Actor } from '#domain/transaction/transaction.ts';
import { sessionObject } from '#http/edge/authenticate.ts';
import type { HttpContext } from '#http/edge/context.ts';
import { actorOf, route } from '#http/edge/context.ts';
import { callObject } from '#http/edge/object-call.ts';
import { problem, refusalProblem } from '#http/encode/problem.ts';
import { invalidRequest } from '#http/edge/request-check.ts';
import { recordOf } from '#http/transaction/transaction-path.ts';
import { balanceRecords } from '#http/encode/balance.ts';
import { vaultIdOf } from '#http/vault/vault-path.ts';
import { MAX_STREAMS, STREAM_MS } from '#objects/person/stream-slots.ts';
import { personStub } from '#objects/person/stub.ts';
import type { VaultChanges } from '#objects/vault/commands/feed.ts';
import { vaultStub } from '#objects/vault/stub.ts';
import { errorText } from '#store/error-text.ts';

/**
 * The interval at which a reader receives at least a comment line. The stream then checks again
 * that the session is open and that the user is a member.
 */
const BEAT_MS = 20_000;
/** The interval of comment lines in between: writing shows that a reader has disconnected. */
const PULSE_MS = 2_000;
const PULSE = new TextEncoder().encode(':\n\n');
/** The delay before a browser reconnects. */
const RETRY_MS = 2_000;
/**
 * The maximum number of lines of the history that a stream replays. A reader that was away for
 * longer loads its page again, which costs less.
 */
const MAX_REPLAY = 200;
/** The delay after a refusal because of too many streams. */
const REFUSED_SECONDS = 60;

/**
 * GET /vault/{vaultId}/events: streams Server-Sent Events `transaction` and `balance` to the
 * dashboard, each with the whole current record. The id of an event is a position in the history of
 * the vault. With `Last-Event-ID` the stream resumes after that position; without it the stream
 * starts at the current one. A position that is too old gives the event `reload`, and the stream
 * starts at the current one. The stream ends after ten minutes, or when the session or the
 * membership ends.
 *
 * Refuses, in order: the credential, `session-required` (API clients poll), `invalid-request`,
 * `forbidden`, `quota-exceeded` for a session or a person with too many open streams.
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

async function openStream(context: HttpContext): Promise<Response> {
  const vaultId = vaultIdOf(context);
  if (vaultId instanceof Response) return vaultId;
  const lastId = context.req.header('last-event-id') ?? '';
  if (!/^[0-9]{0,15}$/.test(lastId)) {
    return invalidRequest(context, [
      { pointer: 'Last-Event-ID', code: 'invalid', detail: 'Must be the id of an event.' },
    ]);
  }
  const actor = actorOf(context);
  const begun = await callObject(
    () => vaultStub(context.env, vaultId),
    (vault) => vault.query(actor, { type: 'beginFeed' }),
  );
  if (!begun.ok) return refusalProblem(context, begun.refusal);
  const { user, tokenId: sessionId, sessionHash } = context.get('caller');
  const streamId = crypto.randomUUID();
  const person = () => personStub(context.env, user.id);
  if (!(await callObject(person, (object) => object.openStream({ streamId, sessionId })))) {
    return problem(context, 'quota-exceeded', {
      detail: `At most ${MAX_STREAMS.session} streams of a session, and ${MAX_STREAMS.person} of a person, are open.`,
      headers: { 'retry-after': String(REFUSED_SECONDS) },
    });
  }
  const reached = lastId === '' ? begun.value : Math.min(Number.parseInt(lastId, 10), begun.value);
  const isOld = begun.value - reached > MAX_REPLAY;
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const reader = { context, vaultId, actor, sessionId, sessionHash: sessionHash ?? '' };
  const position = { after: isOld ? begun.value : reached, isOld };
  const stream = async () => {
    await streamEvents(reader, writable, position);
    await closeStream(context, streamId);
  };
  context.executionCtx.waitUntil(stream());
  const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store, no-transform' };
  return context.body(readable, 200, headers);
}

interface Reader {
  readonly context: HttpContext;
  readonly vaultId: VaultId;
  readonly actor: Actor;
  readonly sessionId: TokenId;
  readonly sessionHash: string;
}

/** If this fails, the slot of the stream becomes free some time after the end of the stream. */
async function closeStream(context: HttpContext, streamId: string): Promise<void> {
  const { user } = context.get('caller');
  try {
    await personStub(context.env, user.id).closeStream(streamId);
  } catch (error) {
    console.warn(JSON.stringify({ event: 'stream-not-closed', error: errorText(error) }));
  }
}

/**
 * Streams until the reader disconnects, or the time of the stream is over. Any fault also ends the
 * stream, and the browser reconnects.
 */
async function streamEvents(
  reader: Reader,
  writable: WritableStream<Uint8Array>,
  position: { readonly after: number; readonly isOld: boolean },
): Promise<void> {
  const writer = writable.getWriter();
  const encoder = new TextEncoder();
  const endMs = Date.now() + STREAM_MS;
  let { after } = position;
  const disconnected = new Promise<null>((resolve) => {
    reader.context.req.raw.signal.addEventListener('abort', () => resolve(null));
    writer.closed.then(
      () => resolve(null),
      () => resolve(null),
    );
  });
  const pulse = setInterval(() => void writer.write(PULSE).catch(() => {}), PULSE_MS);
  try {
    const reload = position.isOld ? 'event: reload\ndata: {}\n' : '';
    await writer.write(encoder.encode(`${reload}retry: ${RETRY_MS}\nid: ${after}\n\n`));
    while (Date.now() < endMs) {
      const waitMs = Math.min(BEAT_MS, endMs - Date.now());
      const changes = await Promise.race([changesFor(reader, { after, waitMs }), disconnected]);
      if (changes === null) break;
      await writer.write(encoder.encode(await eventsOf(reader, changes, after)));
      after = changes.seq;
    }
  } catch {
    // The response has already begun, so no error can be sent.
  }
  clearInterval(pulse);
  await writer.close().catch(() => {});
}

/** Returns the changes after a position; null when the reader has lost access. */
async function changesFor(
  reader: Reader,
  position: { readonly after: number; readonly waitMs: number },
): Promise<VaultChanges | null> {
  const { context, vaultId, actor, sessionId, sessionHash } = reader;
  const changes = await vaultStub(context.env, vaultId).query(actor, { type: 'nextChanges', ...position });
  // The session is checked after the wait, so a session that ended meanwhile receives no change.
  const isOpen = await sessionObject(context, sessionId).isOpen(sessionHash);
  return isOpen && changes.ok ? changes.value : null;
}

/**
 * Returns the events of the changes. Only the last event carries the id, so a reader that loses the
 * connection in between receives all of them again.
 */
async function eventsOf({ context }: Reader, changes: VaultChanges, after: number): Promise<string> {
  if (changes.seq === after) return ': nothing new\n\n';
  const balances = await balanceRecords(context.env.DB, changes, chainsFrom(context.env));
  const events = [
    ...changes.transactions.map((view) => event('transaction', recordOf(context, view))),
    ...balances.map((record) => event('balance', record)),
  ];
  return `${events.join('\n\n')}${events.length === 0 ? '' : '\n'}id: ${changes.seq}\n\n`;
}

/** Returns one event. `JSON.stringify` writes no line breaks, so the data fits on one line. */
function event(name: string, record: unknown): string {
  return `event: ${name}\ndata: ${JSON.stringify(record)}`;
}
