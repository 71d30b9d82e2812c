import * as z from 'zod';
import { chainsFrom } from '#chains/families/registry.ts';
import { respondWithEtag, taggedJson } from '#http/edge/etag.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { callObject } from '#http/edge/object-call.ts';
import { pageOf } from '#http/edge/page.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import { invalidRequest } from '#http/edge/request-check.ts';
import { balanceRecords, balanceSchema } from '#http/encode/balance.ts';
import type { BalanceView } from '#objects/vault/views.ts';
import type { ChainAsset } from '#objects/vault/tables/balance-table.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';

const MAX_PAGE_SIZE = 100;

const balancesQuery = z.strictObject({
  cursor: z.string().max(512).optional(),
  visible: z.enum(['true', 'all']).optional(),
});

const balancesSchema = z
  .strictObject({ balances: z.array(balanceSchema), nextCursor: z.string().nullable() })
  .meta({ id: 'BalanceList' });

/**
 * GET /vault/{vaultId}/balances: returns the balances of the wallets of a vault, ordered by chain
 * and token, 100 per page. Native assets are always listed. A token is listed when the vault holds
 * it or has a pending movement of it. Tokens that only hidden records have moved are listed with
 * `visible=all`. A matching `If-None-Match` gives 304.
 */
export const vaultBalances = route({
  method: 'GET',
  path: '/vault/:vaultId/balances',
  access: 'read',
  summary: 'List balances',
  query: balancesQuery,
  answer: { status: 200, schema: balancesSchema },
  conditional: true,
  refuses: ['forbidden'],
  handle: listBalances,
});

async function listBalances(
  context: HttpContext,
  { params: { vaultId }, query }: Input<{ params: 'vaultId'; query: typeof balancesQuery }>,
): Promise<Response> {
  const { cursor, visible } = query;
  const after = cursor === undefined ? null : readCursor(cursor);
  if (cursor !== undefined && after === null) {
    return invalidRequest(context, [{ pointer: 'cursor', code: 'invalid', detail: 'Must be a cursor of this list.' }]);
  }
  const actor = actorOf(context);
  const found = await callObject(
    () => vaultStub(context.env, vaultId),
    (vault) =>
      vault.query(actor, { type: 'listBalances', after, limit: MAX_PAGE_SIZE + 1, hiddenToo: visible === 'all' }),
  );
  if (!found.ok) return refusalProblem(context, found.refusal);
  const { shown, nextCursor } = pageOf(found.value.balances, MAX_PAGE_SIZE, writeCursor);
  const balances = await balanceRecords(
    context.env.DB,
    { balances: shown, rules: found.value.rules },
    chainsFrom(context.env),
  );
  return respondWithEtag(context, taggedJson({ balances, nextCursor }));
}

/** Returns the cursor of the last asset on a page. It is opaque, so its content can change. */
function writeCursor({ chain, tokenAddress, tokenId }: BalanceView): string {
  return btoa(JSON.stringify([chain, tokenAddress, tokenId]));
}

const cursorParts = z.tuple([z.string(), z.string().nullable(), z.string().nullable()]);

function readCursor(cursor: string): Omit<ChainAsset, 'kind'> | null {
  try {
    const parts = cursorParts.safeParse(JSON.parse(atob(cursor)));
    if (!parts.success) return null;
    const [chain, tokenAddress, tokenId] = parts.data;
    return { chain, tokenAddress, tokenId };
  } catch {
    return null;
  }
}
