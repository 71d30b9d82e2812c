import type { Alert, AlertCode } from '#domain/operations/alert.ts';

/** An alert from when it was first found until it is over. Times are Unix milliseconds. */
export interface RaisedAlert extends Alert {
  /** The code, and the subject where the alert has one. */
  readonly id: string;
  readonly openedAtMs: number;
  readonly seenAtMs: number;
  readonly resolvedAtMs: number | null;
  /** When an operator took it over; null before. */
  readonly acknowledgedAtMs: number | null;
  /** The state that the receiver of alerts has; null when it has none. */
  readonly announced: AlertState | null;
}

export const ALERT_STATES = ['open', 'acknowledged', 'resolved'] as const;
export type AlertState = (typeof ALERT_STATES)[number];

export function alertStateOf({
  resolvedAtMs,
  acknowledgedAtMs,
}: Pick<RaisedAlert, 'resolvedAtMs' | 'acknowledgedAtMs'>): AlertState {
  if (resolvedAtMs !== null) return 'resolved';
  return acknowledgedAtMs === null ? 'open' : 'acknowledged';
}

/** The number of characters of a subject. PagerDuty takes ids of up to 255. */
const MAX_SUBJECT = 200;

/** Returns the id of an alert, which is equal each time the alert is found. */
export function alertIdOf({ code, subject }: Pick<Alert, 'code' | 'subject'>): string {
  return subject === undefined ? code : `${code}:${subject.slice(0, MAX_SUBJECT)}`;
}

/**
 * Alerts with which a payment waits that should not, or money is at risk. All others can wait for
 * the working day.
 */
const URGENT: readonly AlertCode[] = [
  'setting-invalid',
  'foreign-database',
  'chain-without-node',
  'stuck-transactions',
  'unexplained-transactions',
  'unknown-coins',
  'late-deliveries',
  'late-sweep',
  'queue-stalled',
  'cosigner-away',
  'cosigner-banned',
  'share-unreadable',
  'share-missing',
  'same-secret',
  'clock-skew',
  'rpc-node-away',
  'rpc-node-other-chain',
  'rpc-nodes-differ',
  'state-unreadable',
  'sweep-step-failed',
  'vault-alarm-failing',
  'final-payment-gone',
];

export function isUrgent(code: AlertCode): boolean {
  return URGENT.includes(code);
}

/**
 * Alerts with which the service is not ready: signatures or payments fail for every vault, or for
 * every vault of a chain.
 */
const NOT_READY: readonly AlertCode[] = [
  'setting-invalid',
  'foreign-database',
  'chain-without-node',
  'late-sweep',
  'queue-stalled',
  'share-unreadable',
  'share-missing',
  'peers-differ',
  'rpc-node-other-chain',
  'sweep-step-failed',
];

export function preventsReadiness(code: AlertCode): boolean {
  return NOT_READY.includes(code);
}

const MINUTE_MS = 60_000;

/**
 * How long an alert of an event stays open after the last such event. A failing step of the sweep
 * repeats each minute, and the others would be missed by an operator who is asleep.
 */
export function quietMsOf(code: AlertCode): number {
  return code === 'sweep-step-failed' || code === 'sweep-behind' ? 15 * MINUTE_MS : 24 * 60 * MINUTE_MS;
}
