import * as z from 'zod';
import type { VaultId } from '#domain/id.ts';
import { parseVaultId } from '#domain/id.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import { problem } from '#http/encode/problem.ts';
import { callObject, orUnread } from '#http/edge/object-call.ts';
import { DEFAULT_PAGE, PageTexts, recordLimit } from '#http/edge/page.ts';
import { preferredWaitSeconds } from '#http/edge/prefer.ts';
import { invalidRequest } from '#http/edge/request-check.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import type { FeedPositions } from '#http/user/feed-cursor.ts';
import { feedCursor, positionsIn } from '#http/user/feed-cursor.ts';
import type { Change } from '#http/vault/feed.ts';
import { changesIn, feedFields, LATEST, respondWithFeed } from '#http/vault/feed.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';
import type { HistoryPosition } from '#objects/vault/tables/history-table.ts';
import { entriesAfter, historyWrites, listedHistories } from '#store/audit.ts';

/** Ours: a cursor has about six bytes of each vault, and many proxies refuse a line above 8 KB. */
const MAX_VAULTS = 1_000;
/** A sleeping vault takes time to wake. */
const OPENED_AT_ONCE = 20;
/** Ours: the vaults that one response opens, most of which the caller has not accepted. */
const MAX_OPENED = 200;
/** Between two looks at the read model. One look is a statement that reads one row. */
const READ_MS = 500;
/** Above the length of a cursor of all vaults. */
const MAX_CURSOR = 16_000;
/** The numbers that the read model does not have are those of unreadable entries. */
const MAX_ENTRIES = 1_000;

const feedQuery = z.strictObject({
  after: z.string().max(MAX_CURSOR).optional().meta({
    description: 'The cursor of the last response, or `latest` to begin after the newest change of each vault',
  }),
  limit: recordLimit.optional(),
});

/**
 * GET /feed: returns the changes of all vaults of the caller. The changes of one vault are in the
 * order of the numbers that the vault gives them; changes of several vaults are ordered by time. A
 * client that continues with each cursor receives every change of every vault, also of a vault that
 * it joins later, from the first one. `Prefer: wait=N` holds the response until there is a change,
 * for at most 30 s. It counts as one read.
 *
 * The read model names the vaults that have changes after the cursor, and each of them answers for
 * itself: it checks the membership, and has the entries and the records.
 */
export const ownFeed = route({
  method: 'GET',
  path: '/feed',
  access: 'read',
  summary: 'Follow the changes of all your vaults, oldest first; with Prefer: wait, wait for a change',
  query: feedQuery,
  answer: {
    status: 200,
    schema: z
      .strictObject({
        ...feedFields,
        incompleteVaults: z.array(z.int()).meta({
          description: 'Vaults that could not be read. Their changes follow after a later cursor',
        }),
      })
      .meta({ id: 'OwnFeed' }),
  },
  waits: true,
  refuses: ['too-many-vaults'],
  handle: readFeed,
});

async function readFeed(context: HttpContext, { query }: Input<{ query: typeof feedQuery }>): Promise<Response> {
  const { after, limit = DEFAULT_PAGE } = query;
  const requested: FeedPositions | null = after === undefined || after === LATEST ? new Map() : positionsIn(after);
  if (requested === null) {
    const detail = 'Must be a cursor of the feed of all vaults.';
    return invalidRequest(context, [{ pointer: 'after', code: 'invalid', detail }]);
  }
  const waitMs = preferredWaitSeconds(context) * 1000;
  let listed = await historiesOf(context);
  if (listed.newest.size > MAX_VAULTS) return problem(context, 'too-many-vaults');
  const from = after === LATEST ? listed.newest : requested;
  const opened = new OpenedVaults();
  let page = await nextPage(context, listed.newest, { from, limit, opened });
  for (let waitedMs = 0; page.texts.count === 0 && waitedMs < waitMs; waitedMs += READ_MS) {
    await scheduler.wait(Math.min(READ_MS, waitMs - waitedMs));
    if ((await historyWrites(context.env.DB)) === listed.writes) continue;
    listed = await historiesOf(context);
    page = await nextPage(context, listed.newest, { from, limit, opened });
  }
  const { texts, positions } = page;
  return respondWithFeed(context, texts, { cursor: feedCursor(positions), incompleteVaults: [...opened.unread] });
}

/**
 * The vaults that one request has opened. One that had nothing for the caller is opened again after
 * its own next change alone: an invocation may make a thousand calls, and a wait has many looks.
 */
class OpenedVaults {
  /** Those that could not be read. */
  readonly unread = new Set<VaultId>();
  readonly #lengths = new Map<VaultId, number>();
  #count = 0;

  get mayOpen(): boolean {
    return this.#count < MAX_OPENED;
  }

  /** Reports whether a vault was opened when its newest change had this number. */
  has(vaultId: VaultId, seq: number): boolean {
    return this.#lengths.get(vaultId) === seq;
  }

  add(vaultId: VaultId, seq: number, isRead: boolean): void {
    this.#count += 1;
    this.#lengths.set(vaultId, seq);
    if (isRead) this.unread.delete(vaultId);
    else this.unread.add(vaultId);
  }
}

/** Returns the newest entry of each vault of the caller, as the read model has them. */
async function historiesOf(context: HttpContext) {
  const { user, token } = context.get('caller');
  const reader = { userId: user.id, vaultIds: token?.vaultIds ?? null, limit: MAX_VAULTS + 1 };
  const { writes, newest } = await listedHistories(context.env.DB, reader);
  const positions = new Map<VaultId, HistoryPosition>();
  for (const { vaultId, seq, hash } of newest) {
    const id = parseVaultId(vaultId);
    if (id !== null) positions.set(id, { seq, hash });
  }
  return { writes, newest: positions };
}

interface FeedPage {
  readonly texts: PageTexts;
  /** After the changes of the page. */
  readonly positions: FeedPositions;
}

/**
 * Returns the next changes after some positions. A vault that refuses the caller, or that cannot be
 * read, keeps its position. Others are opened instead, until there is a change.
 */
async function nextPage(
  context: HttpContext,
  newest: FeedPositions,
  { from, limit, opened }: { readonly from: FeedPositions; readonly limit: number; readonly opened: OpenedVaults },
): Promise<FeedPage> {
  const positions = new Map([...from].filter(([vaultId]) => newest.has(vaultId)));
  const seqIn = (vaultId: VaultId) => positions.get(vaultId)?.seq ?? 0;
  const texts = new PageTexts();
  while (texts.count === 0 && opened.mayOpen) {
    const behind = [...newest].filter(([id, { seq }]) => seq > seqIn(id) && !opened.has(id, seq));
    const ends = await nextEnds(context, behind, { seqIn, limit });
    if (ends.size === 0) break;
    const answers = await Promise.all(
      [...ends].map(([vaultId, end]) =>
        orUnread(vaultId, () => readVault(context, vaultId, { after: positions.get(vaultId) ?? null, end })),
      ),
    );
    const read = new Map<VaultId, VaultPage>();
    for (const [i, vaultId] of [...ends.keys()].entries()) {
      const answer = answers[i];
      opened.add(vaultId, newest.get(vaultId)?.seq ?? 0, answer !== 'unread');
      if (answer !== 'unread' && answer != null) read.set(vaultId, answer);
    }
    addChanges(read, { texts, positions, limit });
  }
  return { texts, positions };
}

/** Returns the number of the last entry of each vault on the next page. */
async function nextEnds(
  context: HttpContext,
  behind: readonly (readonly [VaultId, HistoryPosition])[],
  { seqIn, limit }: { readonly seqIn: (vaultId: VaultId) => number; readonly limit: number },
): Promise<ReadonlyMap<VaultId, number>> {
  const missing = behind.reduce((sum, [vaultId, { seq }]) => sum + seq - seqIn(vaultId), 0);
  // A client that follows has few changes to read: then the times are not necessary.
  if (missing <= limit && behind.length <= OPENED_AT_ONCE) return new Map(behind.map(([id, { seq }]) => [id, seq]));
  const positions = behind.map(([vaultId]) => ({ vaultId, seq: seqIn(vaultId) }));
  const due = await entriesAfter(context.env.DB, positions, { vaults: OPENED_AT_ONCE, perVault: limit });
  const ends = new Map<VaultId, number>();
  const lists = [...Map.groupBy(due, (entry) => entry.vaultId).values()];
  let count = 0;
  for (const { vaultId, seq } of byTime(lists, ({ atMs }) => atMs)) {
    const id = parseVaultId(vaultId);
    if (id !== null) ends.set(id, seq);
    if (++count === limit) break;
  }
  return ends;
}

interface VaultPage {
  readonly changes: readonly Change[];
  readonly position: HistoryPosition;
}

/**
 * Returns the changes of a vault up to an entry; null when the vault refuses the caller. A vault
 * that does not have the position was set back to an earlier state, so its feed begins again.
 */
async function readVault(
  context: HttpContext,
  vaultId: VaultId,
  { after, end }: { readonly after: HistoryPosition | null; readonly end: number },
): Promise<VaultPage | null> {
  const read = (position: HistoryPosition | null) => {
    const limit = Math.min(end - (position?.seq ?? 0), MAX_ENTRIES);
    return callObject(
      () => vaultStub(context.env, vaultId),
      (vault) => vault.query(actorOf(context), { type: 'readFeed', after: position, limit, waitMs: 0 }),
    );
  };
  let answer = await read(after);
  if (answer.ok && answer.value === null) answer = await read(null);
  if (!answer.ok || answer.value === null) return null;
  return { changes: changesIn(context, vaultId, answer.value), position: answer.value.position };
}

/** Adds the changes of some vaults to a page by time, and moves the positions behind them. */
function addChanges(
  read: ReadonlyMap<VaultId, VaultPage>,
  { texts, positions, limit }: { texts: PageTexts; positions: Map<VaultId, HistoryPosition>; limit: number },
): void {
  const lists = [...read].map(([vaultId, { changes }]) => changes.map((change) => ({ vaultId, change })));
  for (const { vaultId, change } of byTime(lists, (item) => item.change.entry.atMs)) {
    if (texts.count === limit || !texts.add(change)) return;
    positions.set(vaultId, change.entry);
  }
  // Not those of the last changes: a client must get past an unreadable entry.
  for (const [vaultId, { position }] of read) positions.set(vaultId, position);
}

/** Merges lists, each of which keeps its own order, by time. */
function* byTime<T>(lists: readonly (readonly T[])[], timeOf: (item: T) => number): Generator<T> {
  const next = lists.map(() => 0);
  for (;;) {
    let first: { readonly item: T; readonly list: number } | null = null;
    for (const [list, items] of lists.entries()) {
      const item = items[next[list] ?? 0];
      if (item !== undefined && (first === null || timeOf(item) < timeOf(first.item))) first = { item, list };
    }
    if (first === null) return;
    next[first.list] = (next[first.list] ?? 0) + 1;
    yield first.item;
  }
}
