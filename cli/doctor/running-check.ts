import type { InferResponseType } from 'hono/client';
import { isUrgent } from '#domain/operations/raised-alert.ts';
import type { Connection } from '../api-client.ts';
import type { Finding } from './finding.ts';

export type Status = InferResponseType<Connection['internal']['status']['$get']>;

/** A sweep ends each minute. */
const MAX_SWEEP_AGE_MS = 5 * 60_000;
const MIN_COSIGNERS = 3;

/**
 * Returns what is wrong with a running deployment, by its status. Every alert is a finding; the
 * other findings are no alert, because a service may run so on purpose or for a time.
 */
export function checkRunning(status: Status, nowMs: number): readonly Finding[] {
  return [
    ...status.settings.map(({ name, fault }): Finding => ({
      level: 'fault',
      part: 'coordinator',
      name,
      detail: fault,
    })),
    ...alertsIn(status),
    ...sweepIn(status, nowMs),
    ...queuesIn(status),
    ...chainsIn(status),
    ...cosignersIn(status),
    ...passkeysIn(status),
    ...status.monitors.flatMap(({ endpointId, lastDeliveryAt }) =>
      lastDeliveryAt === null ? [warning(`monitor ${endpointId}`, 'monitor', 'It has never delivered anything.')] : [],
    ),
  ];
}

function warning(part: string, name: string, detail: string): Finding {
  return { level: 'warning', part, name, detail };
}

function alertsIn({ attention }: Status): readonly Finding[] {
  return attention
    .filter(({ code }) => code !== 'setting-invalid')
    .map(({ id, code, detail, acknowledgedAt }): Finding => {
      const suffix = acknowledgedAt === null ? '' : ` Acknowledged at ${acknowledgedAt}.`;
      return { level: isUrgent(code) ? 'fault' : 'warning', part: 'alert', name: id, detail: `${detail}${suffix}` };
    });
}

function isAlerted({ attention }: Status, alertId: string): boolean {
  return attention.some(({ id }) => id === alertId);
}

function sweepIn(status: Status, nowMs: number): readonly Finding[] {
  const { lastSweepAt } = status;
  if (lastSweepAt !== null && nowMs - Date.parse(lastSweepAt) < MAX_SWEEP_AGE_MS) return [];
  if (isAlerted(status, 'late-sweep')) return [];
  const detail = lastSweepAt === null ? 'No sweep has ended yet.' : `The last sweep ended at ${lastSweepAt}.`;
  return [{ level: 'fault', part: 'coordinator', name: 'late-sweep', detail }];
}

function queuesIn({ queues }: Status): readonly Finding[] {
  if (queues.length === 0) return [warning('queues', 'queue', 'No test message was sent yet. Wait for three minutes.')];
  return queues.flatMap(({ queue, returnedAt }) =>
    returnedAt === null ? [warning(`queue ${queue}`, 'queue', 'No test message has come back yet.')] : [],
  );
}

function chainsIn(status: Status): readonly Finding[] {
  const { chains } = status;
  if (chains.length === 0) {
    const detail = 'RPC_URLS has no chain, so no payment can be created.';
    return [{ level: 'fault', part: 'coordinator', name: 'RPC_URLS', detail }];
  }
  return chains.flatMap(({ name, nodes }) => [
    ...(nodes.length === 1 && !isAlerted(status, `single-rpc-node:${name}`)
      ? [warning(`chain ${name}`, 'RPC_URLS', 'One RPC node decides alone.')]
      : []),
    ...abilitiesIn(name, nodes),
    ...nodes.flatMap(({ host, ok }) =>
      ok === null ? [warning(`${name} ${host}`, 'rpc-node', 'It was not checked yet. Wait for 15 minutes.')] : [],
    ),
  ]);
}

/** One node that can do it is enough: the others are tried after it. */
function abilitiesIn(name: string, nodes: Status['chains'][number]['nodes']): readonly Finding[] {
  const lacks = (ability: 'traces' | 'hasHistory') =>
    nodes.some((node) => node[ability] === false) && !nodes.some((node) => node[ability] === true);
  const traces = 'No RPC node has call traces, so ether that contracts pay shows late.';
  const history = 'No RPC node has the states of a thousand blocks ago, so some old transactions stay unexplained.';
  return [
    ...(lacks('traces') ? [warning(`chain ${name}`, 'traces', traces)] : []),
    ...(lacks('hasHistory') ? [warning(`chain ${name}`, 'history', history)] : []),
  ];
}

/**
 * A signer cannot approve with a passkey of another page. One of a former page is replaced by a
 * policy change. When no passkey is of an approval page, the setting is wrong.
 */
function passkeysIn({ deployment: { approvalOrigins, passkeyOrigins } }: Status): readonly Finding[] {
  if (approvalOrigins.length === 0) return [];
  const isUsed = passkeyOrigins.some(({ origin }) => approvalOrigins.includes(origin));
  const level = isUsed ? 'warning' : 'fault';
  return passkeyOrigins
    .filter(({ origin }) => !approvalOrigins.includes(origin))
    .map(({ origin, vaults }) => {
      const detail = `Policies of ${vaults} vaults have passkeys of ${origin}, which is no approval page.`;
      return { level, part: `approval page ${origin}`, name: 'APPROVAL_ORIGIN', detail };
    });
}

function cosignersIn({ release, cosigners }: Status): readonly Finding[] {
  const releases = new Set([release, ...cosigners.flatMap((one) => one.release ?? [])]);
  const states = new Set(cosigners.flatMap(({ stateVersion }) => stateVersion ?? []));
  const few = `The coordinator names ${cosigners.length} co-signers, fewer than ${MIN_COSIGNERS}.`;
  return [
    ...(cosigners.length < MIN_COSIGNERS
      ? [{ level: 'fault', part: 'co-signers', name: 'COSIGNER_URLS', detail: few } as const]
      : []),
    ...(releases.size > 1 || states.size > 1
      ? [
          warning(
            'releases',
            'release',
            `Parts run different releases: ${[...releases].join(', ')}. Finish the upgrade.`,
          ),
        ]
      : []),
  ];
}
