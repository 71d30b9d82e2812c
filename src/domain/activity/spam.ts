import { unitsOf } from '#domain/asset/amount.ts';
import type { Valuation, TokenProfile, MarketValue } from '#domain/asset/valuation.ts';
import { tokenProfile, tokenProfiles, marketValueOf } from '#domain/asset/valuation.ts';
import type { BalanceChange, ChainMovement } from '#domain/activity/movement.ts';
import { concerns, isCollectible } from '#domain/activity/movement.ts';
import { MIN_SHOWN_VALUE, ONE_DOLLAR } from '#domain/asset/price.ts';

/**
 * The reasons for which a rule hides a foreign transaction. Nothing is ever deleted, and a member
 * can always show it.
 *
 * - `ZERO_VALUE`: it moves nothing. A transfer of zero in the vault's name poisons its history.
 * - `LOOKALIKE`: a small value from or to an address that begins and ends like one that the vault
 *   has dealt with.
 * - `FAKE_TOKEN`: a token that has the name of a listed one or of the native asset.
 * - `BAIT`: a token or collectible whose name requests an action of its reader.
 * - `MASS_TRANSFER`: a token without a price that goes to many recipients at once.
 * - `LOW_VALUE`: spec part 8, tokens with a value below 0.005 USD.
 * - `UNKNOWN_TOKEN`: no source has a price for it, and the vault has never sent it.
 * - `REORGED`: it is no longer in its chain.
 * - `DROPPED`: it was unconfirmed and was never mined successfully.
 */
export const HIDDEN_REASONS = [
  'ZERO_VALUE',
  'LOOKALIKE',
  'FAKE_TOKEN',
  'BAIT',
  'MASS_TRANSFER',
  'LOW_VALUE',
  'UNKNOWN_TOKEN',
  'REORGED',
  'DROPPED',
] as const;
export type HiddenReason = (typeof HIDDEN_REASONS)[number];

/** A transaction of another signer, as it concerns one wallet. */
export interface SpamCandidate {
  readonly wallet: string;
  /** The movements of the whole transaction. */
  readonly movements: readonly ChainMovement[];
  readonly changes: readonly BalanceChange[];
}

/** The vault's own history of addresses and tokens. */
export interface KnownCounterparties {
  /**
   * Reports whether an address resembles one that the vault has dealt with, and is a different one.
   */
  readonly isLookalike: (address: string) => boolean;
  /** Reports whether the vault has sent this token itself. */
  readonly hasSent: (tokenAddress: string) => boolean;
}

/**
 * The maximum number of records of one wallet and UTC day that these rules hide. Further ones are
 * not recorded: a stranger can send any number for a fraction of a cent each. A scan on a later day
 * can still record them.
 */
export const MAX_SPAM_PER_DAY = 200;

/** A payment has no more recipients of one token in one transaction. Ours. */
const MAX_RECIPIENTS = 20;

/**
 * Returns the first reason of the list above, or null when the transaction is visible. The native
 * asset is never hidden for a low value.
 */
export function hiddenReasonOf(
  suspect: SpamCandidate,
  valuation: Valuation,
  { isLookalike, hasSent }: KnownCounterparties,
): HiddenReason | null {
  const { wallet, changes } = suspect;
  const movements = suspect.movements.filter((one) => concerns(wallet, one));
  if (movements.every(({ amount }) => amount === '0')) return 'ZERO_VALUE';
  const moved = changes.filter(({ units }) => unitsOf(units) !== 0n);
  const value = marketValueOf(moved, valuation);
  const others = movements.flatMap(({ from, to }) => [from, to]).filter((party) => party !== null && party !== wallet);
  const isSmall = value.state !== 'known' || value.usdE30 < ONE_DOLLAR;
  if (isSmall && others.some((party) => party !== null && isLookalike(party))) return 'LOOKALIKE';
  if (moved.some(({ tokenAddress }) => tokenAddress === null)) return null;
  const isTrusted = ({ tokenAddress }: BalanceChange) =>
    tokenAddress !== null && (hasSent(tokenAddress) || tokenProfile(valuation, tokenAddress)?.isListed === true);
  const trusted = moved.filter(isTrusted);
  if (trusted.length > 0 && !isLittle(marketValueOf(trusted, valuation))) return null;
  const doubtful = moved.filter((change) => !isTrusted(change));
  const reason = suspicion(suspect, tokenProfiles(doubtful, valuation));
  if (reason !== null) return reason;
  if (moved.length === 0 || moved.some(isCollectible)) return null;
  if (isLittle(value)) return 'LOW_VALUE';
  return value.state === 'unknown' ? 'UNKNOWN_TOKEN' : null;
}

function isLittle(value: MarketValue): boolean {
  return value.state === 'known' && value.usdE30 < MIN_SHOWN_VALUE;
}

/**
 * Returns the reason by the tokens themselves. Tokens with a price need no warning about their
 * names.
 */
function suspicion({ movements, changes }: SpamCandidate, facts: readonly TokenProfile[]): HiddenReason | null {
  const unpriced = facts.filter(({ price }) => price.state !== 'known');
  if (unpriced.some(({ imitates }) => imitates !== null)) return 'FAKE_TOKEN';
  if (unpriced.some(({ hasPhishingText }) => hasPhishingText)) return 'BAIT';
  const isMass = changes.some(({ tokenAddress }) => {
    if (!unpriced.some(({ address }) => address === tokenAddress)) return false;
    const recipients = movements.filter((one) => one.tokenAddress === tokenAddress).map(({ to }) => to);
    return new Set(recipients).size > MAX_RECIPIENTS;
  });
  return isMass ? 'MASS_TRANSFER' : null;
}
