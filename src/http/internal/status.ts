import * as z from 'zod';
import { chainsWithOneNode, chainsWithoutNode } from '#chains/clients/client-for.ts';
import type { RpcEntry } from '#chains/clients/rpc-urls.ts';
import { rpcEntries } from '#chains/clients/rpc-urls.ts';
import type { Alert } from '#domain/operations/alert.ts';
import type { ActivityHealth, MonitorEndpoint, ServiceHealth } from '#domain/operations/service-health.ts';
import { ALERT_CODES, LOGGED_ALERT_CODES } from '#domain/operations/alert.ts';
import { alertsOfWork, percentOf } from '#domain/operations/service-health.ts';
import type { QueueState } from '#domain/operations/queue.ts';
import { alertsOfQueues, QUEUES } from '#domain/operations/queue.ts';
import type { RpcNodeState } from '#domain/operations/rpc-node.ts';
import { alertsOfRpcNodes, RPC_NODE_FAULTS } from '#domain/operations/rpc-node.ts';
import type { RaisedAlert } from '#domain/operations/raised-alert.ts';
import { alertIdOf } from '#domain/operations/raised-alert.ts';
import { alertsOfCosigners, withFaultyShares } from '#domain/operations/cosigner.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { route } from '#http/edge/route.ts';
import { RELEASE } from '#domain/operations/release.ts';
import { alertsOfDatabase } from '#domain/operations/database-owner.ts';
import { alertsOfSettings } from '#domain/operations/setting-fault.ts';
import { cosignerOf, cosignerSchema, cosignersIn } from '#http/internal/cosigner-status.ts';
import { fingerprintsIn, settingFaults } from '#http/internal/setting-faults.ts';
import { rfc3339, rfc3339OrNull } from '#http/encode/rfc3339.ts';
import { endpointsFrom, hasEndpoints } from '#monitors/endpoint.ts';
import { approvalOrigins } from '#devices/approval-origin.ts';
import { loginSettings } from '#login/settings.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { readOpenAlerts } from '#store/operations/alerts.ts';
import { readQueues } from '#store/operations/queue-probes.ts';
import { newestMigration } from '#store/operations/applied-migrations.ts';
import { readShareTests } from '#store/operations/share-tests.ts';
import { readDatabaseOwner } from '#store/operations/database-owner.ts';
import { readHealth } from '#store/operations/health.ts';
import { readFundedChains, readRpcNodes } from '#store/operations/rpc-nodes.ts';
import { chainsWithWallets, readPasskeyOrigins } from '#store/vaults.ts';

/** The maximum number of transactions in the response. */
const SHOWN = 20;

const time = z.iso.datetime();

const activitySchema = z.strictObject({ open: z.int(), oldestDueAt: time.nullable(), failed: z.int() });

const statusSchema = z
  .strictObject({
    release: z.string().meta({ description: 'The version of the release of the coordinator' }),
    settings: z
      .array(z.strictObject({ name: z.string(), fault: z.string() }))
      .meta({ description: 'The settings of the coordinator that are refused, without their values' }),
    attention: z
      .array(
        z.strictObject({
          id: z.string().meta({ description: 'The code, and the part at fault where it has one' }),
          code: z.enum([...ALERT_CODES, ...LOGGED_ALERT_CODES]),
          detail: z.string(),
          since: time.nullable().meta({ description: 'When the sweep found it first; null before that' }),
          acknowledgedAt: time.nullable().meta({ description: 'When an operator took it over' }),
        }),
      )
      .meta({ description: 'Open alerts' }),
    transactions: z.strictObject({
      outstanding: z.record(z.string(), z.int()).meta({ description: 'Transactions with work outstanding, by state' }),
      quietest: z.array(
        z.strictObject({
          id: z.string(),
          vaultId: z.int(),
          chain: z.string(),
          state: z.string(),
          stateReason: z.string().nullable(),
          updatedAt: time,
        }),
      ),
    }),
    deliveries: activitySchema.meta({ description: 'Deliveries of monitors' }),
    hints: z
      .strictObject({
        endpoints: z.array(z.strictObject({ endpointId: z.string(), openParts: z.int() })),
        oldestUntriedAt: time.nullable().meta({ description: 'The oldest delivery or part without a first try' }),
      })
      .meta({ description: 'Transactions of monitors that wait for the budget of their endpoint' }),
    scans: activitySchema.meta({ description: 'Scans of blocks for activity that no monitor reported' }),
    claims: z
      .array(z.strictObject({ chain: z.string(), hash: z.string(), host: z.string(), firstAt: time, lastAt: time }))
      .meta({ description: 'Transactions that one RPC node alone states, or whose contents it alone states' }),
    monitors: z
      .array(
        z.strictObject({
          endpointId: z.string(),
          provider: z.string().nullable().meta({ description: 'Null for one that is not configured any more' }),
          lastDeliveryAt: time.nullable().meta({ description: 'To the minute; null when nothing was delivered' }),
          unread: z.int().meta({ description: 'Deliveries that were not understood, or only in part' }),
          lastUnreadAt: time.nullable(),
          lastUnreadKind: z.string().nullable(),
        }),
      )
      .meta({ description: 'The configured endpoints of monitors, and others that have delivered' }),
    deadLetters: z.strictObject({ count: z.int(), newestAt: time.nullable() }),
    queues: z
      .array(
        z.strictObject({
          queue: z.enum(QUEUES),
          openSince: time.nullable().meta({ description: 'When the oldest open test message was sent' }),
          returnedAt: time.nullable().meta({ description: 'When the newest test message came back' }),
        }),
      )
      .meta({ description: 'The queues, with the test messages that are sent every three minutes' }),
    singleNodeChains: z.array(z.string()).meta({
      description: 'Chains with one RPC node; no second node confirms what it reports of payments',
    }),
    chains: z
      .array(
        z.strictObject({
          name: z.string(),
          fault: z.string().nullable().meta({ description: 'Why RPC_URLS has no usable entry; null for a usable one' }),
          nodes: z.array(
            z.strictObject({
              host: z.string(),
              ok: z.boolean().nullable().meta({ description: 'Null before the first probe of this node' }),
              fault: z.enum(RPC_NODE_FAULTS).nullable(),
              head: z.string().nullable().meta({ description: 'The newest block, or slot, at the last probe' }),
              lagBlocks: z.string().nullable().meta({ description: 'Blocks behind the other nodes' }),
              otherChain: z.string().nullable().meta({ description: 'The chain that it serves instead' }),
              error: z.string().nullable().meta({ description: 'What was wrong with its answer; a claim of the node' }),
              traces: z.boolean().nullable().meta({ description: 'Whether it has call traces (EVM)' }),
              hasHistory: z.boolean().nullable().meta({ description: 'Whether it has states of old blocks (EVM)' }),
              checkedAt: time.nullable(),
            }),
          ),
        }),
      )
      .meta({ description: 'The chains of RPC_URLS, with each RPC node as the last probe found it' }),
    deployment: z
      .strictObject({
        approvalOrigins: z.array(z.string()),
        issuer: z.string().nullable(),
        newestMigration: z.string().nullable().meta({ description: 'The newest migration that D1 has' }),
        passkeyOrigins: z
          .array(z.strictObject({ origin: z.string(), vaults: z.int() }))
          .meta({ description: 'The origins of passkeys in policies, as the last sweep of each vault found them' }),
      })
      .meta({ description: 'What an operator compares with the release from outside' }),
    lastSweepAt: time.nullable().meta({ description: 'When the last scheduled run ended; one runs each minute' }),
    vaults: z.strictObject({
      count: z.int(),
      longestUnsweptAt: time.nullable(),
    }),
    stores: z
      .array(z.strictObject({ store: z.string(), bytes: z.int(), percent: z.int() }))
      .meta({ description: 'How full D1 and the largest vault objects are' }),
    recovery: z
      .strictObject({
        outdated: z.int(),
        longest: z.array(z.strictObject({ vaultId: z.int(), keyId: z.string(), outdatedSince: time.nullable() })),
      })
      .meta({ description: 'Keys that have no recovery packages of their present shares for a day' }),
    cosigners: z.array(cosignerSchema),
  })
  .meta({ id: 'Status' });

/**
 * GET /internal/status: returns the pending work, the state of the co-signers and the open alerts,
 * which need an operator. It reads the read model, which can lag behind by what a vault is about to
 * write. Cron logs the same alerts as `alert`.
 */
export const status = route({
  method: 'GET',
  path: '/internal/status',
  access: 'service',
  scope: 'status',
  summary: 'Read the operational status and open alerts',
  answer: { status: 200, schema: statusSchema },
  refuses: [],
  handle: async (context: HttpContext) => context.json(await readStatus(context.env, Date.now())),
});

/** Returns what `read` returns. A setting that is refused must not hide the rest of the status. */
function readOr<T>(otherwise: T, read: () => T): T {
  try {
    return read();
  } catch {
    return otherwise;
  }
}

/** Returns the configured RPC nodes of each chain, with what the last probe found. */
function chainsOf(env: CoordinatorEnv, probed: readonly RpcNodeState[]) {
  return readOr<readonly RpcEntry[]>([], () => rpcEntries(env)).map(({ chain: name, hosts, fault }) => {
    const nodes = hosts.map((host, position) => {
      const found = probed.find((node) => node.chain === name && node.position === position && node.host === host);
      return nodeOf(host, found ?? null);
    });
    return { name, fault, nodes };
  });
}

function nodeOf(host: string, found: RpcNodeState | null) {
  if (found === null) {
    const unknown = { fault: null, head: null, lagBlocks: null, otherChain: null, error: null };
    return { host, ok: null, ...unknown, traces: null, hasHistory: null, checkedAt: null };
  }
  const { fault, head, lagBlocks, otherChain, error, traces, hasHistory, checkedAtMs } = found;
  const abilities = { traces, hasHistory, checkedAt: rfc3339(checkedAtMs) };
  return { host, ok: fault === null, fault, head, lagBlocks, otherChain, error, ...abilities };
}

type EndpointStatus = Pick<MonitorEndpoint, 'endpointId' | 'unread' | 'unreadKind' | 'unreadAtMs'> & {
  readonly lastDeliveryAtMs: number | null;
  /** Null for an endpoint that is not configured any more. */
  readonly provider: string | null;
};

/** Returns the endpoints that have delivered, and the configured ones that have not. */
function monitorsOf(env: CoordinatorEnv, delivered: readonly MonitorEndpoint[]): readonly EndpointStatus[] {
  const providers = readOr<ReadonlyMap<string, { readonly provider: string }>>(new Map(), () =>
    endpointsFrom(env.WEBHOOK_ENDPOINTS),
  );
  const silent = [...providers.keys()].filter((id) => !delivered.some(({ endpointId }) => endpointId === id));
  const nothing = { lastDeliveryAtMs: null, unread: 0, unreadKind: null, unreadAtMs: null };
  const all = [...delivered, ...silent.map((endpointId) => ({ endpointId, ...nothing }))];
  return all.map((one) => ({ ...one, provider: providers.get(one.endpointId)?.provider ?? null }));
}

/**
 * Returns the alerts of conditions as they are now, with what is stored of them, and the alerts of
 * events that are still open.
 */
function attentionOf(current: readonly Alert[], stored: readonly RaisedAlert[]) {
  const byId = new Map(stored.map((alert) => [alert.id, alert]));
  const events = stored.filter(({ code }) => LOGGED_ALERT_CODES.some((logged) => logged === code));
  return [...current, ...events].map((alert) => {
    const id = alertIdOf(alert);
    const raised = byId.get(id);
    return {
      id,
      code: alert.code,
      detail: alert.detail,
      since: rfc3339OrNull(raised?.openedAtMs ?? null),
      acknowledgedAt: rfc3339OrNull(raised?.acknowledgedAtMs ?? null),
    };
  });
}

/** Returns what is compared from outside. A setting that is refused is in `settings`. */
async function readDeployment(env: CoordinatorEnv) {
  const [migration, passkeyOrigins] = await Promise.all([newestMigration(env.DB), readPasskeyOrigins(env.DB, SHOWN)]);
  return {
    approvalOrigins: [...readOr<readonly string[]>([], () => approvalOrigins(env))],
    issuer: readOr(null, () => loginSettings(env.LOGIN))?.issuer ?? null,
    newestMigration: migration,
    passkeyOrigins: [...passkeyOrigins],
  };
}

function activityOf({ open, oldestDueAtMs, failed }: ActivityHealth) {
  return { open, oldestDueAt: rfc3339OrNull(oldestDueAtMs), failed };
}

function queueOf({ queue, openSinceMs, returnedAtMs }: QueueState) {
  return { queue, openSince: rfc3339OrNull(openSinceMs), returnedAt: rfc3339OrNull(returnedAtMs) };
}

function monitorOf({ endpointId, provider, lastDeliveryAtMs, unread, unreadAtMs, unreadKind }: EndpointStatus) {
  return {
    endpointId,
    provider,
    lastDeliveryAt: rfc3339OrNull(lastDeliveryAtMs),
    unread,
    lastUnreadAt: rfc3339OrNull(unreadAtMs),
    lastUnreadKind: unreadKind,
  };
}

function claimsOf({ claims }: ServiceHealth) {
  return claims.map(({ firstAtMs, lastAtMs, ...claim }) => ({
    ...claim,
    firstAt: rfc3339(firstAtMs),
    lastAt: rfc3339(lastAtMs),
  }));
}

function recoveryOf({ outdatedKeys: { number, longest } }: ServiceHealth) {
  return {
    outdated: number,
    longest: longest.map(({ sinceMs, ...key }) => ({ ...key, outdatedSince: rfc3339OrNull(sinceMs) })),
  };
}

export type Status = z.infer<typeof statusSchema>;

/** Returns the status, as the response has it. */
export async function readStatus(env: CoordinatorEnv, nowMs: number): Promise<Status> {
  const [condition, stated, shares, nodes, fundedChains, usedChains, queues, raised, owner, deployment] =
    await Promise.all([
      readHealth(env.DB, { limit: SHOWN, nowMs, hasMonitors: hasEndpoints(env.WEBHOOK_ENDPOINTS) }),
      cosignersIn(env, nowMs),
      readShareTests(env.DB),
      readRpcNodes(env.DB),
      readFundedChains(env.DB, nowMs),
      chainsWithWallets(env.DB),
      readQueues(env.DB),
      readOpenAlerts(env.DB),
      readDatabaseOwner(env.DB),
      readDeployment(env),
    ]);
  const cosigners = withFaultyShares(stated, shares.faulty);
  const settings = settingFaults(env);
  const singleNodeChains = readOr<readonly string[]>([], () => chainsWithOneNode(env));
  const nodelessChains = readOr<readonly string[]>([], () => chainsWithoutNode(env, usedChains));
  const { outstanding, quietest } = condition;
  return {
    release: RELEASE,
    settings: [...settings],
    attention: attentionOf(
      [
        ...alertsOfSettings(settings),
        ...alertsOfDatabase(owner, fingerprintsIn(env)),
        ...alertsOfWork(condition, nowMs),
        ...alertsOfQueues(queues, nowMs),
        ...alertsOfCosigners(cosigners),
        ...alertsOfRpcNodes({ nodes, nodelessChains, singleNodeChains, fundedChains }),
      ],
      raised,
    ),
    transactions: {
      outstanding,
      quietest: quietest.map(({ updatedAtMs, ...rest }) => ({ ...rest, updatedAt: rfc3339(updatedAtMs) })),
    },
    deliveries: activityOf(condition.deliveries),
    hints: {
      endpoints: [...condition.hints.endpoints],
      oldestUntriedAt: rfc3339OrNull(condition.hints.oldestUntriedAtMs),
    },
    scans: activityOf(condition.scans),
    claims: claimsOf(condition),
    monitors: monitorsOf(env, condition.monitors).map(monitorOf),
    deadLetters: { count: condition.deadLetters, newestAt: rfc3339OrNull(condition.newestDeadLetterAtMs) },
    queues: queues.map(queueOf),
    singleNodeChains: [...singleNodeChains],
    chains: chainsOf(env, nodes),
    deployment,
    lastSweepAt: rfc3339OrNull(condition.lastSweepAtMs),
    vaults: {
      count: condition.vaults,
      longestUnsweptAt: rfc3339OrNull(condition.longestUnsweptAtMs),
    },
    stores: condition.stores.map((store) => ({ ...store, percent: percentOf(store) })),
    recovery: recoveryOf(condition),
    cosigners: cosigners.map((state) => cosignerOf(state, shares.records)),
  };
}
