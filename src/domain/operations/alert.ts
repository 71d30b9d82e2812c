/** The conditions of a running service that need an operator and that nothing else reports. */

/** The codes of the alerts that are found together, and resolved together when they are not. */
export const ALERT_CODES_OF = {
  settings: ['setting-invalid', 'foreign-database'],
  work: [
    'stuck-transactions',
    'unexplained-transactions',
    'unknown-coins',
    'late-deliveries',
    'failed-deliveries',
    'late-scans',
    'failed-scans',
    'waiting-hints',
    'monitor-unread',
    'monitor-silent',
    'unproven-claims',
    'dead-letters',
    'late-sweep',
    'storage-filling',
    'recovery-outdated',
  ],
  queues: ['queue-stalled'],
  cosigners: [
    'cosigner-away',
    'cosigner-banned',
    'recovery-key-missing',
    'recovery-key-shared',
    'share-unreadable',
    'share-missing',
    'peers-differ',
    'same-secret',
    'clock-skew',
  ],
  rpcNodes: [
    'rpc-node-away',
    'rpc-node-other-chain',
    'rpc-node-behind',
    'rpc-nodes-differ',
    'chain-without-node',
    'single-rpc-node',
  ],
} as const;

/** The alerts of conditions, those with the most risk for the assets first. */
export const ALERT_CODES = [
  ...ALERT_CODES_OF.settings,
  ...ALERT_CODES_OF.work,
  ...ALERT_CODES_OF.queues,
  ...ALERT_CODES_OF.cosigners,
  ...ALERT_CODES_OF.rpcNodes,
] as const;

/**
 * The alerts of events, which no condition of the service shows afterwards: of state that cannot be
 * read, of a sweep, of the alarm of a vault, of an RPC node without traces and of a token. They
 * stay open for a time after the last such event (raised-alert.ts).
 */
export const LOGGED_ALERT_CODES = [
  'state-unreadable',
  'sweep-step-failed',
  'sweep-behind',
  'vault-alarm-failing',
  'trace-unavailable',
  'token-decimals-changed',
  'final-payment-gone',
] as const;
export type AlertCode = (typeof ALERT_CODES)[number] | (typeof LOGGED_ALERT_CODES)[number];
export const STATE_UNREADABLE = 'state-unreadable' satisfies AlertCode;

export interface Alert {
  readonly code: AlertCode;
  /**
   * The part at fault, where several alerts of one code can be open: a host, a number of a
   * co-signer, a chain. The configuration names all of them: an alert for each vault or token would
   * be any number of calls of a pager.
   */
  readonly subject?: string;
  /** Text with numbers and hosts, and without names, amounts or addresses of people. */
  readonly detail: string;
  /**
   * When the newest event happened, for an alert that counts events. A later one ends an
   * acknowledgement.
   */
  readonly newestAtMs?: number | null;
}
