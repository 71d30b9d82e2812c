import * as z from 'zod';
import { rfc3339 } from '#http/encode/rfc3339.ts';
import type { HistoryEntry } from '#objects/vault/documents/history.ts';
import { historyCodec } from '#objects/vault/documents/vault-documents.ts';
import type { HistoryLine } from '#store/audit.ts';
import { readableOrNull } from '#store/document.ts';

const MAX_PAGE_SIZE = 500;
const DEFAULT_PAGE = 200;

const wholeNumber = z
  .string()
  .regex(/^(?:0|[1-9][0-9]{0,8})$/, 'Must be a whole number.')
  .transform((text) => Number.parseInt(text, 10));

/** The query of a page of the history, oldest first, after an entry. */
export const historyQuery = z.strictObject({
  after: wholeNumber.optional(),
  limit: wholeNumber
    .refine((limit) => limit >= 1 && limit <= MAX_PAGE_SIZE, `Must be from 1 to ${MAX_PAGE_SIZE}.`)
    .optional(),
});

/** An entry of the history, as it is hashed, with its hash and a readable time. */
export const historyEntrySchema = z.strictObject({
  seq: z.int(),
  transactionId: z.string().nullable(),
  version: z.int(),
  action: z.string(),
  actor: z
    .strictObject({ userId: z.string(), tokenId: z.string(), address: z.string().nullable() })
    .nullable()
    .meta({ description: 'Null for an action of the service itself' }),
  from: z.string().nullable(),
  to: z.string().nullable(),
  reason: z.string().nullable(),
  digest: z.string().nullable(),
  detail: z.string().nullable(),
  atMs: z.int(),
  previousHash: z.string(),
  at: z.iso.datetime(),
  hash: z.string(),
});

export const historySchema = z
  .strictObject({
    history: z.array(historyEntrySchema),
    nextAfter: z.int().nullable(),
  })
  .meta({ id: 'History' });

export function entryRecord(entry: HistoryEntry, hash: string): z.infer<typeof historyEntrySchema> {
  return { ...entry, at: rfc3339(entry.atMs), hash };
}

export function pageOf(query: z.infer<typeof historyQuery>) {
  return { after: query.after ?? 0, limit: query.limit ?? DEFAULT_PAGE };
}

/**
 * Returns a page of entries as they are hashed, each with its hash and a readable time. An entry
 * that the read model has damaged is left out and logged: its number is then missing.
 */
export function historyPage(lines: readonly HistoryLine[], limit: number) {
  const page = lines.slice(0, limit);
  const history = page.flatMap(({ vaultId, seq, entry, hash }) => {
    const line = readableOrNull(() => historyCodec.decode(entry), { vaultId, seq });
    return line === null ? [] : [entryRecord(line, hash)];
  });
  return { history, nextAfter: lines.length > limit ? (page.at(-1)?.seq ?? null) : null };
}
