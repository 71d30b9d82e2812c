import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Status } from '#http/internal/status.ts';
import { metricsText } from '#http/internal/metrics.ts';

/** Covers the metrics in the format of Prometheus, and the dashboard of Grafana that reads them. */

const NOW_MS = Date.parse('2026-11-30T10:00:00Z');
const activity = { open: 1, oldestDueAt: null, failed: 2 };
const STATUS: Status = {
  release: '0.2.0',
  settings: [],
  attention: [
    {
      id: 'rpc-node-away:anvil "a\\b"\nc',
      code: 'rpc-node-away',
      detail: 'D.',
      since: null,
      acknowledgedAt: '2026-11-30T09:00:00Z',
    },
  ],
  transactions: { outstanding: { SIGNING: 3 }, quietest: [] },
  deliveries: activity,
  hints: { endpoints: [], oldestUntriedAt: null },
  scans: activity,
  claims: [],
  monitors: [
    {
      endpointId: 'main',
      provider: 'alchemy',
      lastDeliveryAt: '2026-11-30T09:59:30Z',
      unread: 0,
      lastUnreadAt: null,
      lastUnreadKind: null,
    },
    {
      endpointId: 'silent',
      provider: 'alchemy',
      lastDeliveryAt: null,
      unread: 0,
      lastUnreadAt: null,
      lastUnreadKind: null,
    },
  ],
  deadLetters: { count: 4, newestAt: null },
  queues: [
    { queue: 'signing', openSince: '2026-11-30T09:58:00Z', returnedAt: null },
    { queue: 'activity', openSince: null, returnedAt: null },
  ],
  singleNodeChains: [],
  chains: [
    {
      name: 'anvil',
      fault: null,
      nodes: [true, false, null].map((ok, i) => ({
        host: `${i}.test`,
        ok,
        fault: null,
        head: '1',
        lagBlocks: ok === true ? '100000000000000000000' : null,
        otherChain: null,
        error: null,
        traces: null,
        hasHistory: null,
        checkedAt: null,
      })),
    },
  ],
  deployment: { approvalOrigins: [], issuer: null, newestMigration: null, passkeyOrigins: [] },
  lastSweepAt: '2026-11-30T09:59:00Z',
  vaults: { count: 5, longestUnsweptAt: null },
  stores: [{ store: 'D1', bytes: 6, percent: 0 }],
  recovery: { outdated: 7, longest: [] },
  cosigners: [null, 'unreachable'].map((fault, i) => ({
    node: i + 1,
    fault,
    setting: null,
    banned: [],
    recoveryKey: null,
    clockSkewMs: fault === null ? -1500 : null,
    peersHash: null,
    release: null,
    stateVersion: null,
    shares: null,
    testedKeys: [],
  })),
};

test('each number of the status is a metric', () => {
  const samples = metricsText(STATUS, NOW_MS)
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  expect(samples).toEqual([
    String.raw`conclave_alert_open{code="rpc-node-away",id="rpc-node-away:anvil \"a\\b\"\nc",severity="critical",acknowledged="true"} 1`,
    'conclave_settings_invalid 0',
    'conclave_transactions_outstanding{state="SIGNING"} 3',
    'conclave_deliveries_open 1',
    'conclave_deliveries_failed 2',
    'conclave_scans_open 1',
    'conclave_scans_failed 2',
    'conclave_dead_letters 4',
    'conclave_vaults 5',
    'conclave_recovery_outdated_keys 7',
    'conclave_sweep_age_seconds 60',
    'conclave_queue_test_age_seconds{queue="signing"} 120',
    'conclave_queue_test_age_seconds{queue="activity"} 0',
    'conclave_monitor_delivery_age_seconds{endpoint="main"} 30',
    'conclave_cosigner_up{node="1"} 1',
    'conclave_cosigner_up{node="2"} 0',
    'conclave_cosigner_clock_skew_seconds{node="1"} -1.5',
    'conclave_rpc_node_up{chain="anvil",host="0.test"} 1',
    'conclave_rpc_node_up{chain="anvil",host="1.test"} 0',
    'conclave_rpc_node_lag_blocks{chain="anvil",host="0.test"} 100000000000000000000',
    'conclave_store_bytes{store="D1"} 6',
  ]);
});

test('every line has the format of Prometheus, and each metric is described before its samples', () => {
  const described = new Set<string>();
  for (const line of metricsText(STATUS, NOW_MS).trimEnd().split('\n')) {
    const comment = /^# (?:HELP (\w+) \S.*|TYPE \w+ gauge)$/.exec(line);
    if (comment !== null) {
      if (comment[1] !== undefined) described.add(comment[1]);
      continue;
    }
    const sample =
      /^(\w+)(?:\{\w+="(?:[^"\\\n]|\\["\\n])*"(?:,\w+="(?:[^"\\\n]|\\["\\n])*")*\})? -?\d+(?:\.\d+)?$/.exec(line);
    expect([line, sample === null]).toEqual([line, false]);
    expect([line, described.has(sample?.[1] ?? '')]).toEqual([line, true]);
  }
});

interface Panel {
  readonly id: number;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets: readonly { readonly expr: string }[];
}

test('the dashboard of Grafana shows every metric and no other, and its panels do not overlap', () => {
  const { panels } = JSON.parse(readFileSync('deploy/grafana.json', 'utf8')) as { readonly panels: readonly Panel[] };
  const shown = panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => expr.match(/conclave_\w+/g) ?? []));
  const metrics = [...metricsText(STATUS, NOW_MS).matchAll(/^# TYPE (\w+)/gm)].flatMap(([, name = '']) => name);
  expect([...new Set(shown)].toSorted()).toEqual(metrics.toSorted());
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, i) => `${x + (i % w)} ${y + Math.floor(i / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true);
});
