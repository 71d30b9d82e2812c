import * as z from 'zod';
import { chainsWithOneNode } from '#chains/clients/client-for.ts';
import type { ActivityHealth, MonitorEndpoint } from '#domain/operations/alert.ts';
import { ALERT_CODES, alertsFor, percentOf } from '#domain/operations/alert.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { route } from '#http/edge/route.ts';
import { rfc3339, rfc3339OrNull } from '#http/encode/rfc3339.ts';
import { endpointsFrom } from '#monitors/endpoint.ts';
import { cosignersOf } from '#cosigner-client/client.ts';
import { statesOfCosigners } from '#cosigner-client/pair-states.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { readHealth } from '#store/operations/health.ts';

/** The maximum number of transactions in the response. */
const SHOWN = 20;

const time = z.iso.datetime();

const activitySchema = z.strictObject({ open: z.int(), oldestDueAt: time.nullable(), failed: z.int() });

const statusSchema = z
  .strictObject({
    attention: z
      .array(z.strictObject({ code: z.enum(ALERT_CODES), detail: z.string() }))
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
          lastDeliveryAt: time.nullable().meta({ description: 'To the minute; null when nothing was delivered' }),
          unread: z.int().meta({ description: 'Deliveries that were not understood, or only in part' }),
          lastUnreadAt: time.nullable(),
          lastUnreadKind: z.string().nullable(),
        }),
      )
      .meta({ description: 'The configured endpoints of monitors, and others that have delivered' }),
    deadLetters: z.strictObject({ count: z.int(), newestAt: time.nullable() }),
    singleNodeChains: z.array(z.string()).meta({
      description: 'Chains with one RPC node; no second node confirms what it reports of payments',
    }),
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
    cosigners: z.array(
      z.strictObject({
        node: z.int(),
        fault: z.string().nullable().meta({ description: 'Null for a co-signer that is available' }),
        banned: z.array(z.int()).meta({ description: 'Co-signers that this co-signer has banned' }),
        recoveryKey: z
          .string()
          .nullable()
          .meta({ description: 'The public key that it seals recovery packages for; null when it names none' }),
      }),
    ),
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
  summary: 'Read the operational status and open alerts',
  answer: { status: 200, schema: statusSchema },
  refuses: [],
  handle: show,
});

/**
 * Returns the chains with one RPC node. A setting that cannot be parsed stops every payment, and
 * must not hide the rest of the status.
 */
function chainsOnOneNode(env: CoordinatorEnv): string[] {
  try {
    return [...chainsWithOneNode(env)];
  } catch {
    return [];
  }
}

type EndpointStatus = Pick<MonitorEndpoint, 'endpointId' | 'unread' | 'unreadKind' | 'unreadAtMs'> & {
  readonly lastDeliveryAtMs: number | null;
};

/** Returns the endpoints that have delivered, and the configured ones that have not. */
function monitorsOf(env: CoordinatorEnv, delivered: readonly MonitorEndpoint[]): readonly EndpointStatus[] {
  const silent = configuredEndpoints(env).filter((id) => !delivered.some(({ endpointId }) => endpointId === id));
  const nothing = { lastDeliveryAtMs: null, unread: 0, unreadKind: null, unreadAtMs: null };
  return [...delivered, ...silent.map((endpointId) => ({ endpointId, ...nothing }))];
}

/**
 * Returns the ids of the setting. One that cannot be parsed must not hide the rest of the status.
 */
function configuredEndpoints(env: CoordinatorEnv): readonly string[] {
  try {
    return [...endpointsFrom(env.WEBHOOK_ENDPOINTS).keys()];
  } catch {
    return [];
  }
}

async function show(context: HttpContext): Promise<Response> {
  const [condition, cosigners] = await Promise.all([
    readHealth(context.env.DB, { limit: SHOWN, nowMs: Date.now() }),
    statesOfCosigners(cosignersOf(context.env)),
  ]);
  const activityOf = ({ open, oldestDueAtMs, failed }: ActivityHealth) => ({
    open,
    oldestDueAt: rfc3339OrNull(oldestDueAtMs),
    failed,
  });
  const { outstanding, quietest } = condition;
  return context.json({
    attention: alertsFor(condition, cosigners, Date.now()),
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
    claims: condition.claims.map(({ firstAtMs, lastAtMs, ...claim }) => ({
      ...claim,
      firstAt: rfc3339(firstAtMs),
      lastAt: rfc3339(lastAtMs),
    })),
    monitors: monitorsOf(context.env, condition.monitors).map(({ lastDeliveryAtMs, unreadAtMs, ...endpoint }) => ({
      endpointId: endpoint.endpointId,
      lastDeliveryAt: rfc3339OrNull(lastDeliveryAtMs),
      unread: endpoint.unread,
      lastUnreadAt: rfc3339OrNull(unreadAtMs),
      lastUnreadKind: endpoint.unreadKind,
    })),
    deadLetters: { count: condition.deadLetters, newestAt: rfc3339OrNull(condition.newestDeadLetterAtMs) },
    singleNodeChains: chainsOnOneNode(context.env),
    vaults: {
      count: condition.vaults,
      longestUnsweptAt: rfc3339OrNull(condition.longestUnsweptAtMs),
    },
    stores: condition.stores.map((store) => ({ ...store, percent: percentOf(store) })),
    recovery: {
      outdated: condition.outdatedKeys.number,
      longest: condition.outdatedKeys.longest.map(({ sinceMs, ...key }) => ({
        ...key,
        outdatedSince: rfc3339OrNull(sinceMs),
      })),
    },
    cosigners: cosigners.map(({ recoveryKey, ...state }) => ({ ...state, recoveryKey: recoveryKey || null })),
  });
}
