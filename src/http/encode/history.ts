import * as z from 'zod';
import type { HistoryEntry } from '#objects/vault/history.ts';
import { rfc3339 } from '#http/encode/rfc3339.ts';

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

export const historySchema = z
  .strictObject({
    history: z.array(
      z.strictObject({
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
      }),
    ),
    nextAfter: z.int().nullable(),
  })
  .meta({ id: 'History' });

export function pageOf(query: z.infer<typeof historyQuery>) {
  return { after: query.after ?? 0, limit: query.limit ?? DEFAULT_PAGE };
}

/** Returns a page of entries as they are hashed, each with its hash and a readable time. */
export function historyPage(lines: readonly { readonly entry: string; readonly hash: string }[], limit: number) {
  const shown = lines.slice(0, limit).map(({ entry, hash }) => {
    const line = JSON.parse(entry) as HistoryEntry;
    return { ...line, at: rfc3339(line.atMs), hash };
  });
  return { history: shown, nextAfter: lines.length > limit ? (shown.at(-1)?.seq ?? null) : null };
}
