import { MAX_OPEN_PARTS } from '#domain/activity/hint-budget.ts';
import { COIN_UNKNOWN, NONCE_USED_UNEXPLAINED, NOT_SHOWN } from '#domain/transaction/job.ts';
import type { Alert } from '#domain/operations/alert.ts';

/** The state of all pending work. Times are Unix milliseconds; null when there is nothing. */
export interface ServiceHealth {
  /** Transactions with pending work, by state. */
  readonly outstanding: Readonly<Record<string, number>>;
  /**
   * Of the decided transactions that are not done, those that have not changed for longest, the
   * longest first.
   */
  readonly quietest: readonly StalledTransaction[];
  /**
   * Of the transactions with one of `UNEXPLAINED_REASONS`: their number, and the time of the oldest
   * last change.
   */
  readonly unexplained: readonly UnexplainedTransactions[];
  /** Deliveries of monitors. */
  readonly deliveries: ActivityHealth;
  /** The transactions of monitors that wait to be read. */
  readonly hints: HintHealth;
  /** Scans of blocks. */
  readonly scans: ActivityHealth;
  /** What one RPC node alone states at present, the oldest first. */
  readonly claims: readonly UnprovenClaim[];
  /** The endpoints of monitors that have delivered. */
  readonly monitors: readonly MonitorEndpoint[];
  /**
   * The transactions that scans have found in a day, since the newest delivery of any monitor:
   * their number, and when the first scan of them began. Zero in a service without monitors.
   */
  readonly unreported: { readonly number: number; readonly oldestAtMs: number | null };
  readonly deadLetters: number;
  readonly newestDeadLetterAtMs: number | null;
  readonly vaults: number;
  /** When the last sweep ended; null before the first. */
  readonly lastSweepAtMs: number | null;
  /** The oldest time of a last wake-up among the vaults. */
  readonly longestUnsweptAtMs: number | null;
  /** D1, and the largest vault objects. */
  readonly stores: readonly StoreSize[];
  /** The keys without recovery packages of their present shares. */
  readonly outdatedKeys: OutdatedKeys;
}

interface OutdatedKeys {
  readonly number: number;
  /** Of the key that has none for longest; null without one. */
  readonly oldestSinceMs: number | null;
  /** Some of them, those that have none for longest first. */
  readonly longest: readonly { readonly vaultId: number; readonly keyId: string; readonly sinceMs: number | null }[];
}

export interface StoreSize {
  /** `D1`, or `vault` and its id. */
  readonly store: string;
  readonly bytes: number;
}

/** D1 and each Durable Object hold this many bytes; every write fails when one is full. */
export const STORE_BYTES = 10 * 1024 ** 3;

/** The deliveries or scans that are not processed yet, and those that were given up. */
export interface ActivityHealth {
  readonly open: number;
  readonly oldestDueAtMs: number | null;
  readonly failed: number;
  readonly newestFailureAtMs: number | null;
}

/** What the budgets of endpoints delay (domain/activity/hint-budget.ts). */
interface HintHealth {
  /** The endpoints with open parts of long deliveries, those with the most parts first. */
  readonly endpoints: readonly { readonly endpointId: string; readonly openParts: number }[];
  /** When the oldest delivery or part without a first try was received. */
  readonly oldestUntriedAtMs: number | null;
}

interface StalledTransaction {
  readonly id: string;
  readonly vaultId: number;
  readonly chain: string;
  readonly state: string;
  readonly stateReason: string | null;
  readonly updatedAtMs: number;
}

/** A transaction that one RPC node alone states, or that it alone states so. */
interface UnprovenClaim {
  readonly chain: string;
  readonly hash: string;
  readonly host: string;
  readonly firstAtMs: number;
  readonly lastAtMs: number;
}

/** What a monitor has delivered to one endpoint. */
export interface MonitorEndpoint {
  readonly endpointId: string;
  readonly lastDeliveryAtMs: number;
  /** The number of deliveries that were not understood, or only in part. */
  readonly unread: number;
  readonly unreadKind: string | null;
  readonly unreadAtMs: number | null;
  readonly thirdUnreadAtMs: number | null;
}

interface UnexplainedTransactions {
  readonly stateReason: string | null;
  readonly number: number;
  readonly updatedAtMs: number | null;
}

const MINUTE_MS = 60_000;
/** Longer than any chain takes to confirm, and longer than the upgrade of an RPC node. */
const STUCK_MS = 60 * MINUTE_MS;
/**
 * RPC nodes contradict each other, one of two does not answer, or none has the history. An operator
 * must change the RPC nodes.
 */
const UNEXPLAINED = [NONCE_USED_UNEXPLAINED, NOT_SHOWN, 'NODES_DISAGREE', 'SECOND_NODE_AWAY'] as const;
/**
 * Reasons for which a transaction stays in its state because the RPC nodes do not show its outcome.
 */
export const UNEXPLAINED_REASONS: readonly string[] = [...UNEXPLAINED, COIN_UNKNOWN];
/** Longer than one RPC node lags behind another. */
const UNEXPLAINED_MS = 10 * MINUTE_MS;
/** Longer than the longest delay between two tries. */
const LATE_ACTIVITY_MS = 15 * MINUTE_MS;
/**
 * Longer than the largest delivery of a monitor in use takes, and shorter than the largest possible
 * one.
 */
const LATE_HINTS_MS = 15 * MINUTE_MS;
/** Longer than a monitor takes to report a block. A scan may be faster. */
const SILENT_MS = 15 * MINUTE_MS;
/** A tenth of what one endpoint may have: two thirds of the largest possible delivery. */
const MANY_OPEN_PARTS = MAX_OPEN_PARTS / 10;
/** The sweep visits every vault once an hour. */
const LATE_SWEEP_MS = 130 * MINUTE_MS;
/** A sweep ends each minute. One may take some minutes when much is to be done. */
const MISSED_SWEEP_MS = 10 * MINUTE_MS;
/** At this fill there is time to act. */
const FILLING_PERCENT = 70;
/**
 * How long the shares of a key may be without recovery packages: time for the export, and for the
 * keepers.
 */
export const EXPORT_DELAY_MS = 24 * 60 * MINUTE_MS;
/** Failures are reported for a day. Their rows stay. */
const REPORTED_FOR_MS = 24 * 60 * MINUTE_MS;

/** Returns the alerts of pending work, in the order of ALERT_CODES. */
export function alertsOfWork(condition: ServiceHealth, nowMs: number): readonly Alert[] {
  const times = timesAt(nowMs);
  const found = [
    ...alertsOfTransactions(condition, times),
    ...alertsOfActivity(condition, times),
    ...alertsOfStores(condition, times),
  ];
  return found.filter((one) => one !== null);
}

/** Comparisons of times with the present one. A time of null was never reached. */
function timesAt(nowMs: number) {
  return {
    isBefore: (atMs: number | null, ageMs: number) => atMs !== null && atMs < nowMs - ageMs,
    isSince: (atMs: number | null, ageMs: number) => atMs !== null && atMs >= nowMs - ageMs,
    minutes: (atMs: number | null) => Math.floor((nowMs - (atMs ?? nowMs)) / MINUTE_MS),
  };
}

type Times = ReturnType<typeof timesAt>;

function alertsOfTransactions(condition: ServiceHealth, { isBefore, minutes }: Times): readonly (Alert | null)[] {
  const stuck = condition.quietest.filter(({ updatedAtMs }) => isBefore(updatedAtMs, STUCK_MS));
  const quiet = condition.unexplained.filter(({ updatedAtMs }) => isBefore(updatedAtMs, UNEXPLAINED_MS));
  const unexplained = quiet.filter(({ stateReason }) => UNEXPLAINED.some((reason) => reason === stateReason));
  const unknown = quiet.filter(({ stateReason }) => stateReason === COIN_UNKNOWN);
  return [
    stuck.length === 0
      ? null
      : {
          code: 'stuck-transactions',
          detail:
            `Stuck transactions: at least ${stuck.length}. The longest is stuck for ` +
            `${minutes(stuck[0]?.updatedAtMs ?? null)} minutes.`,
        },
    unexplained.length === 0
      ? null
      : {
          code: 'unexplained-transactions',
          detail: `Unexplained transactions: ${numberOf(unexplained)}. The RPC nodes do not show their outcome.`,
        },
    unknown.length === 0
      ? null
      : {
          code: 'unknown-coins',
          detail:
            `Transactions with unknown UTXOs: ${numberOf(unknown)}. The RPC nodes do not show a UTXO that they ` +
            'spend.',
        },
  ];
}

function alertsOfActivity(condition: ServiceHealth, { isBefore, isSince, minutes }: Times): readonly (Alert | null)[] {
  const unproven = condition.claims.filter(({ firstAtMs }) => isBefore(firstAtMs, UNEXPLAINED_MS));
  // A single one may be a test of the provider. Three in a day are an error in the configuration.
  const misread = condition.monitors.filter(({ thirdUnreadAtMs }) => isSince(thirdUnreadAtMs, REPORTED_FOR_MS));
  const { endpoints, oldestUntriedAtMs } = condition.hints;
  const openParts = endpoints.reduce((sum, one) => sum + one.openParts, 0);
  const { number: unreported, oldestAtMs } = condition.unreported;
  return [
    ...(['deliveries', 'scans'] as const).flatMap((kind): readonly (Alert | null)[] => {
      const { open, oldestDueAtMs, failed, newestFailureAtMs } = condition[kind];
      const late = `Open ${kind}: ${open}. The oldest is overdue by ${minutes(oldestDueAtMs)} minutes.`;
      const lost = `Failed ${kind}: ${failed}. The newest failed ${minutes(newestFailureAtMs)} minutes ago.`;
      return [
        isBefore(oldestDueAtMs, LATE_ACTIVITY_MS) ? { code: `late-${kind}`, detail: late } : null,
        isSince(newestFailureAtMs, REPORTED_FOR_MS)
          ? { code: `failed-${kind}`, detail: lost, newestAtMs: newestFailureAtMs }
          : null,
      ];
    }),
    openParts >= MANY_OPEN_PARTS || isBefore(oldestUntriedAtMs, LATE_HINTS_MS)
      ? {
          code: 'waiting-hints',
          detail:
            `Open parts of long deliveries: ${openParts}, of ${endpoints.length} endpoints. The oldest delivery ` +
            `without a try waits for ${minutes(oldestUntriedAtMs)} minutes.`,
        }
      : null,
    misread.length === 0
      ? null
      : {
          code: 'monitor-unread',
          detail:
            `Endpoints with at least three unread deliveries in a day: ${misread.length}. The newest is ` +
            `${minutes(Math.max(...misread.map(({ unreadAtMs }) => unreadAtMs ?? 0)))} minutes old.`,
        },
    isBefore(oldestAtMs, SILENT_MS)
      ? {
          code: 'monitor-silent',
          detail:
            `Transactions that no monitor has reported, and scans have found: ${unreported}. ` +
            lastDeliveryOf(condition, minutes),
        }
      : null,
    unproven.length === 0
      ? null
      : {
          code: 'unproven-claims',
          detail:
            `Transactions that one RPC node alone states: at least ${unproven.length}. The oldest is claimed for ` +
            `${minutes(unproven[0]?.firstAtMs ?? null)} minutes.`,
        },
  ];
}

function lastDeliveryOf({ monitors }: ServiceHealth, minutes: Times['minutes']): string {
  if (monitors.length === 0) return 'No monitor has ever delivered.';
  return `The last delivery was ${minutes(Math.max(...monitors.map((one) => one.lastDeliveryAtMs)))} minutes ago.`;
}

function alertsOfStores(condition: ServiceHealth, { isBefore, isSince, minutes }: Times): readonly (Alert | null)[] {
  const { newestDeadLetterAtMs, outdatedKeys: outdated } = condition;
  const filling = condition.stores.filter((store) => percentOf(store) >= FILLING_PERCENT);
  return [
    isSince(newestDeadLetterAtMs, REPORTED_FOR_MS)
      ? {
          code: 'dead-letters',
          detail: `Dead letters: ${condition.deadLetters}. The newest is ${minutes(newestDeadLetterAtMs)} minutes old.`,
          newestAtMs: newestDeadLetterAtMs,
        }
      : null,
    alertOfSweep(condition, { isBefore, minutes }),
    filling.length === 0
      ? null
      : {
          code: 'storage-filling',
          detail: `Stores that are filling: ${filling.map((one) => `${one.store} (${percentOf(one)} %)`).join(', ')}.`,
        },
    outdated.number === 0
      ? null
      : {
          code: 'recovery-outdated',
          detail:
            `Keys without recovery packages of their present shares: ${outdated.number}. The oldest has none for ` +
            `${Math.floor(minutes(outdated.oldestSinceMs) / 60)} hours.`,
        },
  ];
}

/** Reports whether no sweep has ended for longer than one takes. */
export function isSweepLate(lastSweepAtMs: number | null, nowMs: number): boolean {
  return lastSweepAtMs === null || lastSweepAtMs < nowMs - MISSED_SWEEP_MS;
}

/** A new service has no sweep yet: then the oldest vault counts. */
function alertOfSweep(
  { lastSweepAtMs, longestUnsweptAtMs }: ServiceHealth,
  { isBefore, minutes }: Pick<Times, 'isBefore' | 'minutes'>,
): Alert | null {
  const lastMs = lastSweepAtMs ?? longestUnsweptAtMs;
  if (isBefore(lastMs, MISSED_SWEEP_MS))
    return { code: 'late-sweep', detail: `No sweep has ended for ${minutes(lastMs)} minutes. Check the cron.` };
  if (!isBefore(longestUnsweptAtMs, LATE_SWEEP_MS)) return null;
  return {
    code: 'late-sweep',
    detail: `No scheduled run has woken a vault for ${minutes(longestUnsweptAtMs)} minutes. Check the cron.`,
  };
}

/** Returns how full a store is, in whole percent. */
export function percentOf({ bytes }: StoreSize): number {
  return Math.floor((bytes * 100) / STORE_BYTES);
}

function numberOf(rows: readonly UnexplainedTransactions[]): number {
  return rows.reduce((sum, { number }) => sum + number, 0);
}
