import type { Amount } from '#domain/amount.ts';
import { unitsOf } from '#domain/amount.ts';
import type { TransactionId, VaultId } from '#domain/id.ts';
import type { DisplayType } from '#domain/transaction.ts';

/** Spec part 6: what of a chain's transaction can concern a wallet. */
export const MOVEMENT_KINDS = ['native', 'internal', 'erc20', 'erc721', 'erc1155'] as const;
type MovementKind = (typeof MOVEMENT_KINDS)[number];

/** One thing that changed hands. */
export interface ActivityMovement {
  /** The same whoever reports it: `top`, `trace:<path>`, `log:<index>` or `log:<index>:<position>`. */
  readonly uid: string;
  readonly kind: MovementKind;
  /** In the chain's canonical spelling; null for made out of nothing, or destroyed. */
  readonly from: string | null;
  readonly to: string | null;
  /** Null for the native asset. */
  readonly tokenAddress: string | null;
  /** Decimal; null for what has no ids. */
  readonly tokenId: string | null;
  /** In the asset's smallest unit; 1 for an ERC-721. */
  readonly amount: Amount;
}

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
  readonly movements: readonly ActivityMovement[];
}

/**
 * A transaction that the vault did not make and that concerns a wallet of it. The webhook of a monitor is a hint; everything here is
 * what the chain itself has shown.
 */
export interface Activity extends ChainTransaction {
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
export interface WalletView {
  readonly movements: readonly ActivityMovement[];
  readonly displayType: DisplayType;
  readonly direction: 'in' | 'out';
  readonly hiddenReason: 'ZERO_VALUE' | null;
}

/** What changed hands of one asset, or one token of a collection: positive came, negative went. */
interface Delta {
  readonly tokenAddress: string | null;
  readonly isUnique: boolean;
  readonly isMinted: boolean;
  readonly units: bigint;
}

/**
 * What a transaction of others means for a wallet; null when it does not concern it. Spec part 2, from the net of what came and went
 * (chains.md part 5): labels of providers are wrong too often.
 */
export function viewFor(wallet: string, transaction: ChainTransaction): WalletView | null {
  const movements = transaction.movements.filter(({ from, to }) => from === wallet || to === wallet);
  const isSigner = transaction.signer === wallet;
  if (movements.length === 0 && !isSigner) return null;
  const deltas = deltasOf(wallet, movements).filter(({ units }) => units !== 0n);
  const came = deltas.filter(({ units }) => units > 0n);
  const went = deltas.filter(({ units }) => units < 0n);
  const movesNothing = movements.every(({ amount }) => amount === '0');
  return {
    movements,
    displayType: typeOf(came, went, isSigner),
    direction: went.length > 0 || (isSigner && came.length === 0) ? 'out' : 'in',
    hiddenReason: movesNothing && !isSigner ? 'ZERO_VALUE' : null,
  };
}

function typeOf(came: readonly Delta[], went: readonly Delta[], isSigner: boolean): DisplayType {
  if (came.length === 0 && went.length === 0) return isSigner ? 'CONTRACT_INTERACTION' : 'UNKNOWN';
  if (went.length === 0) {
    const isMint = came.every(({ isMinted }) => isMinted) && (isSigner || came.every(({ isUnique }) => isUnique));
    return isMint ? 'MINTED' : 'RECEIVED';
  }
  if (came.length === 0) return 'SENT';
  if (came.every(({ isUnique, isMinted }) => isUnique && isMinted)) return 'MINTED';
  // Ours: the native asset is money; which tokens are is for a list of prices to say.
  const isMoney = ({ tokenAddress }: Delta) => tokenAddress === null;
  if (went.every(isMoney) && !came.every(isMoney)) return 'BOUGHT';
  return came.every(isMoney) && !went.every(isMoney) ? 'SOLD' : 'TRADED';
}

function deltasOf(wallet: string, movements: readonly ActivityMovement[]): readonly Delta[] {
  const deltas = new Map<string, Delta>();
  for (const { from, to, tokenAddress, tokenId, amount } of movements) {
    const key = `${tokenAddress ?? ''} ${tokenId ?? ''}`;
    const before = deltas.get(key);
    const units = (to === wallet ? unitsOf(amount) : 0n) - (from === wallet ? unitsOf(amount) : 0n);
    deltas.set(key, {
      tokenAddress,
      isUnique: tokenId !== null,
      isMinted: (before?.isMinted ?? true) && from === null,
      units: (before?.units ?? 0n) + units,
    });
  }
  return [...deltas.values()];
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
