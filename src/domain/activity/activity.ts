import type { Amount } from '#domain/asset/amount.ts';
import type { Valuation, TokenLabel, UsdValue } from '#domain/asset/valuation.ts';
import { labelsOf, usdValueOf, marketValueOf } from '#domain/asset/valuation.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { displayTypeOf } from '#domain/transaction/classification.ts';
import type { TransactionId, VaultId } from '#domain/id.ts';
import type { ChainMovement, WalletMovements } from '#domain/asset/movement.ts';
import type { ReadingProof } from '#domain/activity/correction.ts';
import { hasOtherContents, isFinalRecord, UNPROVEN } from '#domain/activity/correction.ts';
import { changedAssets, movementsOf } from '#domain/asset/movement.ts';
import type { HiddenPart } from '#domain/activity/shown-part.ts';
import { directionOf, shownPart } from '#domain/activity/shown-part.ts';
import type { HiddenReason, Judgement, KnownCounterparties } from '#domain/activity/spam.ts';
import { judge, judgementOf } from '#domain/activity/spam.ts';
import type { DisplayType } from '#domain/transaction/transaction.ts';

/** The block of a transaction. */
export interface ActivityBlock {
  readonly number: string;
  readonly hash: string;
  /** The number of blocks, including its own. */
  readonly confirmations: number;
  /** No reorg can remove the block any more. */
  readonly isFinal: boolean;
}

/** A transaction that succeeded or waits to be mined, as its chain shows it. */
export interface ChainTransaction {
  readonly hash: string;
  /**
   * The account that signed the transaction and pays its fee; null for one that no key signed, such
   * as a deposit from another layer.
   */
  readonly signer: string | null;
  /** Null when it is unknown before the transaction is in a block. */
  readonly fee: Amount | null;
  /** Null while the transaction waits to be mined. */
  readonly block: ActivityBlock | null;
  /**
   * For an unconfirmed transaction, only movements that its bytes determine for certain if it is
   * mined.
   */
  readonly movements: readonly ChainMovement[];
  /** The texts that it writes on the chain, one in a line (Solana); absent without any. */
  readonly memo?: string;
}

/**
 * - `REORGED`: its block was removed.
 * - `DROPPED`: it was unconfirmed and moved nothing, because it was replaced, dropped or mined
 *   without success.
 * - `DISPROVEN`: it is in the chain and moves nothing of the wallet, unlike the record stated.
 * - `CONTENTS_CORRECTED`: the contents of the final record were false, and have been replaced.
 */
export const ACTIVITY_REASONS = ['REORGED', 'DROPPED', 'DISPROVEN', 'CONTENTS_CORRECTED'] as const;
type ActivityReason = (typeof ACTIVITY_REASONS)[number];

/**
 * The maximum number of unconfirmed activities that one wallet shows. The signer of such a
 * transaction can replace it, at no cost. Ours.
 */
export const MAX_UNCONFIRMED = 20;

/**
 * A transaction that the vault did not make and that concerns one of its wallets. The webhook of a
 * monitor is only a hint: all of these fields come from the chain itself.
 */
export interface Activity extends Omit<ChainTransaction, 'movements'>, WalletMovements {
  readonly id: TransactionId;
  readonly vaultId: VaultId;
  /** Increases by one with every change. */
  readonly version: number;
  /**
   * BROADCAST: it waits to be mined. FAILED: its movements do not count, because no block has it
   * (any more), or because it moved nothing of the wallet.
   */
  readonly state: 'BROADCAST' | 'CONFIRMING' | 'SUCCEEDED' | 'FAILED';
  readonly stateReason: ActivityReason | null;
  readonly displayType: DisplayType;
  readonly direction: 'in' | 'out';
  readonly visible: boolean;
  /** The choice of a member, which no rule overrides; null without a choice. */
  readonly visibilityChoice: boolean | null;
  /** Why a rule hides the activity; null when no rule does. */
  readonly hiddenReason: HiddenReason | null;
  /**
   * The suspicion at the first valuation. It stays when the block is removed and included again.
   */
  readonly suspicion: HiddenReason | null;
  /**
   * The assets that a rule hides, in a hidden record and in one that is shown; null without any.
   * Absent in records of release 0.2.0, which were judged as a whole.
   */
  readonly hiddenPart?: HiddenPart | null;
  /** The market value of all assets, hidden ones included. */
  readonly usdValue: UsdValue | null;
  /** The names and symbols that the tokens give themselves. */
  readonly tokens: readonly TokenLabel[];
  /** A price source was unavailable, so the valuation is retried. */
  readonly appraisalPending: boolean;
  /** A daily limit leaves it out of the lists: only the ledger has it. */
  readonly isOmitted?: boolean;
  /** Canonical name of the chain. */
  readonly chain: string;
  /** The vault's own address. */
  readonly wallet: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** The effect of a transaction on one wallet. */
interface WalletView extends WalletMovements {
  readonly displayType: DisplayType;
  readonly direction: 'in' | 'out';
}

/**
 * Returns the effect of a foreign transaction on a wallet, or null when it does not concern the
 * wallet.
 */
export function viewFor(
  wallet: string,
  transaction: ChainTransaction,
  chain: Pick<Chain, 'tokens'>,
  known?: Pick<KnownCounterparties, 'shownTokens'>,
): WalletView | null {
  const moved = movementsOf(wallet, transaction.movements, chain, known?.shownTokens);
  const isSigner = transaction.signer === wallet;
  if (moved.movementCount === 0 && !isSigner) return null;
  return {
    ...moved,
    displayType: displayTypeOf(moved.changes, isSigner),
    direction: directionOf(moved.changes, isSigner),
  };
}

type Assessment = Pick<Activity, 'suspicion' | 'hiddenPart' | 'usdValue' | 'tokens' | 'appraisalPending'>;

/**
 * Returns the suspicion and the market value. A transaction that the wallet signed itself is never
 * spam.
 */
function assess(wallet: string, view: WalletView, { seen, valuation, acquaintance }: SomethingSeen): Assessment {
  const { changes } = view;
  const { signer, movements } = seen;
  const judgement = signer === wallet ? null : judge({ wallet, signer, movements, changes }, valuation, acquaintance);
  return {
    ...partOf(view, judgement, (some) => usdValueOf(some, valuation)),
    usdValue: usdValueOf(changes, valuation),
    tokens: labelsOf(changes, valuation),
    appraisalPending: marketValueOf(changes, valuation).state === 'unavailable',
  };
}

/**
 * Returns the judgement as a record stores it: only assets that the record has, because a stranger
 * can move ten thousand.
 */
function partOf(
  { movements, changes }: WalletMovements,
  judgement: Judgement | null,
  valueOf: (shown: WalletMovements['changes']) => UsdValue | null,
): Pick<Assessment, 'suspicion' | 'hiddenPart'> {
  if (judgement === null || judgement.hidden.length === 0) return { suspicion: null, hiddenPart: null };
  const { reason, shownMovementCount } = judgement;
  const recorded = new Set([...changes, ...movements].map(({ tokenAddress }) => tokenAddress));
  const assets = judgement.hidden.filter(({ tokenAddress }) => recorded.has(tokenAddress));
  const isHidden = new Set(assets.map(({ tokenAddress }) => tokenAddress));
  const usdValue = valueOf(changes.filter(({ tokenAddress }) => !isHidden.has(tokenAddress)));
  return { suspicion: reason, hiddenPart: { assets, shownMovementCount, usdValue } };
}

export interface ObservedTransaction {
  /** Null when the chain does not show the transaction (any more). */
  readonly seen: ChainTransaction | null;
  /** Not proven when absent. */
  readonly proof?: ReadingProof;
  /** Null when no price source was called this time. */
  readonly valuation: Valuation | null;
  readonly chain: Chain;
  readonly acquaintance: KnownCounterparties;
  readonly nowMs: number;
}

type SomethingSeen = ObservedTransaction & { readonly seen: ChainTransaction; readonly valuation: Valuation };

/**
 * The time limit for an unavailable price source. After it, the record stays without a valuation.
 */
const VALUATION_MS = 24 * 60 * 60 * 1000;

/**
 * An unconfirmed transaction that is not found is dropped after this many polls since its last
 * change. It reaches other RPC nodes later.
 */
const PROPAGATION_POLLS = 20;

/**
 * Returns the record after a poll of its chain; returns the same object when nothing changed. The
 * state goes from BROADCAST to CONFIRMING, to SUCCEEDED and to final. An activity whose block is
 * removed is FAILED until a block has it again. An unconfirmed activity that no RPC node knows any
 * more is FAILED, too. That a transaction is (again) unconfirmed does not change a record that was
 * further. A final record changes by its valuation, and by what two RPC nodes state otherwise.
 */
export function updatedActivity(activity: Activity, observed: ObservedTransaction): Activity {
  const { seen, chain, nowMs, proof = UNPROVEN } = observed;
  const isEnded = isFinalRecord(activity);
  const changed = (change: Partial<Activity>): Activity => {
    const { version } = activity;
    return shown({ ...activity, ...change, version: version + 1, updatedAtMs: nowMs });
  };
  if (seen === null) {
    if (activity.state === 'FAILED' || (isEnded && !proof.isByTwo)) return activity;
    if (activity.block !== null) return changed({ state: 'FAILED', stateReason: 'REORGED' });
    const isYoung = nowMs - activity.updatedAtMs < PROPAGATION_POLLS * chain.pollIntervalMs;
    return isYoung ? activity : changed({ state: 'FAILED', stateReason: 'DROPPED' });
  }
  const fuller = fullerTransaction(activity, seen, proof);
  const view = viewFor(activity.wallet, fuller, chain, observed.acquaintance);
  if (seen.block === null) return activity;
  if (view === null) {
    const isDisproven = activity.state !== 'FAILED' && (isEnded ? proof.isByTwo && seen.block.isFinal : proof.isTraced);
    return isDisproven ? changed({ state: 'FAILED', stateReason: 'DISPROVEN' }) : activity;
  }
  const isCorrection = isEnded && proof.isByTwo && seen.block.isFinal && hasOtherContents(activity, fuller, view);
  const assessed = assessAgain(activity, view, { ...observed, seen: fuller, isFixed: isEnded && !isCorrection });
  if (isCorrection)
    return changed({ ...seen, ...view, ...assessed, state: 'SUCCEEDED', stateReason: 'CONTENTS_CORRECTED' });
  if (isEnded) return assessed === null ? activity : changed(assessed);
  // The movements were only predicted. Without a new valuation the transaction is polled once more.
  if (activity.block === null && assessed === null) return activity;
  const state = stateAt(seen.block, chain);
  const isSame =
    activity.state === state &&
    activity.block?.hash === seen.block.hash &&
    activity.block.isFinal === seen.block.isFinal &&
    activity.movementCount === view.movementCount &&
    (seen.memo === undefined || activity.memo === seen.memo) &&
    assessed === null;
  return isSame ? activity : changed({ ...seen, ...view, ...assessed, state, stateReason: null });
}

/**
 * Returns the transaction with what was observed before and needs the state of the block: payments
 * by contracts, and the ids of collectibles from before ERC-721. An RPC node has the state only for
 * a time, which often ends before the block is final. When a poll of the same block shows no such
 * payment, the known ones still hold unless each node traced it, and an id is not read as an
 * amount. Everything else is in the receipt.
 */
function fullerTransaction(activity: Activity, seen: ChainTransaction, { isTraced }: ReadingProof): ChainTransaction {
  const collectibles = new Map(activity.movements.filter(({ kind }) => kind === 'erc721').map((one) => [one.uid, one]));
  const asBefore = (one: ChainMovement) => {
    const before = one.kind === 'erc20' ? collectibles.get(one.uid) : undefined;
    return before?.tokenAddress === one.tokenAddress && before.tokenId === one.amount ? before : one;
  };
  const isInternal = ({ kind }: ChainMovement) => kind === 'internal';
  const isSameBlock = activity.block !== null && activity.block.hash === seen.block?.hash;
  const isKept = isSameBlock && !isTraced && !seen.movements.some(isInternal);
  const known = isKept ? activity.movements.filter(isInternal) : [];
  const movements = isSameBlock ? seen.movements.map(asBefore) : seen.movements;
  return { ...seen, movements: [...movements, ...known] };
}

function stateAt(block: ActivityBlock | null, chain: Pick<Chain, 'confirmations'>): Activity['state'] {
  if (block === null) return 'BROADCAST';
  return block.confirmations >= chain.confirmations ? 'SUCCEEDED' : 'CONFIRMING';
}

/**
 * Returns the assessment with the first available prices, and again when a block first has the
 * transaction or shows other amounts; null when nothing changes.
 */
function assessAgain(
  activity: Activity,
  view: WalletView,
  observed: ObservedTransaction & { readonly seen: ChainTransaction; readonly isFixed: boolean },
): Partial<Assessment> | null {
  const { valuation, nowMs, isFixed } = observed;
  const movedOtherwise = !isFixed && changedAssets(activity, view).size > 0;
  if (!needsValuation(activity) && !movedOtherwise) return null;
  const assessed = valuation === null ? null : assess(activity.wallet, view, { ...observed, valuation });
  if (activity.block === null) return assessed;
  if (movedOtherwise) return assessed ?? carriedOver(activity, view, observed);
  if (nowMs - activity.createdAtMs > VALUATION_MS) return { appraisalPending: false };
  return assessed?.appraisalPending === false ? assessed : null;
}

/**
 * Returns the assessment of a record whose amounts changed while no price was requested. The
 * judgement of the other assets stays. A payment that became known only now must not stay hidden
 * as the dust beside it was, and a new token of a stranger must not be shown without a judgement.
 */
function carriedOver(
  activity: Activity,
  view: WalletView,
  { seen, chain, acquaintance }: ObservedTransaction & { readonly seen: ChainTransaction },
): Partial<Assessment> {
  const { wallet, hiddenPart } = activity;
  if (seen.signer === wallet || hiddenPart === undefined) return { appraisalPending: true };
  const suspect = { wallet, signer: seen.signer, movements: seen.movements, changes: view.changes };
  const fresh = new Map(
    judge(suspect, withoutPrices(chain), acquaintance).hidden.map(({ tokenAddress, reason }) => [tokenAddress, reason]),
  );
  const old = new Map(hiddenPart?.assets.map(({ tokenAddress, reason }) => [tokenAddress, reason]));
  const changed = changedAssets(activity, view);
  const judgement = judgementOf(
    suspect,
    (tokenAddress) => (changed.has(tokenAddress) ? fresh : old).get(tokenAddress) ?? null,
  );
  return { ...partOf(view, judgement, () => null), appraisalPending: true };
}

/** Returns the valuation of a chain while no price is known. */
function withoutPrices({ nativeDecimals, tokens }: Chain): Valuation {
  const price = { state: 'unavailable' } as const;
  const facts = { price, isListed: true, imitates: null, hasPhishingText: false };
  return {
    native: { price, decimals: nativeDecimals },
    tokens: tokens.map(({ address, symbol, decimals }) => ({ address, symbol, decimals, ...facts })),
  };
}

/**
 * Returns the record of a first observation, or null when the transaction does not concern the
 * wallet.
 */
export function newActivity(
  identity: Pick<Activity, 'id' | 'vaultId' | 'wallet'>,
  observed: SomethingSeen,
): Activity | null {
  const { seen, chain, nowMs } = observed;
  const view = viewFor(identity.wallet, seen, chain, observed.acquaintance);
  if (view === null) return null;
  return shown({
    ...identity,
    ...seen,
    ...view,
    ...assess(identity.wallet, view, observed),
    chain: chain.name,
    version: 1,
    state: stateAt(seen.block, chain),
    stateReason: null,
    visible: true,
    hiddenReason: null,
    visibilityChoice: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  });
}

/**
 * Reports whether the activity must be polled again: until its block is final or removed, and its
 * valuation is done.
 */
export function isWatched(activity: Activity): boolean {
  return activity.state !== 'FAILED' && (activity.block?.isFinal !== true || needsValuation(activity));
}

/** Reports whether the next poll must include a valuation. */
export function needsValuation({ block, appraisalPending, isOmitted }: Activity): boolean {
  return isOmitted !== true && (block === null || appraisalPending);
}

/**
 * Returns the activity with its visibility: the member's choice, or else the result of the rules.
 * Its type and direction are those of the assets that are shown.
 */
export function shown(activity: Activity): Activity {
  const { state, stateReason, suspicion } = activity;
  const isRefuted = state === 'FAILED' && stateReason !== 'CONTENTS_CORRECTED';
  const hiddenReason = isRefuted ? stateReason : suspicion;
  const visible = activity.visibilityChoice ?? hiddenReason === null;
  const judged = { ...activity, hiddenReason, visible };
  // Records of before keep the type that they were given.
  if (activity.hiddenPart === undefined) return judged;
  const { displayType, direction } = shownPart(judged);
  return { ...judged, displayType, direction };
}
