import * as z from 'zod';
import { chainsFrom } from '#chains/families/registry.ts';
import { isOpen } from '#domain/access/credential-reset.ts';
import type { CredentialReset } from '#domain/access/credential-reset.ts';
import { reaches } from '#domain/access/token-grant.ts';
import type { VaultId } from '#domain/id.ts';
import { parseCredentialResetId, parsePolicyChangeId, parseTransactionId, parseVaultId } from '#domain/id.ts';
import type { Actor } from '#domain/access/approval.ts';
import { isPending, TRANSACTION_STATES } from '#domain/transaction/transaction.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { callObject, orUnread } from '#http/edge/object-call.ts';
import { cursorText, pageOf } from '#http/edge/page.ts';
import type { PendingDecisionRecord } from '#http/encode/pending.ts';
import {
  pendingChange,
  pendingDecisionSchema,
  pendingReset,
  pendingTransaction,
  withValues,
} from '#http/encode/pending.ts';
import { recordOf, shortened } from '#http/transaction/transaction-path.ts';
import { personStub } from '#objects/person/stub.ts';
import type { PendingDecision } from '#objects/vault/commands/pending.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';
import { inGroups } from '#store/batched-query.ts';
import { pendingVaults } from '#store/vaults.ts';

/** The list calls the object of each vault with one. */
const MAX_PAGE_SIZE = 50;
/** Ours: the vaults that one read opens. */
const MAX_VAULTS = 200;
/** A sleeping vault takes time to wake. */
const OPENED_AT_ONCE = 20;
export const PENDING_STATES = TRANSACTION_STATES.filter(isPending);

/** A position in the list: the deadline and the id of its last item. */
const CURSOR = /^([0-9]{1,15}) (\S{1,64})$/;

const pendingQuery = z.strictObject({
  limit: z
    .string()
    .regex(/^[1-9][0-9]?$/, 'Must be a whole number.')
    .transform((text) => Number.parseInt(text, 10))
    .refine((limit) => limit <= MAX_PAGE_SIZE, `Must be at most ${MAX_PAGE_SIZE}.`)
    .optional(),
  cursor: z
    .string()
    .max(128)
    .refine((text) => readCursor(text) !== null, 'Must be a cursor of this list.')
    .optional(),
});

const listSchema = z
  .strictObject({
    data: z.array(pendingDecisionSchema),
    nextCursor: z.string().nullable(),
    total: z.int().meta({ description: 'Number of items on all pages' }),
    incompleteVaults: z.array(z.int()).meta({
      description:
        'Vaults in which more may wait: vaults that could not be read, vaults above the limit of 200 in one read, and ' +
        'vaults with more than 1,000 pending transactions. Empty: the list is complete',
    }),
    position: z.string().meta({ description: 'Changes when the list may have changed' }),
  })
  .meta({ id: 'PendingDecisionList' });

/**
 * GET /user/me/pending: returns what waits for the decision of the caller in all vaults, the
 * earliest deadline first: transactions and policy changes that the caller can approve, and open
 * credential resets that the caller can cancel.
 *
 * The read model selects the vaults in which something may be pending, at most 200, and each of
 * them decides what waits for the caller: a decision is gone from the list at once. Something new
 * appears when its vault has written the read model, within seconds. Only the records of the page
 * are read, so a request makes at most 251 calls of objects. What it leaves out is in
 * `incompleteVaults`.
 */
export const ownPending = route({
  method: 'GET',
  path: '/user/me/pending',
  access: 'read',
  summary: 'List what waits for your decision, earliest deadline first',
  query: pendingQuery,
  answer: { status: 200, schema: listSchema },
  refuses: [],
  handle: list,
});

/** Something that waits, and where. */
type Item =
  | (PendingDecision & { readonly vault: { readonly id: VaultId; readonly name: string } })
  | {
      readonly kind: 'own-reset';
      readonly id: string;
      readonly deadlineMs: number;
      readonly reset: CredentialReset;
    };

async function list(context: HttpContext, { query }: Input<{ query: typeof pendingQuery }>): Promise<Response> {
  const actor = actorOf(context);
  const { limit = MAX_PAGE_SIZE, cursor } = query;
  const { items, incompleteVaults, position } = await itemsFor(context, actor);
  const after = cursor === undefined ? null : readCursor(cursor);
  const following = after === null ? items : items.filter((item) => compare(item, after) > 0);
  const { shown, nextCursor } = pageOf(following, limit, ({ deadlineMs, id }) => btoa(`${deadlineMs} ${id}`));
  const data: PendingDecisionRecord[] = [];
  const unread: VaultId[] = [];
  for (const some of inGroups(shown, OPENED_AT_ONCE)) {
    const records = await Promise.all(some.map((item) => recordFor(context, actor, item)));
    data.push(...records.flatMap((record) => (record === null || record === 'unread' ? [] : record)));
    unread.push(...some.flatMap((item, i) => ('vault' in item && records[i] === 'unread' ? item.vault.id : [])));
  }
  // Decided since the vaults were read.
  const ended = shown.length - data.length - unread.length;
  const incomplete = [...new Set([...incompleteVaults, ...unread])].toSorted((a, b) => a - b);
  const valued = await withValues(context.env.DB, chainsFrom(context.env), data);
  const total = items.length - ended;
  return context.json({ data: valued, nextCursor, total, incompleteVaults: incomplete, position });
}

/** Returns everything that waits for the caller, in order, and the vaults that may have more. */
async function itemsFor(context: HttpContext, actor: Actor) {
  const listed = await pendingVaults(context.env.DB, actor.userId, PENDING_STATES);
  const { token } = context.get('caller');
  const vaultIds = listed.ids
    .flatMap((id) => parseVaultId(id) ?? [])
    .filter((id) => token === null || reaches(token, id));
  const incompleteVaults: VaultId[] = vaultIds.slice(MAX_VAULTS);
  const items: Item[] = await ownResets(context, actor);
  for (const some of inGroups(vaultIds.slice(0, MAX_VAULTS), OPENED_AT_ONCE)) {
    const answers = await Promise.all(
      some.map((id) =>
        orUnread(id, () =>
          callObject(
            () => vaultStub(context.env, id),
            (vault) => vault.query(actor, { type: 'pendingDecisions' }),
          ),
        ),
      ),
    );
    for (const [i, id] of some.entries()) {
      const answer = answers[i];
      if (answer === undefined || answer === 'unread') incompleteVaults.push(id);
      // The directory can list a member who was just removed.
      else if (answer.ok) {
        const { name, decisions, isComplete } = answer.value;
        items.push(...decisions.map((decision): Item => ({ ...decision, vault: { id, name } })));
        if (!isComplete) incompleteVaults.push(id);
      }
    }
  }
  const ordered = items.toSorted(compare);
  // Every common vault has a copy of a reset.
  const first = new Set<string>();
  return {
    items: ordered.filter(({ id }) => !first.has(id) && first.add(id)),
    incompleteVaults,
    position: listed.position,
  };
}

async function ownResets(context: HttpContext, { userId }: Actor): Promise<Item[]> {
  const resets = await callObject(
    () => personStub(context.env, userId),
    (person) => person.resets(),
  );
  return resets
    .filter((reset) => isOpen(reset, Date.now()))
    .map((reset) => ({ kind: 'own-reset', id: reset.id, deadlineMs: reset.effectiveAtMs, reset }));
}

/** Returns the record of an item, or null when it no longer waits for the caller. */
async function recordFor(
  context: HttpContext,
  actor: Actor,
  item: Item,
): Promise<PendingDecisionRecord | 'unread' | null> {
  if (item.kind === 'own-reset') return pendingReset(item.reset, null);
  const { vault } = item;
  const stub = () => vaultStub(context.env, vault.id);
  return orUnread(vault.id, async () => {
    switch (item.kind) {
      case 'transaction': {
        const read = await callObject(stub, (object) => object.query(actor, { type: 'readRecord', id: item.id }));
        return read.ok ? pendingTransaction(shortened(recordOf(context, read.value)), vault) : null;
      }
      case 'policy-change': {
        const read = await callObject(stub, (object) => object.query(actor, { type: 'readPolicyChange', id: item.id }));
        return read.ok ? pendingChange(read.value, vault) : null;
      }
      case 'credential-reset': {
        const read = await callObject(stub, (object) =>
          object.query(actor, { type: 'readCredentialResets', id: item.id }),
        );
        const reset = read.ok ? read.value[0] : undefined;
        return reset === undefined ? null : pendingReset(reset, vault);
      }
    }
  });
}

type Position = Pick<Item, 'deadlineMs' | 'id'>;

function compare(one: Position, other: Position): number {
  return one.deadlineMs - other.deadlineMs || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);
}

/** Returns the position in a cursor, or null when the cursor is not valid. */
function readCursor(text: string): Position | null {
  const [, deadline = '', id = ''] = CURSOR.exec(cursorText(text) ?? '') ?? [];
  const isId = [parseTransactionId, parsePolicyChangeId, parseCredentialResetId].some((parse) => parse(id) !== null);
  return isId ? { deadlineMs: Number.parseInt(deadline, 10), id } : null;
}
