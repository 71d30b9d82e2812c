import * as z from 'zod';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import type { VaultId } from '#domain/id.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import { entryRecord, historyEntrySchema } from '#http/encode/history.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import { transactionSchema } from '#http/encode/transaction-schema.ts';
import { callObject } from '#http/edge/object-call.ts';
import { cursorText, DEFAULT_PAGE, PageTexts, recordLimit } from '#http/edge/page.ts';
import { preferredWaitSeconds } from '#http/edge/prefer.ts';
import { invalidRequest } from '#http/edge/request-check.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { listedRecord } from '#http/transaction/transaction-path.ts';
import type { ChangePage } from '#objects/vault/commands/feed.ts';
import { listedCodec } from '#objects/vault/documents/listed-document.ts';
import { historyCodec } from '#objects/vault/documents/vault-documents.ts';
import type { HistoryPosition } from '#objects/vault/tables/history-table.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';

/** The value of `after` that begins after the newest change. */
export const LATEST = 'latest';

const feedQuery = z.strictObject({
  after: z.string().max(128).optional().meta({
    description: 'The cursor of the last response, or `latest` to begin after the newest change',
  }),
  limit: recordLimit.optional(),
});

const changeSchema = z.strictObject({
  vaultId: z.int(),
  entry: historyEntrySchema,
  record: transactionSchema.nullable().meta({
    description:
      'The present record of the transaction of the entry; null for an entry about the vault itself, and for a draft ' +
      'that was deleted',
  }),
});

export const feedFields = {
  changes: z.array(changeSchema).meta({ description: 'The oldest first' }),
  cursor: z.string().meta({ description: 'Continues after these changes' }),
};

const feedSchema = z.strictObject(feedFields).meta({ id: 'Feed' });

/**
 * GET /vault/{vaultId}/feed: returns the changes of a vault in the order in which they happened, by
 * the number that the vault gives to each. Each one has its entry in the hash-chained history, and
 * the present record of its transaction without long fields. A client that continues with each
 * cursor receives every change. `Prefer: wait=N` holds the response until there is a change, for at
 * most 30 s. It counts as one read.
 */
export const vaultFeed = route({
  method: 'GET',
  path: '/vault/:vaultId/feed',
  access: 'read',
  summary: 'Follow the changes of a vault, oldest first; with Prefer: wait, wait for a change',
  query: feedQuery,
  answer: { status: 200, schema: feedSchema },
  waits: true,
  refuses: ['forbidden'],
  handle: readFeed,
});

async function readFeed(
  context: HttpContext,
  { params: { vaultId }, query }: Input<{ params: 'vaultId'; query: typeof feedQuery }>,
): Promise<Response> {
  const { after: cursor, limit = DEFAULT_PAGE } = query;
  const after = cursor === undefined || cursor === LATEST ? (cursor ?? null) : positionIn(cursor, vaultId);
  if (cursor !== undefined && after === null) return unknownPosition(context);
  const waitMs = preferredWaitSeconds(context) * 1000;
  const actor = actorOf(context);
  const page = await callObject(
    () => vaultStub(context.env, vaultId),
    (vault) => vault.query(actor, { type: 'readFeed', after, limit, waitMs }),
  );
  if (!page.ok) return refusalProblem(context, page.refusal);
  if (page.value === null) return unknownPosition(context);
  const texts = new PageTexts();
  const changes = changesIn(context, vaultId, page.value);
  let { position } = page.value;
  for (const [i, change] of changes.entries()) {
    if (texts.add(change)) continue;
    position = changes[i - 1]?.entry ?? position;
    break;
  }
  return respondWithFeed(context, texts, { cursor: cursorAt(position, vaultId) });
}

/** A change in the form of the API. */
export type Change = z.infer<typeof changeSchema>;

/** Throws `UnreadableState` for a document that this release does not know: it must not be lost. */
export function changesIn(
  context: HttpContext,
  vaultId: VaultId,
  { changes, policy, viewer }: ChangePage,
): readonly Change[] {
  const chains = chainsFrom(context.env);
  const shown = (text: string) => {
    const record = listedCodec.decode(text);
    return listedRecord(record, { policy, viewer, chain: findChain(chains, record.chain) });
  };
  return changes.map(({ entry, hash, record }) => ({
    vaultId,
    entry: entryRecord(historyCodec.decode(entry), hash),
    record: record === null ? null : shown(record),
  }));
}

/** The members of a response beside its changes. */
interface FeedMembers {
  readonly cursor: string;
  readonly incompleteVaults?: readonly VaultId[];
}

/** Responds with a page of changes. */
export function respondWithFeed(context: HttpContext, changes: PageTexts, members: FeedMembers): Response {
  const waitSeconds = preferredWaitSeconds(context);
  if (waitSeconds > 0) context.header('preference-applied', `wait=${waitSeconds}`);
  const text = `{"changes":${changes.array()},${JSON.stringify(members).slice(1)}`;
  return context.body(text, 200, { 'content-type': 'application/json' });
}

/** A cursor is opaque, so its content can change. The hash makes it a position in one history. */
function cursorAt({ seq, hash }: HistoryPosition, vaultId: VaultId): string {
  return btoa(`${vaultId} ${seq} ${hash}`);
}

function positionIn(cursor: string, vaultId: VaultId): HistoryPosition | null {
  const [, vault, seq, hash] = /^([0-9]+) (0|[1-9][0-9]{0,14}) ([0-9a-f]{64})$/.exec(cursorText(cursor) ?? '') ?? [];
  if (vault !== String(vaultId) || seq === undefined || hash === undefined) return null;
  return { seq: Number.parseInt(seq, 10), hash };
}

function unknownPosition(context: HttpContext): Response {
  const detail = 'Must be a cursor of the feed of this vault.';
  return invalidRequest(context, [{ pointer: 'after', code: 'invalid', detail }]);
}
