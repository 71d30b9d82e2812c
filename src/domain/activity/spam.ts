import { signedAmountOf, unitsOf } from '#domain/asset/amount.ts';
import type { Valuation, TokenProfile, MarketValue } from '#domain/asset/valuation.ts';
import { tokenProfile, marketValueOf } from '#domain/asset/valuation.ts';
import type { BalanceChange, ChainMovement } from '#domain/asset/movement.ts';
import { concerns, isCollectible } from '#domain/asset/movement.ts';
import { MIN_SHOWN_VALUE, ONE_DOLLAR } from '#domain/asset/price.ts';

/**
 * The reasons for which a rule hides an asset of a foreign transaction, or the whole transaction.
 * Nothing is ever deleted, and a member can always show it.
 *
 * - `ZERO_VALUE`: it moves nothing. A transfer of zero in the vault's name poisons its history.
 * - `LOOKALIKE`: a small value from or to an address that begins and ends like one that the vault
 *   has dealt with. A loss of the vault is none.
 * - `FAKE_TOKEN`: a token that has the name of a listed one, of one that the policy names, or of
 *   the native asset.
 * - `BAIT`: a token or collectible whose name requests an action of its reader.
 * - `MASS_TRANSFER`: a token without a price that goes to many recipients at once.
 * - `LOW_VALUE`: spec part 8, a value below 0.005 USD, or dust of the native asset.
 * - `UNKNOWN_TOKEN`: no source has a price for it or its contract cannot be read, and the vault has
 *   never dealt with it. A collectible has no price.
 * - `REORGED`: the transaction is no longer in its chain.
 * - `DROPPED`: the transaction was unconfirmed and was never mined successfully.
 * - `DISPROVEN`: the transaction moves nothing of the wallet, unlike its record stated.
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
  'DISPROVEN',
] as const;
export type HiddenReason = (typeof HIDDEN_REASONS)[number];

/** A transaction of another signer, as it concerns one wallet. */
export interface SpamCandidate {
  readonly wallet: string;
  /** The account that signed the transaction, or null. No contract can forge it. */
  readonly signer: string | null;
  /** The movements of the whole transaction. */
  readonly movements: readonly ChainMovement[];
  /** The net changes of the record. */
  readonly changes: readonly BalanceChange[];
}

/** The vault's own history of addresses and tokens. */
export interface KnownCounterparties {
  /**
   * Reports whether an address resembles one that the vault has dealt with, and is a different one.
   */
  readonly isLookalike: (address: string) => boolean;
  /** Reports whether the vault has sent this token, or has called its contract. */
  readonly hasSent: (tokenAddress: string) => boolean;
  /** Reports whether the policy in force names this token. */
  readonly hasAdopted: (tokenAddress: string) => boolean;
  /** Reports whether a symbol looks like the one of a token that the policy names. */
  readonly imitatesAdopted: (symbol: string | null) => boolean;
  /** Reports whether the address book of the policy in force has this address. */
  readonly isNamed: (address: string) => boolean;
  /** Reports whether the default balances of the vault list a token of this contract. */
  readonly isShown: (tokenAddress: string) => boolean;
  /** Returns all contracts that the default balances of the vault list. */
  readonly shownTokens: () => ReadonlySet<string>;
}

/**
 * An asset of a foreign transaction that a rule hides: the native asset (null), or all tokens of a
 * contract. The tokens of a collection share their contract and its names, so one rule decides for
 * all of them.
 */
export interface HiddenAsset {
  readonly tokenAddress: string | null;
  readonly reason: HiddenReason;
}

/** Each asset of a transaction is judged by itself: a stranger can add any token to a payment. */
export interface Judgement {
  /** The reason that hides the whole transaction; null when one of its assets is shown. */
  readonly reason: HiddenReason | null;
  readonly hidden: readonly HiddenAsset[];
  /** The number of movements of the assets that are shown. */
  readonly shownMovementCount: number;
}

/** A payment has no more recipients of one token in one transaction. Ours. */
const MAX_RECIPIENTS = 20;

/**
 * A billionth of the native asset's whole unit is dust where no price is known: it is worth half a
 * cent only if the unit is worth five million dollars. Ours. A share of the unit holds for each
 * chain, and every amount that a person would pay is above it.
 */
const DUST_PARTS_OF_UNIT = 10n ** 9n;

/** Returns the judgement of each asset that a transaction moved. */
export function judge(suspect: SpamCandidate, valuation: Valuation, known: KnownCounterparties): Judgement {
  const movements = Map.groupBy(suspect.movements, ({ tokenAddress }) => tokenAddress);
  const changes = Map.groupBy(suspect.changes, ({ tokenAddress }) => tokenAddress);
  const isTrade = suspect.changes.some((change) => isPaid(change, valuation));
  return judgementOf(suspect, (tokenAddress) => {
    const moved = changes.get(tokenAddress);
    // A record has no change of the assets above its limit, and a stranger filled it.
    if (moved === undefined) return 'UNKNOWN_TOKEN';
    return reasonOf({ ...suspect, movements: movements.get(tokenAddress) ?? [], changes: moved }, valuation, {
      ...known,
      isTrade,
    });
  });
}

/** Returns the judgement by the reason that hides each asset; null for one that is shown. */
export function judgementOf(
  { wallet, movements }: Pick<SpamCandidate, 'wallet' | 'movements'>,
  reasonFor: (tokenAddress: string | null) => HiddenReason | null,
): Judgement {
  const assets = Map.groupBy(
    movements.filter((one) => concerns(wallet, one)),
    ({ tokenAddress }) => tokenAddress,
  );
  const judged = [...assets].map(([tokenAddress, { length }]) => ({
    tokenAddress,
    reason: reasonFor(tokenAddress),
    length,
  }));
  const hidden = judged.flatMap(({ tokenAddress, reason }) => (reason === null ? [] : [{ tokenAddress, reason }]));
  return {
    reason: hidden.length < judged.length ? null : reasonOfAll(hidden.map(({ reason }) => reason)),
    hidden,
    shownMovementCount: judged.reduce((sum, { reason, length }) => (reason === null ? sum + length : sum), 0),
  };
}

/**
 * Returns the first reason of the list. That nothing moved is the reason only when it holds for
 * each asset.
 */
function reasonOfAll(reasons: readonly HiddenReason[]): HiddenReason {
  const isFound = (reason: HiddenReason) => reason !== 'ZERO_VALUE' && reasons.includes(reason);
  return HIDDEN_REASONS.find(isFound) ?? 'ZERO_VALUE';
}

/**
 * Returns the reason that hides one asset, or null. `suspect` has the movements and changes of this
 * asset alone.
 */
function reasonOf(
  suspect: SpamCandidate,
  valuation: Valuation,
  known: KnownCounterparties & { readonly isTrade: boolean },
): HiddenReason | null {
  const { wallet, changes } = suspect;
  const tokenAddress = changes[0]?.tokenAddress ?? null;
  const movements = suspect.movements.filter((one) => concerns(wallet, one));
  if (movements.every(({ amount }) => amount === '0')) return 'ZERO_VALUE';
  const gross = grossOf(changes, movements, wallet);
  const value = marketValueOf(gross, valuation);
  const profile = tokenAddress === null ? null : tokenProfile(valuation, tokenAddress);
  const isNamedToken = tokenAddress !== null && (profile?.isListed === true || known.hasAdopted(tokenAddress));
  const isTrusted = tokenAddress === null || isNamedToken || known.hasSent(tokenAddress);
  const isSent = changes.some(({ units }) => unitsOf(units) < 0n);
  // What leaves the wallet is shown, because it may be a theft. A thief chooses the recipient.
  const isLost = isSent && (isTrusted || (tokenAddress !== null && known.isShown(tokenAddress)));
  if ((!isLost || isLittle(value)) && isImitation(movements, value, { wallet, known })) return 'LOOKALIKE';
  if (tokenAddress === null) return gross.some((one) => isNativeDust(one, value, valuation)) ? 'LOW_VALUE' : null;
  if (isTrusted || value.state === 'known') return isLittle(value) ? 'LOW_VALUE' : null;
  if (profile !== null && profile.price.state !== 'known') {
    if (profile.imitates !== null || known.imitatesAdopted(profile.symbol)) return 'FAKE_TOKEN';
    if (profile.hasPhishingText) return 'BAIT';
  }
  const isNamed = suspect.signer !== null && known.isNamed(suspect.signer);
  if (isNamed || known.isTrade || isLost) return null;
  if (profile !== null && profile.price.state !== 'known' && isMassTransfer(suspect)) return 'MASS_TRANSFER';
  if (changes.some(isCollectible) || profile === null || isUnreadable(profile, changes)) return 'UNKNOWN_TOKEN';
  return value.state === 'unknown' ? 'UNKNOWN_TOKEN' : null;
}

/**
 * Reports whether a small amount comes from or goes to an address that imitates a known one. A
 * stranger can add such a transfer to the transaction of a payment, through a bundler. So where no
 * price shows that the amount is small, each transfer of it must have such an address.
 */
function isImitation(
  movements: readonly ChainMovement[],
  value: MarketValue,
  { wallet, known }: Pick<SpamCandidate, 'wallet'> & { readonly known: KnownCounterparties },
): boolean {
  const imitates = ({ from, to }: ChainMovement) =>
    [from, to].some((party) => party !== null && party !== wallet && known.isLookalike(party));
  if (value.state === 'known') return value.usdE30 < ONE_DOLLAR && movements.some(imitates);
  return movements.every((one) => one.amount === '0' || imitates(one));
}

/**
 * Returns the changes with the received amount where as much was sent. The net amount of zero has
 * no value.
 */
function grossOf(
  changes: readonly BalanceChange[],
  movements: readonly ChainMovement[],
  wallet: string,
): readonly BalanceChange[] {
  return changes.map((change) => {
    if (change.units !== '0') return change;
    const received = movements.filter(({ to, tokenId }) => to === wallet && tokenId === change.tokenId);
    return { ...change, units: signedAmountOf(received.reduce((sum, { amount }) => sum + unitsOf(amount), 0n)) };
  });
}

/**
 * Reports whether the wallet gave money: another party filled an order of the vault, or used its
 * allowance. What came in exchange is shown, even if no source knows its value. No stranger can
 * make the wallet give a listed token.
 */
function isPaid(change: BalanceChange, valuation: Valuation): boolean {
  const { tokenAddress, units } = change;
  if (unitsOf(units) >= 0n) return false;
  const value = marketValueOf([change], valuation);
  if (tokenAddress === null) return !isNativeDust(change, value, valuation);
  return tokenProfile(valuation, tokenAddress)?.isListed === true && !isLittle(value);
}

function isNativeDust({ units }: BalanceChange, value: MarketValue, { native }: Valuation): boolean {
  if (value.state === 'known') return isLittle(value);
  const amount = unitsOf(units);
  return (amount < 0n ? -amount : amount) * DUST_PARTS_OF_UNIT <= 10n ** BigInt(native.decimals);
}

function isLittle(value: MarketValue): boolean {
  return value.state === 'known' && value.usdE30 < MIN_SHOWN_VALUE;
}

/** Reports whether more recipients than those of a payment get one token. */
function isMassTransfer({ movements }: SpamCandidate): boolean {
  return new Set(movements.map(({ to }) => to)).size > MAX_RECIPIENTS;
}

/**
 * Reports whether the contract does not say what a person needs in order to read an amount. The
 * mint of a Solana token has no symbol.
 */
function isUnreadable({ symbol, decimals }: TokenProfile, changes: readonly BalanceChange[]): boolean {
  return decimals === null || (symbol === null && changes.some(({ kind }) => kind === 'erc20'));
}
