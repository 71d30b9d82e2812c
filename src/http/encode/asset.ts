import * as z from 'zod';
import type { TokenLabel } from '#domain/asset/valuation.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { listedToken } from '#domain/asset/chain.ts';
import type { BalanceChange, WalletMovements } from '#domain/activity/movement.ts';
import { MOVEMENT_KINDS } from '#domain/activity/movement.ts';
import type { HiddenReason } from '#domain/activity/spam.ts';
import { HIDDEN_REASONS } from '#domain/activity/spam.ts';

/** The schemas and records of assets and movements, which all responses share. */

const text = z.string();

export const amountSchema = text.regex(/^(0|[1-9][0-9]*)$/).meta({ description: 'Whole number of the smallest unit' });

export const signedAmountSchema = text
  .regex(/^-?(0|[1-9][0-9]*)$/)
  .meta({ description: 'Whole number of the smallest unit, negative for an outgoing amount' });

export const usdSchema = text.regex(/^[0-9]+\.[0-9]{2,6}$/);

export const assetSchema = z.strictObject({
  tokenAddress: text.nullable().meta({ description: 'Null for the native asset' }),
  symbol: text.nullable().meta({ description: 'Unverified for a token that is not listed: reported by its contract' }),
  decimals: z.int().nullable(),
});

export const movementSchema = z.strictObject({
  uid: text.meta({ description: 'Identifies the movement within its transaction, whichever source reports it' }),
  kind: z.enum(MOVEMENT_KINDS),
  from: text.nullable().meta({ description: 'Null for a mint' }),
  to: text.nullable().meta({ description: 'Null for a burn' }),
  tokenAddress: text.nullable(),
  tokenId: text.nullable(),
  amount: amountSchema,
  asset: assetSchema,
});

export const balanceChangeSchema = z.strictObject({
  asset: assetSchema,
  tokenId: text.nullable().meta({ description: 'Token id within a collection' }),
  amount: signedAmountSchema,
});

export const hiddenChangeSchema = z.strictObject({
  ...balanceChangeSchema.shape,
  hiddenReason: z.enum(HIDDEN_REASONS).meta({ description: 'Rule that hides the asset' }),
});

/**
 * Returns an asset with its symbol and decimals: those of the token list of its chain, else those
 * that the token contract reports.
 */
export function assetRecord(
  tokenAddress: string | null,
  chain: Chain | null,
  labels: readonly TokenLabel[] = [],
): z.infer<typeof assetSchema> {
  if (tokenAddress === null) {
    return { tokenAddress, symbol: chain?.nativeSymbol ?? null, decimals: chain?.nativeDecimals ?? null };
  }
  const listed = chain === null ? null : listedToken(chain, tokenAddress);
  const label = listed ?? labels.find(({ address }) => address === tokenAddress);
  return { tokenAddress, symbol: label?.symbol ?? null, decimals: label?.decimals ?? null };
}

/** Returns the movements of a transaction in the wallet; none while it is in no block. */
export function movementsRecord(
  moved: WalletMovements | null,
  chain: Chain | null,
  labels: readonly TokenLabel[] = [],
) {
  const { movements, movementCount, changes } = moved ?? { movements: [], movementCount: 0, changes: [] };
  return {
    movements: movements.map((one) => ({ ...one, asset: assetRecord(one.tokenAddress, chain, labels) })),
    movementCount,
    balanceChanges: changes.map((change) => changeRecord(change, chain, labels)),
  };
}

/** Returns the changes that a visible transaction does not show. */
export function hiddenChangesRecord(
  hidden: readonly (BalanceChange & { readonly reason: HiddenReason })[],
  chain: Chain | null,
  labels: readonly TokenLabel[],
): z.infer<typeof hiddenChangeSchema>[] {
  return hidden.map((change) => ({ ...changeRecord(change, chain, labels), hiddenReason: change.reason }));
}

function changeRecord(
  { tokenAddress, tokenId, units }: BalanceChange,
  chain: Chain | null,
  labels: readonly TokenLabel[],
): z.infer<typeof balanceChangeSchema> {
  return { asset: assetRecord(tokenAddress, chain, labels), tokenId, amount: units };
}
