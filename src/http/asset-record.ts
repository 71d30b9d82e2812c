import * as z from 'zod';
import type { Chain } from '#domain/chain.ts';
import type { WalletMovements } from '#domain/movement.ts';
import { MOVEMENT_KINDS } from '#domain/movement.ts';

/** How an asset, and what moved of it, stands in every answer. */

const text = z.string();

export const amountSchema = text.regex(/^(0|[1-9][0-9]*)$/).meta({ description: 'Whole number of the smallest unit' });

export const signedAmountSchema = text
  .regex(/^-?(0|[1-9][0-9]*)$/)
  .meta({ description: 'Whole number of the smallest unit; negative went' });

export const assetSchema = z.strictObject({
  tokenAddress: text.nullable().meta({ description: 'Null for the native asset' }),
  symbol: text.nullable(),
  decimals: z.int().nullable(),
});

export const movementSchema = z.strictObject({
  uid: text.meta({ description: 'Names it within its transaction, whoever reports it' }),
  kind: z.enum(MOVEMENT_KINDS),
  from: text.nullable().meta({ description: 'Null for made out of nothing' }),
  to: text.nullable().meta({ description: 'Null for destroyed' }),
  tokenAddress: text.nullable(),
  tokenId: text.nullable(),
  amount: amountSchema,
  asset: assetSchema,
});

export const balanceChangeSchema = z.strictObject({
  asset: assetSchema,
  tokenId: text.nullable().meta({ description: 'Of one token of a collection' }),
  amount: signedAmountSchema,
});

export function assetRecord(tokenAddress: string | null, chain: Chain | null): z.infer<typeof assetSchema> {
  return tokenAddress === null
    ? { tokenAddress, symbol: chain?.nativeSymbol ?? null, decimals: chain?.nativeDecimals ?? null }
    : { tokenAddress, symbol: null, decimals: null };
}

/** What a transaction did to the wallet; nothing while it is in no block. */
export function movementsRecord(moved: WalletMovements | null, chain: Chain | null) {
  const { movements, movementCount, changes } = moved ?? { movements: [], movementCount: 0, changes: [] };
  return {
    movements: movements.map((movement) => ({ ...movement, asset: assetRecord(movement.tokenAddress, chain) })),
    movementCount,
    balanceChanges: changes.map(({ tokenAddress, tokenId, units }) => {
      return { asset: assetRecord(tokenAddress, chain), tokenId, amount: units };
    }),
  };
}
