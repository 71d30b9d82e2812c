import type { ChainClient, ReadTransaction } from '#chains/chain-client.ts';
import { chainClientFor, chainClients } from '#chains/clients/client-for.ts';
import { transactionIn } from '#chains/rpc/activity-quorum.ts';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import type { ChainTransaction } from '#domain/activity/activity.ts';
import { concerns } from '#domain/asset/movement.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { parseVaultId } from '#domain/id.ts';
import { isJsonObject } from '#domain/json/untrusted-json.ts';
import { raiseUntraced } from '#jobs/operations/untraced-alert.ts';
import { valueAssets } from '#jobs/value-assets.ts';
import type { Hint } from '#monitors/monitor.ts';
import type { ActivityOutcome } from '#objects/vault/commands/activity.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';
import { storeClaim } from '#store/operations/claims.ts';
import type { StoredDelivery } from '#store/deliveries.ts';
import { vaultsWithTransaction, walletsAt } from '#store/deliveries.ts';

/**
 * `away`: the chain is unreachable. `missing`: no RPC node has the transaction. `later`: it is in
 * no block yet, or its payments by contracts cannot be read yet.
 * `claimed`: one RPC node alone states it, or a payment by a contract in it, so it is not recorded.
 * `untraced`: it concerns no vault by its logs and its own payment, and no RPC node shows the
 * payments by contracts. `unread`: the RPC nodes have it in a form that this release cannot read.
 * `unknown-chain`: no RPC node is configured, so it cannot count.
 */
export type HintOutcome =
  | ActivityOutcome
  | 'away'
  | 'claimed'
  | 'later'
  | 'missing'
  | 'untraced'
  | 'unread'
  | 'unknown-chain';

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
const FIRST_RETRY_MS = 2_000;
const MAX_RETRY_MS = 10 * 60 * 1000;

/** What the row of a delivery or of a scan stores about its tries. */
type Tries = Pick<StoredDelivery, 'state' | 'tries' | 'dueAtMs' | 'outcome'>;

/** The tries before this one, and since when they are counted. */
interface TriedBefore extends Pick<Tries, 'tries' | 'outcome'> {
  readonly sinceMs: number;
}

/**
 * Reads each hash from its chain, and reports the result to every vault that it concerns. Returns
 * an outcome for each. A hint about a transaction that does not exist credits nothing, and a
 * repeated, late or unordered one changes nothing.
 */
export async function recordHints(
  env: CoordinatorEnv,
  hints: readonly Hint[],
  before: TriedBefore,
): Promise<readonly HintOutcome[]> {
  // An RPC node that was unreachable has to catch up first: a transaction that it lacks now may be
  // in the blocks that it has missed.
  const isPatient = Date.now() - before.sinceMs < HINT_GRACE_MS || wasUnreachable(before);
  const outcomes: HintOutcome[] = [];
  const reading = { env, clientOf: chainClients(env) };
  for (const hint of hints) outcomes.push(await recordHint(reading, hint, isPatient));
  return outcomes;
}

/** Reports whether this deployment has an RPC node of a chain. */
export function isReadable(env: CoordinatorEnv, caip2: string): boolean {
  const chain = findChain(chainsFrom(env), caip2);
  return chain !== null && chainClientFor(env, chain) !== null;
}

/** Reports whether a hint with this outcome needs another try. */
export function needsRetry(outcome: HintOutcome): boolean {
  return outcome === 'later' || outcome === 'missing' || outcome === 'away' || outcome === 'claimed';
}

/** Returns what the row stores after a try: the end, or the time of the next try. */
export function afterTry(outcomes: readonly HintOutcome[], before: TriedBefore, nowMs: number): Tries {
  const tried = { tries: before.tries + 1, dueAtMs: nowMs, outcome: JSON.stringify(countsOf(outcomes)) };
  if (!outcomes.some(needsRetry)) return { ...tried, state: 'done' };
  const ageMs = nowMs - before.sinceMs;
  if (ageMs >= GIVE_UP_MS) return { ...tried, state: 'failed' };
  // For an old one the retry uses the longest delay.
  const isSoon = ageMs < HINT_GRACE_MS || outcomes.includes('away') || outcomes.includes('claimed');
  const delayMs = isSoon ? Math.min(FIRST_RETRY_MS * 2 ** Math.min(before.tries, 10), MAX_RETRY_MS) : MAX_RETRY_MS;
  return { ...tried, state: 'open', dueAtMs: nowMs + delayMs };
}

interface Reading {
  readonly env: CoordinatorEnv;
  readonly clientOf: (chain: Chain) => ChainClient | null;
}

async function recordHint({ env, clientOf }: Reading, hint: Hint, isPatient: boolean): Promise<HintOutcome> {
  const chain = findChain(chainsFrom(env), hint.chain);
  const client = chain === null ? null : clientOf(chain);
  if (chain === null || client === null) return 'unknown-chain';
  const seen = await client.activity(hint.hash, null);
  if (!seen.ok) {
    const { claimedBy, isUnread, detail } = seen.refusal;
    if (isUnread === true) {
      console.error(JSON.stringify({ event: 'transaction-unread', chain: chain.name, hash: hint.hash, detail }));
      return 'unread';
    }
    if (claimedBy === undefined) return 'away';
    await keepClaim(env, { chain: chain.name, hash: hint.hash, host: claimedBy });
    return 'claimed';
  }
  await raiseUntraced(env, { chain: chain.name, hosts: seen.value?.untracedBy }, Date.now());
  const hasFailed = seen.value?.hasFailed === true;
  if (!hasFailed && seen.value !== null && seen.value.block !== null) {
    const outcome = await recordInVaults(env, client, seen.value);
    const isOpen = outcome === 'claimed' || (outcome === 'none' && seen.value.isUntraced === true);
    if (!isOpen) return outcome;
    // A busy RPC node traces later; one that never does must not hold the delivery for a day.
    return isPatient ? 'later' : 'untraced';
  }
  // Its block may be gone. A vault with a record of it polls on its own, against its recorded
  // block.
  for (const vault of vaultObjects(env, await vaultsWithTransaction(env.DB, chain.name, hint.hash))) {
    await vault.report({ type: 'pollActivityNow', chain: chain.name, hash: hint.hash });
  }
  // No later call changes a failed transaction, which moved nothing.
  if (hasFailed) return 'none';
  // An unconfirmed transaction is shown but incomplete: payments by contracts and token movements
  // follow when it is mined.
  if (seen.value === null) return isPatient ? 'missing' : 'none';
  const outcome = await recordInVaults(env, client, seen.value);
  return isPatient ? 'later' : outcome;
}

/** Reports a transaction to every vault that it concerns. */
async function recordInVaults(
  env: CoordinatorEnv,
  client: ChainClient,
  read: ReadTransaction,
): Promise<ActivityOutcome | 'claimed'> {
  const { chain } = client;
  const parties = partiesOf({ ...read, movements: [...read.movements, ...(read.claim?.movements ?? [])] });
  const known = await walletsAt(env.DB, chain.name, parties);
  const { seen, claimedBy, byBalances } = await provenTransaction(
    client,
    read,
    known.map(({ address }) => address),
  );
  if (claimedBy !== null) await keepClaim(env, { chain: chain.name, hash: read.hash, host: claimedBy });
  const shown = new Set(partiesOf(seen));
  const concerned = known.filter(({ address }) => shown.has(address));
  if (concerned.length === 0) return claimedBy === null ? 'none' : 'claimed';
  const wallets = concerned.map(({ address }) => address);
  const valuation = await valueAssets(env, { chain, client }, { movements: seen.movements, wallets });
  const outcomes: ActivityOutcome[] = [];
  for (const vault of vaultObjects(env, new Set(concerned.map(({ vaultId }) => vaultId)))) {
    const report = { chain: chain.name, hash: seen.hash, seen, valuation, byBalances };
    outcomes.push(await vault.report({ type: 'recordActivity', ...report }));
  }
  return outcomes.find((one) => one === 'recorded') ?? outcomes[0] ?? 'none';
}

interface Proven {
  readonly seen: ChainTransaction;
  /** The host of an RPC node that states more, which nothing proves; null without one. */
  readonly claimedBy: string | null;
  /** The ids of the movements that only balances prove. */
  readonly byBalances: readonly string[];
}

/**
 * Returns a transaction as it is recorded: with the payments by contracts that two RPC nodes state,
 * or that one states and the balances of another one prove.
 */
export async function provenTransaction(
  client: ChainClient,
  read: ReadTransaction,
  wallets: readonly string[],
): Promise<Proven> {
  const seen = transactionIn(read);
  const claimed = read.claim?.movements.filter((one) => wallets.some((wallet) => concerns(wallet, one))) ?? [];
  if (read.claim === undefined || claimed.length === 0) return { seen, claimedBy: null, byBalances: [] };
  const proven = await client.provenClaim(read, wallets);
  const movements = [...new Map([...seen.movements, ...proven].map((one) => [one.uid, one])).values()];
  const isClaimed = claimed.some(({ uid }) => !proven.some((one) => one.uid === uid));
  const claimedBy = isClaimed ? read.claim.host : null;
  return { seen: { ...seen, movements }, claimedBy, byBalances: proven.map(({ uid }) => uid) };
}

/** Keeps what one RPC node alone states. It is in no record, and operators compare the nodes. */
export async function keepClaim(
  { DB }: Pick<CoordinatorEnv, 'DB'>,
  claim: { readonly chain: string; readonly hash: string; readonly host: string },
): Promise<void> {
  console.error(JSON.stringify({ event: 'claim-unproven', ...claim }));
  await storeClaim(DB, claim, Date.now());
}

function vaultObjects(env: CoordinatorEnv, numbers: ReadonlySet<number>) {
  const ids = [...numbers].map(parseVaultId).filter((id) => id !== null);
  return ids.map((id) => vaultStub(env, id));
}

function partiesOf({ signer, movements }: ChainTransaction): readonly string[] {
  const parties = [signer, ...movements.flatMap(({ from, to }) => [from, to])];
  return [...new Set(parties.filter((party) => party !== null))];
}

function countsOf(outcomes: readonly HintOutcome[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

/** Reports whether the chain was unreachable in the last try. */
function wasUnreachable({ outcome }: TriedBefore): boolean {
  const counts: unknown = outcome === null ? null : JSON.parse(outcome);
  return isJsonObject(counts) && counts['away'] !== undefined;
}
