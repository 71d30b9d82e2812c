import type { Amount } from '#domain/asset/amount.ts';
import { unitsOf } from '#domain/asset/amount.ts';
import type { Valuation, TokenLabel, UsdValue } from '#domain/asset/valuation.ts';
import { labelsOf, usdValueOf, marketValueOf } from '#domain/asset/valuation.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { displayTypeOf } from '#domain/transaction/classification.ts';
import type { TransactionId, VaultId } from '#domain/id.ts';
import type { ChainMovement, WalletMovements } from '#domain/activity/movement.ts';
import { movementsOf } from '#domain/activity/movement.ts';
import type { KnownCounterparties, HiddenReason } from '#domain/activity/spam.ts';
import { hiddenReasonOf } from '#domain/activity/spam.ts';
import type { DisplayType } from '#domain/transaction/transaction.ts';

/** Where a transaction is in its chain. */
export interface ActivityBlock {
  readonly number: string;
  readonly hash: string;
  /** Blocks, counting its own. */
  readonly confirmations: number;
  /** Beyond any reorganisation. */
  readonly isFinal: boolean;
}

/** A transaction that succeeded, or waits to be mined, as its chain shows it. */
export interface ChainTransaction {
  readonly hash: string;
  /** Who signed it and pays its fee. */
  readonly signer: string;
  /** Null where it is not known before a block has it. */
  readonly fee: Amount | null;
  /** Null while it waits to be mined. */
  readonly block: ActivityBlock | null;
  /** Of one that waits those that its bytes tell for certain, should it be mined. */
  readonly movements: readonly ChainMovement[];
}

/** Of those that wait to be mined: so many are shown of one wallet. Whoever signs one can take it back, and it costs him nothing. Ours. */
export const MAX_UNCONFIRMED = 20;

/**
 * A transaction that the vault did not make and that concerns a wallet of it. The webhook of a monitor is a hint; everything here is
 * what the chain itself has shown.
 */
export interface Activity extends Omit<ChainTransaction, 'movements'>, WalletMovements {
  readonly id: TransactionId;
  readonly vaultId: VaultId;
  /** Grows by one with every change. */
  readonly version: number;
  /** BROADCAST: it waits to be mined. FAILED: its block is gone, or none ever had it, and so is what it brought. */
  readonly state: 'BROADCAST' | 'CONFIRMING' | 'SUCCEEDED' | 'FAILED';
  /** `REORGED`, or `DROPPED`: it waited, and moved nothing, because it was replaced, forgotten, or mined in vain. */
  readonly stateReason: 'REORGED' | 'DROPPED' | null;
  readonly displayType: DisplayType;
  readonly direction: 'in' | 'out';
  readonly visible: boolean;
  /** What a person has chosen, which no rule overrides; null while nobody has. */
  readonly visibilityChoice: boolean | null;
  /** Why a rule hides it; null when none does. */
  readonly hiddenReason: HiddenReason | null;
  /** What it looked like when it was first appraised: stays when its block goes and comes. */
  readonly suspicion: HiddenReason | null;
  readonly usdValue: UsdValue | null;
  /** What the tokens call themselves. */
  readonly tokens: readonly TokenLabel[];
  /** A source of prices could not be asked: it is appraised again. */
  readonly appraisalPending: boolean;
  /** Canonical name of the chain. */
  readonly chain: string;
  /** The vault's own address. */
  readonly wallet: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** What it means for one wallet. */
interface WalletView extends WalletMovements {
  readonly displayType: DisplayType;
  readonly direction: 'in' | 'out';
}

/** What a transaction of others means for a wallet; null when it does not concern it. */
export function viewFor(
  wallet: string,
  transaction: ChainTransaction,
  chain: Pick<Chain, 'tokens'>,
): WalletView | null {
  const moved = movementsOf(wallet, transaction.movements, chain);
  const isSigner = transaction.signer === wallet;
  if (moved.movementCount === 0 && !isSigner) return null;
  const changes = moved.changes.map(({ units }) => unitsOf(units));
  const [came, went] = [changes.some((units) => units > 0n), changes.some((units) => units < 0n)];
  return {
    ...moved,
    displayType: displayTypeOf(moved.changes, isSigner),
    direction: went || (isSigner && !came) ? 'out' : 'in',
  };
}

type Assessment = Pick<Activity, 'suspicion' | 'usdValue' | 'tokens' | 'appraisalPending'>;

/** What it looks like, and what it is worth. What the wallet has signed itself is no spam. */
function assess(wallet: string, view: WalletView, { seen, valuation, acquaintance }: SomethingSeen): Assessment {
  const { changes } = view;
  const suspect = { wallet, movements: seen.movements, changes };
  return {
    suspicion: seen.signer === wallet ? null : hiddenReasonOf(suspect, valuation, acquaintance),
    usdValue: usdValueOf(changes, valuation),
    tokens: labelsOf(changes, valuation),
    appraisalPending: marketValueOf(changes, valuation).state === 'unavailable',
  };
}

export interface ObservedTransaction {
  /** Null: its chain does not have it (any more). */
  readonly seen: ChainTransaction | null;
  /** Null: nobody was asked this time. */
  readonly valuation: Valuation | null;
  readonly chain: Chain;
  readonly acquaintance: KnownCounterparties;
  readonly nowMs: number;
}

type SomethingSeen = ObservedTransaction & { readonly seen: ChainTransaction; readonly valuation: Valuation };

/** A source of prices that is away for so long is waited for no more: the record stays as it is. */
const VALUATION_MS = 24 * 60 * 60 * 1000;

/** What waits and is not found is believed to be gone after so many polls since it was sighted: other nodes hear of it later. */
const PROPAGATION_POLLS = 20;

/**
 * The record after a look at its chain; the same object when nothing is new. It goes from BROADCAST to CONFIRMING, to SUCCEEDED and to
 * final. When its block is gone it is FAILED until a block has it again, and so is what waited when nobody knows of it any more; that it
 * waits (again) says nothing about a record that has been further. What is final stays, but for its appraisal.
 */
export function updatedActivity(activity: Activity, observed: ObservedTransaction): Activity {
  const { seen, chain, nowMs } = observed;
  const changed = (change: Partial<Activity>): Activity => {
    const { version } = activity;
    return shown({ ...activity, ...change, version: version + 1, updatedAtMs: nowMs });
  };
  if (seen === null) {
    if (activity.state === 'FAILED' || activity.block?.isFinal === true) return activity;
    if (activity.block !== null) return changed({ state: 'FAILED', stateReason: 'REORGED' });
    const isYoung = nowMs - activity.updatedAtMs < PROPAGATION_POLLS * chain.pollIntervalMs;
    return isYoung ? activity : changed({ state: 'FAILED', stateReason: 'DROPPED' });
  }
  const view = fullerView(activity, seen, chain);
  if (view === null || seen.block === null) return activity;
  const assessed = assessAgain(activity, view, observed);
  if (activity.block?.isFinal === true) return assessed === null ? activity : changed(assessed);
  // What it moves was only promised: without a new appraisal it is looked at once more.
  if (activity.block === null && assessed === null) return activity;
  const state = stateAt(seen.block, chain);
  const isSame =
    activity.state === state &&
    activity.block?.hash === seen.block.hash &&
    activity.block.isFinal === seen.block.isFinal &&
    activity.movementCount === view.movementCount &&
    assessed === null;
  return isSame ? activity : changed({ ...seen, ...view, ...assessed, state, stateReason: null });
}

/**
 * What it means for the wallet. What contracts paid a node can tell for as long as it has the state, which is often gone before the block is
 * final: where a look at the same block shows nothing of it, what was seen of it before still holds. The rest stands in the receipt.
 */
function fullerView(activity: Activity, seen: ChainTransaction, chain: Pick<Chain, 'tokens'>): WalletView | null {
  const isInternal = ({ kind }: ChainMovement) => kind === 'internal';
  const isSameBlock = activity.block !== null && activity.block.hash === seen.block?.hash;
  const known = isSameBlock && !seen.movements.some(isInternal) ? activity.movements.filter(isInternal) : [];
  return viewFor(activity.wallet, { ...seen, movements: [...seen.movements, ...known] }, chain);
}

function stateAt(block: ActivityBlock | null, chain: Pick<Chain, 'confirmations'>): Activity['state'] {
  if (block === null) return 'BROADCAST';
  return block.confirmations >= chain.confirmations ? 'SUCCEEDED' : 'CONFIRMING';
}

/** By the prices of the first time that there were any, and of when a block had it first; null when nothing is to be changed. */
function assessAgain(activity: Activity, view: WalletView, observed: ObservedTransaction): Partial<Assessment> | null {
  const { seen, valuation, nowMs } = observed;
  if (!needsValuation(activity) || seen === null) return null;
  const assessed = valuation === null ? null : assess(activity.wallet, view, { ...observed, seen, valuation });
  if (activity.block === null) return assessed;
  if (nowMs - activity.createdAtMs > VALUATION_MS) return { appraisalPending: false };
  return assessed?.appraisalPending === false ? assessed : null;
}

/** The record of a first look; null when it does not concern the wallet. */
export function newActivity(
  identity: Pick<Activity, 'id' | 'vaultId' | 'wallet'>,
  observed: SomethingSeen,
): Activity | null {
  const { seen, chain, nowMs } = observed;
  const view = viewFor(identity.wallet, seen, chain);
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

/** Whether it has to be looked at again: until its block is beyond any reorganisation, or gone, and it is appraised. */
export function isWatched({ state, block, appraisalPending }: Activity): boolean {
  return state !== 'FAILED' && (block?.isFinal !== true || appraisalPending);
}

/** Whether the next look at it is to bring an appraisal. */
export function needsValuation({ block, appraisalPending }: Activity): boolean {
  return block === null || appraisalPending;
}

/** Visible as a person has chosen, else as the rules have it. */
export function shown(activity: Activity): Activity {
  const hiddenReason = activity.state === 'FAILED' ? activity.stateReason : activity.suspicion;
  return { ...activity, hiddenReason, visible: activity.visibilityChoice ?? hiddenReason === null };
}
