import * as z from 'zod';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import { parseTransactionId, vaultOfTransaction } from '#domain/id.ts';
import type { VaultId } from '#domain/id.ts';
import { DISPLAY_TYPES, TRANSACTION_STATES } from '#domain/transaction/transaction.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { respondWithEtag, taggedText } from '#http/edge/etag.ts';
import { callObject } from '#http/edge/object-call.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import { cursorText, DEFAULT_PAGE, PageTexts, recordLimit } from '#http/edge/page.ts';
import { invalidRequest } from '#http/edge/request-check.ts';
import { transactionSchema } from '#http/encode/transaction-schema.ts';
import { listedRecord } from '#http/transaction/transaction-path.ts';
import { listedCodec } from '#objects/vault/documents/listed-document.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';
import { readableOrNull } from '#store/document.ts';
import { list } from '#store/transactions.ts';

const time = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));

const listQuery = z.strictObject({
  limit: recordLimit.optional(),
  cursor: z.string().max(128).optional(),
  state: z.enum(TRANSACTION_STATES).optional(),
  displayType: z.enum(DISPLAY_TYPES).optional(),
  chain: z.string().max(64).optional(),
  direction: z.enum(['out', 'in']).optional(),
  memo: z.string().min(1).max(1_100).optional(),
  visible: z.enum(['true', 'false', 'all']).optional(),
  createdAfter: time.optional(),
  createdBefore: time.optional(),
  updatedAfter: time.optional(),
});

const listSchema = z
  .strictObject({ transactions: z.array(transactionSchema), nextCursor: z.string().nullable() })
  .meta({ id: 'TransactionList' });

/**
 * GET /vault/{vaultId}/transactions: returns the transactions of a vault, newest first, by an
 * immutable cursor. Long calldata and messages are left out, and a page has at most 512 KB.
 * Hidden transactions are listed only on request. Callers read their own writes: the vault
 * completes its projection before the list is read. A matching `If-None-Match` gives 304.
 * A record that the read model has damaged is left out and logged: the vault object has the record,
 * and `GET /transaction/{txId}` returns it.
 */
export const vaultTransactions = route({
  method: 'GET',
  path: '/vault/:vaultId/transactions',
  access: 'read',
  byDevice: true,
  summary: 'List the transactions of a vault, newest first',
  query: listQuery,
  answer: { status: 200, schema: listSchema },
  conditional: true,
  refuses: ['forbidden'],
  handle: listTransactions,
});

async function listTransactions(
  context: HttpContext,
  { params: { vaultId }, query }: Input<{ params: 'vaultId'; query: typeof listQuery }>,
): Promise<Response> {
  const after = query.cursor === undefined ? null : readCursor(query.cursor, vaultId);
  if (query.cursor !== undefined && after === null) return fault(context, 'cursor', 'Must be a cursor of this list.');
  const chains = chainsFrom(context.env);
  const chain = query.chain === undefined ? null : findChain(chains, query.chain);
  if (query.chain !== undefined && chain === null) return fault(context, 'chain', 'The chain is not known.');
  const actor = actorOf(context);
  const scope = await callObject(
    () => vaultStub(context.env, vaultId),
    (vault) => vault.query(actor, { type: 'projectedScope' }),
  );
  if (!scope.ok) return refusalProblem(context, scope.refusal);
  const visible = query.visible ?? 'true';
  const page = await list(context.env.DB, {
    vaultId,
    after,
    limit: query.limit ?? DEFAULT_PAGE,
    state: query.state ?? null,
    displayType: query.displayType ?? null,
    chain: chain?.name ?? null,
    direction: query.direction ?? null,
    memo: query.memo ?? null,
    visible: visible === 'all' ? null : visible === 'true',
    createdAfterMs: query.createdAfter ?? null,
    createdBeforeMs: query.createdBefore ?? null,
    updatedAfterMs: query.updatedAfter ?? null,
  });
  const texts = new PageTexts();
  let { next } = page;
  for (const [i, { id, record: text }] of page.records.entries()) {
    const record = readableOrNull(() => listedCodec.decode(text), { vaultId, id });
    if (record === null) continue;
    if (!texts.add(listedRecord(record, { ...scope.value, chain: findChain(chains, record.chain) }))) {
      next = page.records[i - 1]?.id ?? null;
      break;
    }
  }
  const nextCursor = JSON.stringify(next === null ? null : btoa(next));
  return respondWithEtag(context, taggedText(`{"transactions":${texts.array()},"nextCursor":${nextCursor}}`));
}

/**
 * Returns the transaction id in a cursor, or null when the cursor is not valid. The id is that of
 * the last transaction on a page. The cursor is opaque, so its content can change.
 */
function readCursor(cursor: string, vaultId: VaultId): string | null {
  const id = parseTransactionId(cursorText(cursor) ?? '');
  return id !== null && vaultOfTransaction(id) === vaultId ? id : null;
}

function fault(context: HttpContext, pointer: string, detail: string): Response {
  return invalidRequest(context, [{ pointer, code: 'invalid', detail }]);
}
