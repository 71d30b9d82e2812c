import * as z from 'zod';
import { impersonatedToken } from '#chains/inspect/token-impersonation.ts';
import type { TokenLabel } from '#domain/asset/valuation.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { listedToken } from '#domain/asset/chain.ts';
import type { OptionalRules } from '#domain/policy/optional-rules.ts';
import { policyToken, policyTokensOn } from '#domain/policy/optional-rules.ts';
import type { BalanceChange, WalletMovements } from '#domain/asset/movement.ts';
import { MOVEMENT_KINDS } from '#domain/asset/movement.ts';
import type { HiddenReason } from '#domain/activity/spam.ts';
import { HIDDEN_REASONS } from '#domain/activity/spam.ts';

/** The schemas and records of assets and movements, which all responses share. */

const text = z.string();

export const amountSchema = text.regex(/^(0|[1-9][0-9]*)$/).meta({ description: 'Whole number of the smallest unit' });

export const signedAmountSchema = text
  .regex(/^-?(0|[1-9][0-9]*)$/)
  .meta({ description: 'Whole number of the smallest unit, negative for an outgoing amount' });

export const usdSchema = text.regex(/^[0-9]+\.[0-9]{2,6}$/);

/** Who gave an asset its symbol and decimals, from the most trusted source on. */
const ASSET_TRUST = ['native', 'policy', 'listed', 'unlisted'] as const;

export const assetSchema = z.strictObject({
  tokenAddress: text.nullable().meta({ description: 'Null for the native asset' }),
  symbol: text.nullable().meta({ description: 'A claim of the contract when `trust` is `unlisted`' }),
  decimals: z.int().nullable().meta({ description: 'A claim of the contract when `trust` is `unlisted`' }),
  trust: z.enum(ASSET_TRUST).meta({
    description:
      'Source of symbol and decimals. policy: the quorum adopted them with the policy in force. listed: the operator ' +
      'lists the token. unlisted: the contract claims them, and anyone can deploy one; show it with its address',
  }),
  imitates: text.nullable().meta({
    description: 'Symbol of the native, listed or adopted asset of the chain that an unlisted token looks like',
  }),
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

/** Where the names of the assets of a record come from. */
export interface AssetNames {
  readonly chain: Chain | null;
  /** The policy in force, whose tokens precede the list of the operator. */
  readonly rules: OptionalRules;
  /** What the contracts of tokens claim. */
  readonly labels?: readonly TokenLabel[];
}

/**
 * Returns an asset with its symbol and decimals: those of the policy, else of the operator's list
 * of its chain, else those that the contract claims.
 */
export function assetRecord(tokenAddress: string | null, names: AssetNames): z.infer<typeof assetSchema> {
  const { chain, rules, labels = [] } = names;
  if (tokenAddress === null) {
    const { nativeSymbol: symbol = null, nativeDecimals: decimals = null } = chain ?? {};
    return { tokenAddress, symbol, decimals, trust: 'native', imitates: null };
  }
  const adopted = chain === null ? null : policyToken(rules, chain.caip2, tokenAddress);
  const listed = chain === null ? null : listedToken(chain, tokenAddress);
  const named = adopted ?? listed;
  if (named !== null) {
    const { symbol, decimals } = named;
    return { tokenAddress, symbol, decimals, trust: adopted === null ? 'listed' : 'policy', imitates: null };
  }
  const { symbol = null, decimals = null } = labels.find(({ address }) => address === tokenAddress) ?? {};
  const imitates = chain === null ? null : impersonatedToken({ symbol, name: null }, namedOn(chain, rules));
  return { tokenAddress, symbol, decimals, trust: 'unlisted', imitates };
}

/** Returns the assets of a chain that have a trusted name. */
function namedOn({ caip2, nativeSymbol, tokens }: Chain, rules: OptionalRules) {
  return { nativeSymbol, tokens: [...tokens, ...policyTokensOn(rules, caip2)] };
}

/** Returns the movements of a transaction in the wallet; none while it is in no block. */
export function movementsRecord(moved: WalletMovements | null, names: AssetNames) {
  const { movements, movementCount, changes } = moved ?? { movements: [], movementCount: 0, changes: [] };
  return {
    movements: movements.map((one) => ({ ...one, asset: assetRecord(one.tokenAddress, names) })),
    movementCount,
    balanceChanges: changes.map((change) => changeRecord(change, names)),
  };
}

/** Returns the changes that a visible transaction does not show. */
export function hiddenChangesRecord(
  hidden: readonly (BalanceChange & { readonly reason: HiddenReason })[],
  names: AssetNames,
): z.infer<typeof hiddenChangeSchema>[] {
  return hidden.map((change) => ({ ...changeRecord(change, names), hiddenReason: change.reason }));
}

function changeRecord(
  { tokenAddress, tokenId, units }: BalanceChange,
  names: AssetNames,
): z.infer<typeof balanceChangeSchema> {
  return { asset: assetRecord(tokenAddress, names), tokenId, amount: units };
}
