import * as z from 'zod';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import { searched } from '#domain/asset/movement.ts';
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
import { RECORD_KINDS, transactionSchema } from '#http/encode/transaction-schema.ts';
import { isSet } from '#http/encode/lists.ts';
import { listedRecord } from '#http/transaction/transaction-path.ts';
import { listedCodec } from '#objects/vault/documents/listed-document.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';
import { readableOrNull } from '#store/document.ts';
import { list } from '#store/transactions.ts';

/** Ours: each value of a filter with an index is a range of rows, which is read by itself. */
const MAX_VALUES = 10;

/**
 * The values of a filter: between commas, or in several parameters. An array in the document, of
 * the style `form` and not exploded.
 */
function severalOf<T>(value: z.ZodType<T>) {
  const values = z.array(value).min(1).max(MAX_VALUES).refine(isSet, 'Must not repeat a value.');
  return z
    .preprocess((text: string | string[]) => (typeof text === 'string' ? text.split(',') : text), values)
    .optional();
}

/** The value of a filter that may have commas. */
function oneOf(value: z.ZodType<string>) {
  return value.transform((text) => [text]).optional();
}

const time = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));

/** An address or a hash: those of EVM chains have no case. */
const searchedText = z.string().min(1).max(128).transform(searched);

const filterFields = {
  state: severalOf(z.enum(TRANSACTION_STATES)),
  displayType: severalOf(z.enum(DISPLAY_TYPES)),
  kind: severalOf(z.enum(RECORD_KINDS)),
  chain: severalOf(z.string().min(1).max(64)),
  direction: severalOf(z.enum(['out', 'in'])),
  txHash: severalOf(searchedText),
  tokenAddress: severalOf(searchedText).meta({
    description: 'The contract of a token that moves, or that is approved',
  }),
  counterparty: severalOf(searchedText).meta({
    description: 'An address that the transaction pays, calls or approves, or that takes part in a movement',
  }),
  createdBy: severalOf(z.string().min(1).max(64)).meta({ description: 'Id of the person who created it' }),
  externalId: oneOf(z.string().min(1).max(128)),
  memo: oneOf(z.string().min(1).max(1_100)),
};

const listQuery = z.strictObject({
  limit: recordLimit.optional(),
  cursor: z.string().max(128).optional(),
  order: z.enum(['newest', 'oldest']).optional().meta({ description: 'By the time of creation; `newest` by default' }),
  ...filterFields,
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
  const { cursor, chain, limit = DEFAULT_PAGE, order = 'newest', visible = 'true', ...rest } = query;
  const { createdAfter = null, createdBefore = null, updatedAfter = null, ...filters } = rest;
  const after = cursor === undefined ? null : readCursor(cursor, vaultId);
  if (cursor !== undefined && after === null) return fault(context, 'cursor', 'Must be a cursor of this list.');
  const chains = chainsFrom(context.env);
  const known = chain?.map((name) => findChain(chains, name)?.name ?? null);
  if (known?.includes(null) === true) return fault(context, 'chain', 'The chain is not known.');
  const actor = actorOf(context);
  const scope = await callObject(
    () => vaultStub(context.env, vaultId),
    (vault) => vault.query(actor, { type: 'projectedScope' }),
  );
  if (!scope.ok) return refusalProblem(context, scope.refusal);
  const page = await list(context.env.DB, {
    vaultId,
    order,
    after,
    limit,
    // Two names can be those of one chain.
    filters: { ...filters, chain: known && [...new Set(known.filter((name) => name !== null))] },
    visible: visible === 'all' ? null : visible === 'true',
    createdAfterMs: createdAfter,
    createdBeforeMs: createdBefore,
    updatedAfterMs: updatedAfter,
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
