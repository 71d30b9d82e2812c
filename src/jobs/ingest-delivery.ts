import * as z from 'zod';
import type { ChainClient } from '#chains/chain-client.ts';
import { chainClients } from '#chains/client-for.ts';
import { isObject } from '#chains/rpc/is-object.ts';
import { chainsFrom, findChain } from '#chains/registry.ts';
import type { ChainTransaction } from '#domain/activity/activity.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { parseVaultId } from '#domain/id.ts';
import { valueAssets } from '#jobs/value-assets.ts';
import { monitorOf } from '#monitors/endpoint.ts';
import type { Hint, Report } from '#monitors/monitor.ts';
import type { ActivityOutcome } from '#objects/vault/commands/activity.ts';
import type { CoordinatorEnv } from '#objects/environment.ts';
import { vaultStub } from '#objects/vault/stub.ts';
import type { StoredDelivery } from '#store/deliveries.ts';
import { insertDelivery, openDelivery, updateDelivery, vaultsWithTransaction, walletsAt } from '#store/deliveries.ts';

/**
 * `away`: the chain is unreachable. `later`: the chain does not have the transaction yet.
 * `unknown-chain`: no RPC node is configured, so it cannot count.
 */
type HintOutcome = ActivityOutcome | 'away' | 'later' | 'unknown-chain';

/**
 * A monitor may be ahead of the RPC node by some blocks, and a node may be unreachable for some
 * hours.
 */
const GIVE_UP_MS = 24 * 60 * 60 * 1000;
/**
 * A transaction that the chain does not have by then does not exist or can wait: a forged delivery
 * is not polled for a day.
 */
const HINT_GRACE_MS = 10 * 60 * 1000;
/**
 * The maximum in one invocation: each hint needs several RPC calls, and a consumer is limited in
 * time and in calls.
 */
const MAX_HINTS = 25;
const FIRST_RETRY_MS = 2_000;
const MAX_RETRY_MS = 10 * 60 * 1000;

/**
 * Processes one delivery: reads each hash from its chain, and reports the result to every vault
 * that it concerns. The delivery itself is only a hint. A forged one about a transaction that does
 * not exist credits nothing, and a repeated, late or unordered one changes nothing.
 */
export async function ingest(env: CoordinatorEnv, deliveryId: string): Promise<void> {
  const delivery = await openDelivery(env.DB, deliveryId);
  if (delivery === null) return;
  const nowMs = Date.now();
  const clientOf = chainClients(env);
  const report = await reportOf({ env, clientOf }, delivery);
  if (report.alarm !== null) {
    console.error(JSON.stringify({ event: 'monitor-notice', endpointId: delivery.endpointId, detail: report.alarm }));
  }
  if (report.hints.length > MAX_HINTS) {
    await split(env, delivery, report.hints);
    return;
  }
  const ageMs = nowMs - delivery.receivedAtMs;
  const outcomes: HintOutcome[] = report.isWhole ? [] : ['away'];
  // An RPC node that was unreachable has to catch up first: a transaction that it lacks now may be
  // in the blocks that it has missed.
  const isYoung = ageMs < HINT_GRACE_MS;
  const isPatient = isYoung || wasUnreachable(delivery);
  for (const hint of report.hints) outcomes.push(await follow({ env, clientOf }, hint, isPatient));
  const outcome = JSON.stringify(countsOf(outcomes));
  if (!outcomes.includes('later') && !outcomes.includes('away')) {
    await updateDelivery(env.DB, deliveryId, { state: 'done', tries: delivery.tries + 1, dueAtMs: nowMs, outcome });
    return;
  }
  if (ageMs >= GIVE_UP_MS) {
    console.error(JSON.stringify({ event: 'delivery-failed', endpointId: delivery.endpointId, deliveryId }));
    await updateDelivery(env.DB, deliveryId, { state: 'failed', tries: delivery.tries + 1, dueAtMs: nowMs, outcome });
    return;
  }
  // For an old delivery the retry uses the longest delay.
  const delayMs = isYoung || outcomes.includes('away') ? backoffMs(delivery) : MAX_RETRY_MS;
  await putOff(env, delivery, { nowMs, outcome, delayMs });
}

/**
 * Splits a long delivery into several short ones, each processed and retried on its own. An
 * interrupted split is repeated.
 */
async function split(
  env: CoordinatorEnv,
  { id, endpointId, tries }: StoredDelivery,
  hints: readonly Hint[],
): Promise<void> {
  const nowMs = Date.now();
  for (let start = 0; start < hints.length; start += MAX_HINTS) {
    const part = { id: `${id}.${start}`, provider: 'part', endpointId, receivedAtMs: nowMs };
    const body = JSON.stringify(hints.slice(start, start + MAX_HINTS));
    if (await insertDelivery(env.DB, { ...part, body })) await env.ACTIVITY_QUEUE.send({ deliveryId: part.id });
  }
  const outcome = JSON.stringify({ parts: Math.ceil(hints.length / MAX_HINTS) });
  await updateDelivery(env.DB, id, { state: 'done', tries: tries + 1, dueAtMs: nowMs, outcome });
}

interface Ingestion {
  readonly env: CoordinatorEnv;
  readonly clientOf: (chain: Chain) => ChainClient | null;
}

interface WholeReport extends Report {
  /** False when the scan was not possible now. */
  readonly isWhole: boolean;
}

/** Returns the hints of a delivery: those of a monitor, or the result of a scan of its chain. */
async function reportOf({ env, clientOf }: Ingestion, { provider, body }: StoredDelivery): Promise<WholeReport> {
  const said = parsedJson(body);
  if (provider === 'part') return { hints: partHints.parse(said), alarm: null, isWhole: true };
  if (provider !== 'scan') {
    const monitor = monitorOf(provider);
    return { ...(monitor?.read(said) ?? { hints: [], alarm: 'there is no such monitor' }), isWhole: true };
  }
  const order = scanOrder.safeParse(said);
  const chain = order.success ? findChain(chainsFrom(env), order.data.chain) : null;
  const client = chain === null ? null : clientOf(chain);
  if (!order.success || chain === null || client === null) return { hints: [], alarm: null, isWhole: true };
  const scan = await client.scan(order.data.address, order.data.since);
  if (!scan.ok) return { hints: [], alarm: null, isWhole: false };
  return { hints: scan.value.hashes.map((hash) => ({ chain: chain.caip2, hash })), alarm: null, isWhole: true };
}

const partHints = z.array(z.strictObject({ chain: z.string(), hash: z.string() }));
const scanOrder = z.strictObject({
  vaultId: z.int(),
  chain: z.string(),
  address: z.string(),
  since: z
    .string()
    .regex(/^[0-9]+$/)
    .nullable(),
});

function backoffMs({ tries }: StoredDelivery): number {
  return Math.min(FIRST_RETRY_MS * 2 ** Math.min(tries, 10), MAX_RETRY_MS);
}

/** Retries a delivery later by a message; if that is lost, by the sweep. */
async function putOff(
  env: CoordinatorEnv,
  { id, tries }: StoredDelivery,
  { nowMs, outcome, delayMs }: { readonly nowMs: number; readonly outcome: string; readonly delayMs: number },
): Promise<void> {
  await updateDelivery(env.DB, id, { state: 'open', tries: tries + 1, dueAtMs: nowMs + delayMs, outcome });
  await env.ACTIVITY_QUEUE.send({ deliveryId: id }, { delaySeconds: Math.ceil(delayMs / 1000) });
}

async function follow({ env, clientOf }: Ingestion, hint: Hint, isPatient: boolean): Promise<HintOutcome> {
  const chain = findChain(chainsFrom(env), hint.chain);
  const client = chain === null ? null : clientOf(chain);
  if (chain === null || client === null) return 'unknown-chain';
  const seen = await client.activity(hint.hash, null);
  if (!seen.ok) return 'away';
  if (seen.value !== null && seen.value.block !== null) return recordInVaults(env, client, seen.value);
  // Its block may be gone. A vault with a record of it polls on its own, against its recorded
  // block.
  for (const vault of vaultObjects(env, await vaultsWithTransaction(env.DB, chain.name, hint.hash))) {
    await vault.report({ type: 'pollActivityNow', chain: chain.name, hash: hint.hash });
  }
  // An unconfirmed transaction is shown but incomplete: payments by contracts and token movements
  // follow when it is mined.
  const outcome = seen.value === null ? 'none' : await recordInVaults(env, client, seen.value);
  return isPatient ? 'later' : outcome;
}

/** Reports a transaction to every vault that it concerns. */
async function recordInVaults(
  env: CoordinatorEnv,
  client: ChainClient,
  seen: ChainTransaction,
): Promise<ActivityOutcome> {
  const { chain } = client;
  const concerned = await walletsAt(env.DB, chain.name, partiesOf(seen));
  if (concerned.length === 0) return 'none';
  const wallets = concerned.map(({ address }) => address);
  const valuation = await valueAssets(env, { chain, client }, { movements: seen.movements, wallets });
  const outcomes: ActivityOutcome[] = [];
  for (const vault of vaultObjects(env, new Set(concerned.map(({ vaultId }) => vaultId)))) {
    outcomes.push(await vault.report({ type: 'recordActivity', chain: chain.name, hash: seen.hash, seen, valuation }));
  }
  return outcomes.find((one) => one === 'recorded') ?? outcomes[0] ?? 'none';
}

function vaultObjects(env: CoordinatorEnv, numbers: ReadonlySet<number>) {
  const ids = [...numbers].map(parseVaultId).filter((id) => id !== null);
  return ids.map((id) => vaultStub(env, id));
}

function partiesOf({ signer, movements }: ChainTransaction): readonly string[] {
  const parties = movements.flatMap(({ from, to }) => [from, to]).filter((party) => party !== null);
  return [...new Set([signer, ...parties])];
}

function countsOf(outcomes: readonly HintOutcome[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

/** Reports whether the chain was unreachable in the last try. */
function wasUnreachable({ outcome }: StoredDelivery): boolean {
  const counts = outcome === null ? null : parsedJson(outcome);
  return isObject(counts) && counts['away'] !== undefined;
}

/**
 * Parses JSON, or returns null. The sender's signature does not prove that the text is well-formed.
 */
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}
