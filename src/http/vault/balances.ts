import * as z from 'zod';
import { chainsFrom, findChain } from '#chains/registry.ts';
import type { Chain } from '#domain/chain.ts';
import { ADJUSTMENT_REASONS } from '#domain/ledger.ts';
import { ASSET_KINDS } from '#domain/movement.ts';
import { usdText, worthOf } from '#domain/price.ts';
import { amountSchema, assetRecord, assetSchema, signedAmountSchema } from '#http/asset-record.ts';
import { answerTagged, taggedJson } from '#http/conditional.ts';
import type { HttpContext } from '#http/context.ts';
import { actorOf, route } from '#http/context.ts';
import { askObject } from '#http/object-call.ts';
import { refusalProblem } from '#http/problem.ts';
import { invalidRequest } from '#http/request-check.ts';
import { timeText } from '#http/time-text.ts';
import { vaultIdOf } from '#http/vault/vault-path.ts';
import type { BalanceView } from '#objects/ledger-desk.ts';
import type { ChainAsset } from '#objects/ledger-storage.ts';
import { vaultStub } from '#objects/vault-stub.ts';
import { assetName } from '#prices/price-source.ts';
import type { KnownPrice, KnownToken } from '#store/tokens.ts';
import { knownPrices, knownTokens } from '#store/tokens.ts';

const LARGEST_PAGE = 100;

const balancesQuery = z.strictObject({ cursor: z.string().max(512).optional() });

const text = z.string();

const balance = z.strictObject({
  chain: text,
  wallet: text,
  kind: z.enum(ASSET_KINDS),
  asset: assetSchema,
  tokenId: text.nullable().meta({ description: 'Of one token of a collection' }),
  amount: amountSchema.meta({ description: 'What transactions that are beyond any reorganisation come to' }),
  incoming: amountSchema.meta({ description: 'In blocks that may still go' }),
  outgoing: amountSchema.meta({ description: 'In such blocks, or decided and on its way there' }),
  agreement: z.enum(['agrees', 'differs', 'unchecked']).meta({
    description:
      'Whether the chain says the same. A difference is looked into first, and then made up for by an adjustment',
  }),
  usdValue: text
    .regex(/^[0-9]+\.[0-9]{2,6}$/)
    .nullable()
    .meta({ description: 'Of the amount, in US dollars; null where no price is known' }),
  pricedAt: z.iso.datetime().nullable(),
  checkedBlock: text.nullable(),
  checkedAt: z.iso.datetime().nullable(),
  adjustment: z
    .strictObject({
      amount: signedAmountSchema,
      reason: z.enum(ADJUSTMENT_REASONS),
      fromBlock: text.nullable().meta({ description: 'The last block at which ledger and chain agreed' }),
      toBlock: text,
      at: z.iso.datetime(),
    })
    .nullable()
    .meta({ description: 'The last one. All of them are in the history of the vault' }),
});

const balancesSchema = z
  .strictObject({ balances: z.array(balance), nextCursor: text.nullable() })
  .meta({ id: 'BalanceList' });

/**
 * GET /vault/{vaultId}/balances (ours; spec part 6: vault balances are updated): what the wallets of a vault have, a hundred assets at
 * once, by chain and token. Every coin is there, and of tokens what the vault has or is about to have. `If-None-Match` gives 304.
 *
 * Refuses, in order: the credential, `invalid-request`, `forbidden`.
 */
export const vaultBalances = route({
  method: 'GET',
  path: '/vault/:vaultId/balances',
  access: 'read',
  summary: 'what the wallets of a vault have',
  query: balancesQuery,
  answer: { status: 200, schema: balancesSchema },
  conditional: true,
  refuses: ['forbidden'],
  handle: listBalances,
});

async function listBalances(context: HttpContext): Promise<Response> {
  const vaultId = vaultIdOf(context);
  if (vaultId instanceof Response) return vaultId;
  const { cursor } = balancesQuery.parse(context.req.query());
  const after = cursor === undefined ? null : readCursor(cursor);
  if (cursor !== undefined && after === null) {
    return invalidRequest(context, [{ pointer: 'cursor', code: 'invalid', detail: 'is not a cursor of this list' }]);
  }
  const actor = actorOf(context);
  const found = await askObject(
    () => vaultStub(context.env, vaultId),
    (vault) => vault.balances(actor, after, LARGEST_PAGE + 1),
  );
  if (!found.ok) return refusalProblem(context, found.refusal);
  const page = found.value.slice(0, LARGEST_PAGE);
  const last = found.value.length > LARGEST_PAGE ? page.at(-1) : undefined;
  const chains = chainsFrom(context.env);
  const quotes = await quotesOf(context.env.DB, page, chains);
  const balances = page.map((view) => balanceRecord(view, findChain(chains, view.chain), quotes));
  return answerTagged(context, taggedJson({ balances, nextCursor: last === undefined ? null : writeCursor(last) }));
}

/** What the tokens of a page call themselves, and the newest prices that are known. */
interface Quotes {
  readonly tokens: readonly KnownToken[];
  readonly prices: readonly KnownPrice[];
}

async function quotesOf(db: D1Database, page: readonly BalanceView[], chains: readonly Chain[]): Promise<Quotes> {
  const [tokens, prices]: [KnownToken[], KnownPrice[]] = [[], []];
  for (const [name, views] of Map.groupBy(page, ({ chain }) => chain)) {
    const chain = findChain(chains, name);
    if (chain === null) continue;
    tokens.push(
      ...(await knownTokens(
        db,
        name,
        views.flatMap(({ tokenAddress: token }) => token ?? []),
      )),
    );
    const priced = views.filter(({ tokenId }) => tokenId === null);
    prices.push(
      ...(await knownPrices(
        db,
        priced.map(({ tokenAddress }) => assetName(chain.caip2, tokenAddress)),
      )),
    );
  }
  return { tokens, prices };
}

function balanceRecord(view: BalanceView, chain: Chain | null, { tokens, prices }: Quotes): z.infer<typeof balance> {
  const { tokenAddress, balance: kept } = view;
  const { final, check, differsSinceMs, adjustment } = kept;
  const asset = assetRecord(
    tokenAddress,
    chain,
    tokens.filter((token) => token.chain === view.chain),
  );
  const name = chain === null ? null : assetName(chain.caip2, tokenAddress);
  const price = view.tokenId === null ? prices.find((one) => one.asset === name && one.usdE12 !== null) : undefined;
  // Below nothing something is missing, and nobody owns less than nothing.
  const amount = final.startsWith('-') ? '0' : final;
  return {
    chain: view.chain,
    wallet: view.wallet,
    kind: view.kind,
    asset,
    tokenId: view.tokenId,
    amount,
    ...worthRecord(BigInt(amount), asset.decimals, price),
    incoming: view.incoming.toString(),
    outgoing: view.outgoing.toString(),
    agreement: differsSinceMs !== null || final.startsWith('-') ? 'differs' : check === null ? 'unchecked' : 'agrees',
    checkedBlock: check?.blockNumber ?? null,
    checkedAt: check === null ? null : timeText(check.atMs),
    adjustment:
      adjustment === null
        ? null
        : {
            amount: adjustment.units,
            reason: adjustment.reason,
            fromBlock: adjustment.fromBlock,
            toBlock: adjustment.toBlock,
            at: timeText(adjustment.atMs),
          },
  };
}

function worthRecord(units: bigint, decimals: number | null, price: KnownPrice | undefined) {
  if (decimals === null || price?.usdE12 == null) return { usdValue: null, pricedAt: null };
  return { usdValue: usdText(worthOf(units, decimals, price.usdE12)), pricedAt: timeText(price.atMs) };
}

/** A cursor is the last asset that was shown; opaque, so that it may become something else. */
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
