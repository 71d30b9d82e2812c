import * as z from 'zod';
import { findChain } from '#chains/families/registry.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { ADJUSTMENT_REASONS } from '#domain/asset/balance.ts';
import { ASSET_KINDS, isCollectible } from '#domain/asset/movement.ts';
import { usdText, usdValueAtPrice } from '#domain/asset/price.ts';
import type { AssetNames } from '#http/encode/asset.ts';
import { amountSchema, assetRecord, assetSchema, signedAmountSchema, usdSchema } from '#http/encode/asset.ts';
import { rfc3339 } from '#http/encode/rfc3339.ts';
import type { BalancePage, BalanceView } from '#objects/vault/views.ts';
import { assetName } from '#prices/price-source.ts';
import type { CachedPrice, CachedToken } from '#store/valuations.ts';
import { cachedPrices, cachedTokens } from '#store/valuations.ts';

const text = z.string();

/** The schema of a balance. */
export const balanceSchema = z.strictObject({
  chain: text,
  wallet: text,
  kind: z.enum(ASSET_KINDS),
  asset: assetSchema,
  tokenId: text.nullable().meta({ description: 'Token id within a collection' }),
  visible: z.boolean().meta({
    description:
      'False when only hidden transactions have moved the asset. The balance is then not compared with the chain.',
  }),
  amount: amountSchema.meta({ description: 'Balance of all final transactions' }),
  current: amountSchema.meta({ description: 'Balance on chain now, including blocks that are not yet final' }),
  incoming: amountSchema.meta({ description: 'Incoming amount that is not yet final' }),
  outgoing: amountSchema.meta({ description: 'Outgoing amount that is not yet final, or approved and not yet mined' }),
  outgoingMined: amountSchema.meta({
    description:
      'Part of `outgoing` that is in a block, so that `current` does not contain it. The rest is in `current`.',
  }),
  agreement: z.enum(['agrees', 'differs', 'unchecked']).meta({
    description:
      'Whether the chain shows the same balance. A difference is investigated first and then corrected by an ' +
      'adjustment.',
  }),
  usdValue: usdSchema
    .nullable()
    .meta({ description: 'Value of the current balance in US dollars; null when no price is known' }),
  pricedAt: z.iso.datetime().nullable(),
  checkedBlock: text.nullable(),
  checkedAt: z.iso.datetime().nullable(),
  adjustment: z
    .strictObject({
      amount: signedAmountSchema,
      reason: z.enum(ADJUSTMENT_REASONS),
      fromBlock: text
        .nullable()
        .meta({ description: 'The last block at which the recorded balance matched the chain' }),
      toBlock: text,
      at: z.iso.datetime(),
    })
    .nullable()
    .meta({ description: 'The latest adjustment. The history of the vault contains all adjustments.' }),
});

/**
 * Returns balances with the labels of their tokens and with their market value at the latest known
 * prices.
 */
export async function balanceRecords(
  db: D1Database,
  { balances: page, rules }: BalancePage,
  chains: readonly Chain[],
): Promise<z.infer<typeof balanceSchema>[]> {
  const quotes = await quotesOf(db, page, chains);
  return page.map((view) => balanceRecord(view, { chain: findChain(chains, view.chain), rules }, quotes));
}

/** The labels of the tokens on a page, and the latest known prices. */
interface Quotes {
  readonly tokens: readonly CachedToken[];
  readonly prices: readonly CachedPrice[];
}

async function quotesOf(db: D1Database, page: readonly BalanceView[], chains: readonly Chain[]): Promise<Quotes> {
  const [tokens, prices]: [CachedToken[], CachedPrice[]] = [[], []];
  for (const [name, views] of Map.groupBy(page, ({ chain }) => chain)) {
    const chain = findChain(chains, name);
    if (chain === null) continue;
    tokens.push(
      ...(await cachedTokens(
        db,
        name,
        views.flatMap(({ tokenAddress: token }) => token ?? []),
      )),
    );
    const priced = views.filter((view) => !isCollectible(view));
    prices.push(
      ...(await cachedPrices(
        db,
        priced.map(({ tokenAddress }) => assetName(chain.caip2, tokenAddress)),
      )),
    );
  }
  return { tokens, prices };
}

function balanceRecord(
  view: BalanceView,
  { chain, rules }: Pick<AssetNames, 'chain' | 'rules'>,
  { tokens, prices }: Quotes,
): z.infer<typeof balanceSchema> {
  const { tokenAddress, balance: kept } = view;
  const { final, check, difference, adjustment } = kept;
  const asset = assetRecord(tokenAddress, {
    chain,
    rules,
    labels: tokens.filter((token) => token.chain === view.chain),
  });
  const name = chain === null ? null : assetName(chain.caip2, tokenAddress);
  const price = isCollectible(view) ? undefined : prices.find((one) => one.asset === name && one.usdE12 !== null);
  // No balance is below zero, so a negative one shows that a movement is missing. Only the final
  // balance can be negative for another reason: a payment can be observed as final before the
  // deposit that funds it.
  const amount = final.startsWith('-') ? '0' : final;
  const isMissing = view.current < 0n;
  const current = isMissing ? 0n : view.current;
  return {
    chain: view.chain,
    wallet: view.wallet,
    kind: view.kind,
    asset,
    tokenId: view.tokenId,
    visible: view.visible,
    amount,
    current: current.toString(),
    ...valueRecord(current, asset.decimals, price),
    incoming: view.incoming.toString(),
    outgoing: view.outgoing.toString(),
    outgoingMined: view.outgoingMined.toString(),
    agreement: difference !== null || isMissing ? 'differs' : check === null ? 'unchecked' : 'agrees',
    checkedBlock: check?.blockNumber ?? null,
    checkedAt: check === null ? null : rfc3339(check.atMs),
    adjustment:
      adjustment === null
        ? null
        : {
            amount: adjustment.units,
            reason: adjustment.reason,
            fromBlock: adjustment.fromBlock,
            toBlock: adjustment.toBlock,
            at: rfc3339(adjustment.atMs),
          },
  };
}

/** Returns the value of an amount at a price, and the time of the price. */
export function valueRecord(units: bigint, decimals: number | null, price: CachedPrice | undefined) {
  if (decimals === null || price?.usdE12 == null) return { usdValue: null, pricedAt: null };
  return { usdValue: usdText(usdValueAtPrice(units, decimals, price.usdE12)), pricedAt: rfc3339(price.atMs) };
}
