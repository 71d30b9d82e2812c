import { isUrgent } from '#domain/operations/raised-alert.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { route } from '#http/edge/route.ts';
import type { Status } from '#http/internal/status.ts';
import { readStatus } from '#http/internal/status.ts';

type Labels = Readonly<Record<string, string | number>>;
type Sample = readonly [labels: Labels, value: number | string];

interface Metric {
  readonly name: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

/**
 * GET /internal/metrics: returns the numbers of the status in the text format of Prometheus. Each
 * is a gauge: the coordinator counts nothing in memory, because its instances come and go.
 */
export const metrics = route({
  method: 'GET',
  path: '/internal/metrics',
  access: 'service',
  scope: 'status',
  summary: 'Read the operational status as metrics',
  answer: { status: 200, schema: null },
  refuses: [],
  handle: async (context: HttpContext) => {
    const nowMs = Date.now();
    const text = metricsText(await readStatus(context.env, nowMs), nowMs);
    return context.body(text, 200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' });
  },
});

/** Returns the metrics of a status, one sample a line. */
export function metricsText(status: Status, nowMs: number): string {
  return metricsOf(status, nowMs)
    .map(({ name, help, samples }) =>
      [`# HELP ${name} ${help}`, `# TYPE ${name} gauge`, ...samples.map((sample) => lineOf(name, sample))].join('\n'),
    )
    .join('\n')
    .concat('\n');
}

function metricsOf(status: Status, nowMs: number): readonly Metric[] {
  const one = (name: string, help: string, value: number): Metric => ({ name, help, samples: [[{}, value]] });
  const ageOf = (time: string | null) => (time === null ? [] : [(nowMs - Date.parse(time)) / 1000]);
  return [
    {
      name: 'conclave_alert_open',
      help: 'Open alerts.',
      samples: status.attention.map(({ id, code, acknowledgedAt }) => {
        const severity = isUrgent(code) ? 'critical' : 'warning';
        return [{ code, id, severity, acknowledged: String(acknowledgedAt !== null) }, 1];
      }),
    },
    one('conclave_settings_invalid', 'Settings that are refused.', status.settings.length),
    {
      name: 'conclave_transactions_outstanding',
      help: 'Transactions with work outstanding.',
      samples: Object.entries(status.transactions.outstanding).map(([state, count]) => [{ state }, count]),
    },
    ...workOf(status, one),
    {
      name: 'conclave_sweep_age_seconds',
      help: 'Seconds since the last sweep ended.',
      samples: ageOf(status.lastSweepAt).map((age) => [{}, age]),
    },
    {
      name: 'conclave_queue_test_age_seconds',
      help: 'Seconds for which a test message of the queue has not come back.',
      samples: status.queues.map(({ queue, openSince }) => [{ queue }, ageOf(openSince)[0] ?? 0]),
    },
    {
      name: 'conclave_monitor_delivery_age_seconds',
      help: 'Seconds since the last delivery to the endpoint.',
      samples: status.monitors.flatMap(({ endpointId, lastDeliveryAt }) =>
        ageOf(lastDeliveryAt).map((age) => [{ endpoint: endpointId }, age] as const),
      ),
    },
    ...partsOf(status),
  ];
}

function workOf(status: Status, one: (name: string, help: string, value: number) => Metric): readonly Metric[] {
  return [
    one('conclave_deliveries_open', 'Open deliveries of monitors.', status.deliveries.open),
    one('conclave_deliveries_failed', 'Deliveries of monitors that were given up.', status.deliveries.failed),
    one('conclave_scans_open', 'Open scans of blocks.', status.scans.open),
    one('conclave_scans_failed', 'Scans of blocks that were given up.', status.scans.failed),
    one('conclave_dead_letters', 'Messages that a queue gave up.', status.deadLetters.count),
    one('conclave_vaults', 'Vaults.', status.vaults.count),
    one('conclave_recovery_outdated_keys', 'Keys without recovery packages of their shares.', status.recovery.outdated),
  ];
}

/** The parts that the service depends on, and its stores. */
function partsOf({ cosigners, chains, stores }: Status): readonly Metric[] {
  const nodes = chains.flatMap(({ name: chain, nodes: all }) => all.map((node) => ({ chain, ...node })));
  return [
    {
      name: 'conclave_cosigner_up',
      help: 'Whether the co-signer answers.',
      samples: cosigners.map(({ node, fault }) => [{ node }, fault === null ? 1 : 0]),
    },
    {
      name: 'conclave_cosigner_clock_skew_seconds',
      help: 'How far the clock of the co-signer is ahead.',
      samples: cosigners.flatMap(({ node, clockSkewMs }) =>
        clockSkewMs === null ? [] : [[{ node }, clockSkewMs / 1000] as const],
      ),
    },
    {
      name: 'conclave_rpc_node_up',
      help: 'Whether the RPC node was usable at the last probe.',
      samples: nodes.flatMap(({ chain, host, ok }) => (ok === null ? [] : [[{ chain, host }, ok ? 1 : 0] as const])),
    },
    {
      name: 'conclave_rpc_node_lag_blocks',
      help: 'Blocks behind the other RPC nodes of the chain.',
      samples: nodes.flatMap(({ chain, host, lagBlocks }) =>
        lagBlocks === null ? [] : [[{ chain, host }, lagBlocks] as const],
      ),
    },
    {
      name: 'conclave_store_bytes',
      help: 'Size of D1 and of the largest vault objects.',
      samples: stores.map(({ store, bytes }) => [{ store }, bytes]),
    },
  ];
}

function lineOf(name: string, [labels, value]: Sample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(String(text))}"`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}`;
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
