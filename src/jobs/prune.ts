import { DAY_MS } from '#domain/policy/rules.ts';
import { SESSION_SECONDS } from '#domain/access/session.ts';
import type { TokenId } from '#domain/id.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { removeAccessTokens, tokensDeletedBefore } from '#store/access-tokens.ts';
import { inGroups } from '#store/batched-query.ts';
import { pruneAlerts } from '#store/operations/alerts.ts';
import { pruneClaims } from '#store/operations/claims.ts';
import { pruneDeadLetters } from '#store/operations/dead-letters.ts';
import { pruneInbox } from '#store/notifications/inbox.ts';
import { logUnreadable } from '#store/document.ts';
import { errorText } from '#store/error-text.ts';
import { unreadableText } from '#store/object-schema.ts';
import { ENDED_RETENTION_MS, pruneEnded } from '#store/retried-rows.ts';
import { deleteSessions, sessionsBefore } from '#store/sessions.ts';
import { prunePrices, pruneTokens } from '#store/valuations.ts';

/** Deletes what has ended. Each run of the sweep deletes a bounded number of each. */

/** How long failed deliveries, failed scans and dead letters wait for an operator. */
const FAILED_RETENTION_MS = 90 * DAY_MS;
/** How long the metadata and the last prices of tokens are stored. */
const VALUATION_RETENTION_MS = 60 * DAY_MS;

/** How long the inbox keeps a notification. */
const INBOX_RETENTION_MS = 90 * DAY_MS;

/** Rows of D1. A failed delivery has its body, of up to a megabyte. */
const MAX_ROWS = 200;
/** Objects that are emptied in one run, and at the same time. */
const MAX_OBJECTS = 100;
const EMPTIED_AT_ONCE = 20;

/** Returns `behind` when it left rows to the next run. */
type Prune = (env: CoordinatorEnv, nowMs: number) => Promise<'behind' | void>;

/** The maximum number of statements for one table in one run: a thousand rows of each state. */
const MAX_ROUNDS = 5;

/**
 * Repeats a statement until it processes fewer rows than its limit. A service that has more than
 * one statement's worth of rows a minute would never catch up otherwise.
 *
 * @param run returns the number of rows that one statement processed
 */
export async function repeated(
  limit: number,
  run: () => Promise<number>,
  rounds = MAX_ROUNDS,
): Promise<'behind' | undefined> {
  for (let round = 0; round < rounds; round++) if ((await run()) < limit) return undefined;
  return 'behind';
}

/** What is deleted, each by the name of its step of the sweep. */
export const PRUNES = {
  'prune-deliveries': (env, nowMs) => repeated(MAX_ROWS, () => pruneEnded(env.DB, 'deliveries', endedBefore(nowMs))),
  'prune-scans': (env, nowMs) => repeated(MAX_ROWS, () => pruneEnded(env.DB, 'scans', endedBefore(nowMs))),
  'prune-dead-letters': (env, nowMs) => pruneDeadLetters(env.DB, nowMs - FAILED_RETENTION_MS),
  'prune-prices': (env, nowMs) =>
    repeated(MAX_ROWS, () =>
      prunePrices(env.DB, { requestedBeforeMs: nowMs - VALUATION_RETENTION_MS, limit: MAX_ROWS }),
    ),
  'prune-tokens': (env, nowMs) =>
    repeated(MAX_ROWS, () => pruneTokens(env.DB, { readBeforeMs: nowMs - VALUATION_RETENTION_MS, limit: MAX_ROWS })),
  'prune-claims': (env, nowMs) =>
    repeated(MAX_ROWS, () => pruneClaims(env.DB, { beforeMs: nowMs - ENDED_RETENTION_MS, limit: MAX_ROWS })),
  'prune-inbox': (env, nowMs) =>
    repeated(MAX_ROWS, () => pruneInbox(env.DB, { beforeMs: nowMs - INBOX_RETENTION_MS, limit: MAX_ROWS })),
  'prune-alerts': (env, nowMs) => pruneAlerts(env.DB, nowMs - ENDED_RETENTION_MS),
  'prune-sessions': pruneSessions,
  'prune-access-tokens': pruneAccessTokens,
} as const satisfies Readonly<Record<string, Prune>>;

function endedBefore(nowMs: number) {
  return {
    doneBeforeMs: nowMs - ENDED_RETENTION_MS,
    failedBeforeMs: nowMs - FAILED_RETENTION_MS,
    limit: MAX_ROWS,
  };
}

/** Every session of this age has expired. */
async function pruneSessions({ DB, SESSION }: CoordinatorEnv, nowMs: number): Promise<'behind' | void> {
  const old = await sessionsBefore(DB, { beforeMs: nowMs - SESSION_SECONDS * 1000, limit: MAX_OBJECTS });
  await deleteSessions(DB, await emptied(old, (id) => SESSION.getByName(`session:${id}`).erase()));
  return old.length < MAX_OBJECTS ? undefined : 'behind';
}

async function pruneAccessTokens({ DB, ACCESS_TOKEN }: CoordinatorEnv, nowMs: number): Promise<'behind' | void> {
  const old = await tokensDeletedBefore(DB, { beforeMs: nowMs - ENDED_RETENTION_MS, limit: MAX_OBJECTS });
  await removeAccessTokens(DB, await emptied(old, (id) => ACCESS_TOKEN.getByName(`token:${id}`).erase()));
  return old.length < MAX_OBJECTS ? undefined : 'behind';
}

/**
 * Empties the objects of credentials. Returns those that need no other try: an object with
 * unreadable state never becomes empty, and would stay at the head of the list.
 */
async function emptied(ids: readonly TokenId[], erase: (id: TokenId) => Promise<boolean>): Promise<readonly TokenId[]> {
  const done: TokenId[] = [];
  for (const some of inGroups(ids, EMPTIED_AT_ONCE)) {
    const each = some.map(async (id) => {
      try {
        if (await erase(id)) done.push(id);
      } catch (error) {
        if (unreadableText(error) === null) {
          console.error(JSON.stringify({ event: 'prune-failed', credential: id, error: errorText(error) }));
          return;
        }
        logUnreadable(error, { credential: id });
        done.push(id);
      }
    });
    await Promise.all(each);
  }
  return done;
}
