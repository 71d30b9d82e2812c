import type { Status } from '../../cli/doctor/running-check.ts';

/** The status of a service without a fault, and its parts. */

export const node = (host: string, ok: boolean | null = true) => ({
  host,
  ok,
  fault: null,
  head: '1',
  lagBlocks: '0',
  otherChain: null,
  error: null,
  traces: true,
  hasHistory: true,
  checkedAt: ok === null ? null : '2026-11-30T09:45:00Z',
});
export const cosigner = (number: number, stateVersion = 12, release = '0.2.0') => ({
  node: number,
  fault: null,
  setting: null,
  banned: [],
  recoveryKey: 'aa',
  clockSkewMs: 0,
  peersHash: 'bb',
  release,
  stateVersion,
  shares: null,
  testedKeys: [],
});
export const queue = (name: 'signing' | 'activity', returnedAt: string | null) => ({
  queue: name,
  openSince: null,
  returnedAt,
});
export const monitor = (lastDeliveryAt: string | null) => ({
  endpointId: 'main',
  provider: 'alchemy',
  lastDeliveryAt,
  unread: 0,
  lastUnreadAt: null,
  lastUnreadKind: null,
});
export const alert = (id: string, code: Status['attention'][number]['code'], acknowledgedAt: string | null = null) => ({
  id,
  code,
  detail: 'D.',
  since: null,
  acknowledgedAt,
});

export const GOOD: Status = {
  release: '0.2.0',
  settings: [],
  attention: [],
  transactions: { outstanding: {}, quietest: [] },
  deliveries: { open: 0, oldestDueAt: null, failed: 0 },
  hints: { endpoints: [], oldestUntriedAt: null },
  scans: { open: 0, oldestDueAt: null, failed: 0 },
  claims: [],
  monitors: [monitor('2026-11-30T09:00:00Z')],
  deadLetters: { count: 0, newestAt: null },
  queues: [queue('signing', '2026-11-30T09:59:00Z')],
  singleNodeChains: [],
  chains: [{ name: 'anvil', fault: null, nodes: [node('a.test'), node('b.test')] }],
  deployment: { approvalOrigins: [], issuer: null, newestMigration: '0024_alerts.sql', passkeyOrigins: [] },
  lastSweepAt: '2026-11-30T09:59:00Z',
  vaults: { count: 1, longestUnsweptAt: null },
  stores: [],
  recovery: { outdated: 0, longest: [] },
  cosigners: [1, 2, 3].map((number) => cosigner(number)),
};
