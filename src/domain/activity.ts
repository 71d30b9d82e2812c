import type { Amount } from '#domain/amount.ts';
import { unitsOf } from '#domain/amount.ts';
import { displayTypeOf } from '#domain/classification.ts';
import type { TransactionId, VaultId } from '#domain/id.ts';
import type { ChainMovement, WalletMovements } from '#domain/movement.ts';
import { concerns, movementsOf } from '#domain/movement.ts';
import type { DisplayType } from '#domain/transaction.ts';

/** Where a transaction is in its chain. */
export interface ActivityBlock {
  readonly number: string;
  readonly hash: string;
  /** Blocks, counting its own. */
  readonly confirmations: number;
  /** Beyond any reorganisation. */
  readonly isFinal: boolean;
}

/** A transaction that succeeded, as its chain shows it. */
export interface ChainTransaction {
  readonly hash: string;
  /** Who signed it and pays its fee. */
  readonly signer: string;
  readonly fee: Amount;
  readonly block: ActivityBlock;
  readonly movements: readonly ChainMovement[];
}

/**
 * A transaction that the vault did not make and that concerns a wallet of it. The webhook of a monitor is a hint; everything here is
 * what the chain itself has shown.
 */
export interface Activity extends Omit<ChainTransaction, 'movements'>, WalletMovements {
  readonly id: TransactionId;
  readonly vaultId: VaultId;
  /** Grows by one with every change. */
  readonly version: number;
  /** FAILED: its block is gone, and so is what it brought. */
  readonly state: 'CONFIRMING' | 'SUCCEEDED' | 'FAILED';
  readonly stateReason: string | null;
  readonly displayType: DisplayType;
  readonly direction: 'in' | 'out';
  readonly visible: boolean;
  /** What a person has chosen, which no rule overrides; null while nobody has. */
  readonly visibilityChoice: boolean | null;
  /** Why a rule hides it; null when none does. */
  readonly hiddenReason: HiddenReason | null;
  /** Canonical name of the chain. */
  readonly chain: string;
  /** The vault's own address. */
  readonly wallet: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

/** `ZERO_VALUE`: nothing is moved by it, which is how addresses are poisoned. `REORGED`: it is not there any more. */
type HiddenReason = 'ZERO_VALUE' | 'REORGED';

/** What it means for one wallet. */
export interface WalletView extends WalletMovements {
  readonly displayType: DisplayType;
  readonly direction: 'in' | 'out';
  readonly hiddenReason: 'ZERO_VALUE' | null;
}

/** What a transaction of others means for a wallet; null when it does not concern it. */
export function viewFor(wallet: string, transaction: ChainTransaction): WalletView | null {
  const moved = movementsOf(wallet, transaction.movements);
  const isSigner = transaction.signer === wallet;
  if (moved.movementCount === 0 && !isSigner) return null;
  const changes = moved.changes.map(({ units }) => unitsOf(units));
  const [came, went] = [changes.some((units) => units > 0n), changes.some((units) => units < 0n)];
  const movesNothing = transaction.movements.every((one) => one.amount === '0' || !concerns(wallet, one));
  return {
    ...moved,
    displayType: displayTypeOf(moved.changes, isSigner),
    direction: went || (isSigner && !came) ? 'out' : 'in',
    hiddenReason: movesNothing && !isSigner ? 'ZERO_VALUE' : null,
  };
}

export interface Sighting {
  /** Null: its chain does not have it (any more). */
  readonly seen: ChainTransaction | null;
  readonly confirmationsNeeded: number;
  readonly nowMs: number;
}

/**
 * The record after a look at its chain; the same object when nothing is new. It goes from CONFIRMING to SUCCEEDED and to final. When
 * its block is gone it is FAILED until a block has it again; what is final stays.
 */
export function observe(activity: Activity, { seen, confirmationsNeeded, nowMs }: Sighting): Activity {
  if (activity.block.isFinal) return activity;
  const changed = (change: Partial<Activity>): Activity => {
    const { version } = activity;
    return shown({ ...activity, ...change, version: version + 1, updatedAtMs: nowMs });
  };
  if (seen === null) {
    return activity.state === 'FAILED'
      ? activity
      : changed({ state: 'FAILED', stateReason: 'REORGED', hiddenReason: 'REORGED' });
  }
  const view = viewFor(activity.wallet, seen);
  if (view === null) return activity;
  const state = seen.block.confirmations >= confirmationsNeeded ? 'SUCCEEDED' : 'CONFIRMING';
  const isSame =
    activity.state === state &&
    activity.block.hash === seen.block.hash &&
    activity.block.isFinal === seen.block.isFinal;
  return isSame ? activity : changed({ ...seen, ...view, state, stateReason: null });
}

/** The record of a first look. */
export function firstSeen(
  place: Pick<Activity, 'id' | 'vaultId' | 'chain' | 'wallet'>,
  { seen, confirmationsNeeded, nowMs }: Sighting & { readonly seen: ChainTransaction },
): Activity | null {
  const view = viewFor(place.wallet, seen);
  if (view === null) return null;
  return shown({
    ...place,
    ...seen,
    ...view,
    version: 1,
    state: seen.block.confirmations >= confirmationsNeeded ? 'SUCCEEDED' : 'CONFIRMING',
    stateReason: null,
    visible: true,
    visibilityChoice: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  });
}

/** Whether its chain has to be looked at again: until its block is beyond any reorganisation, or gone. */
export function isWatched({ state, block }: Activity): boolean {
  return state !== 'FAILED' && !block.isFinal;
}

/** Visible as a person has chosen, else as the rules have it. */
export function shown(activity: Activity): Activity {
  return { ...activity, visible: activity.visibilityChoice ?? activity.hiddenReason === null };
}
