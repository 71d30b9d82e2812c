import { isDeepStrictEqual } from 'node:util';
import { activityCodec, balanceCodec } from '#objects/vault/documents/activity-documents.ts';
import { transactionCodec } from '#objects/vault/documents/transaction-document.ts';
import { unitsOf } from '#domain/asset/amount.ts';
import { WAITS_FOR_NONCE } from '#domain/transaction/nonce-wait.ts';
import type { Transaction } from '#domain/transaction/transaction.ts';
import { isFinal } from '#domain/transaction/transaction.ts';
import { isWatchedAfterFailure, keepsReservation, mayEndUnknown, outstandingJob } from '#domain/transaction/job.ts';
import { chainFault } from '#cli/verify-history.ts';
import type { HistoryEntry } from '#objects/vault/documents/history.ts';
import { projectedTransaction } from '#objects/vault/projection.ts';
import type { Balance } from '#domain/asset/balance.ts';
import type { Database } from '../objects/memory-sql.ts';
import type { SimulatedChain } from './chains/chain.ts';
import type { World } from './world.ts';

interface Row {
  readonly document: string;
  readonly job: string;
  readonly nonce: string;
  readonly n: number;
  readonly id: string;
  readonly state: string;
  readonly record: string;
  readonly entry: string;
  readonly hash: string;
}

/** Returns the rows of a query; the caller knows the types of the columns. */
function rowsOf(db: Database, query: string): readonly Row[] {
  return db.run(query, []).rows as readonly Row[];
}

function vaultDb(world: World): Database {
  return world.vaults.host(`vault:${world.vaultId}`).db;
}

export function ownTransactions(world: World): readonly Transaction[] {
  const rows = rowsOf(vaultDb(world), 'SELECT document FROM tx ORDER BY id');
  return rows.map(({ document }) => transactionCodec.decode(document));
}

function balanceOf(world: World, { row: { name } }: SimulatedChain, token: string | null = null): Balance | null {
  const rows = rowsOf(vaultDb(world), `SELECT document FROM balance WHERE chain = '${name}'`);
  const balances = rows.map(({ document }) => balanceCodec.decode(document));
  return balances.find(({ tokenAddress }) => tokenAddress === token) ?? null;
}

/** Returns every asset of every wallet. */
function assetsIn(world: World) {
  return [...world.wallets].flatMap(([chain, wallet]) =>
    [null, ...(chain.token === undefined ? [] : [chain.token])].map((token) => ({ chain, wallet, token })),
  );
}

/**
 * Checks that the service marks nothing as final before the network does, because a final
 * transaction is never observed again.
 */
export function judgeFinality(world: World, { row, finalNumber }: SimulatedChain): void {
  const own = ownTransactions(world).flatMap(({ id, chain, inclusion }) =>
    chain === row.name && inclusion?.finalized === true ? [{ id, number: inclusion.blockNumber }] : [],
  );
  const rows = rowsOf(vaultDb(world), `SELECT document FROM activity WHERE chain = '${row.name}'`);
  const others = rows.flatMap(({ document }) => {
    const { id, block } = activityCodec.decode(document);
    return block?.isFinal === true ? [{ id, number: block.number }] : [];
  });
  for (const { id, number } of [...own, ...others]) {
    if (BigInt(number) > finalNumber)
      world.oracle.fault(`I6: ${id} is final in block ${number}, and ${finalNumber} is`);
  }
}

/**
 * Reports whether transactions of a chain wait above a nonce that no transaction owns. The wallet's
 * next payment gets that nonce.
 */
export function waitsForPayment(world: World, { row: { name } }: SimulatedChain): boolean {
  return ownTransactions(world).some(
    ({ chain, stateReason, waitsFor }) => chain === name && stateReason === WAITS_FOR_NONCE && waitsFor === null,
  );
}

/** Returns the state of a transaction; null when the vault does not have it. */
export function stateOf(world: World, id: string | null): Transaction['state'] | null {
  return ownTransactions(world).find((one) => one.id === id)?.state ?? null;
}

/** Returns the transactions that people may end because they have not changed for this time. */
export function unknownEnds(world: World, forMs: number): readonly Transaction[] {
  return ownTransactions(world).filter((one) => mayEndUnknown(one) && world.schedule.nowMs - one.updatedAtMs >= forMs);
}

/** Reports whether every transaction is in a final state and has no outstanding job. */
export function isQuiet(world: World): boolean {
  return !ownTransactions(world).some(
    (one) => !isFinal(one.state) || (outstandingJob(one) !== null && !isWatchedAfterFailure(one)),
  );
}

/**
 * Reports whether no work is outstanding, every event is sent, and the balances agree with the
 * chain.
 */
export function isSettled(world: World): boolean {
  return isQuiet(world) && isIdle(world) && agreesWithChain(world);
}

/** The jobs that wait for days. */
const LATER: ReadonlySet<unknown> = new Set(['reconcile', 'expire-policy', 'prune']);

/** Reports whether no job is due, and every event is sent. */
export function isIdle(world: World): boolean {
  const outbox = rowsOf(vaultDb(world), 'SELECT tx_id AS id, job FROM outbox');
  // A record is decoded only where a job needs it: a year has a thousand.
  const watched = outbox.some(({ job }) => job === 'confirm')
    ? ownTransactions(world).filter(isWatchedAfterFailure)
    : [];
  const queued = outbox.filter(({ id, job }) => job !== 'confirm' || !watched.some((one) => one.id === id));
  if (queued.some(({ job }) => !LATER.has(job))) return false;
  const ofDeliveries = rowsOf(world.d1.db, "SELECT count(*) AS n FROM deliveries WHERE state = 'open'");
  const ofScans = rowsOf(world.d1.db, "SELECT count(*) AS n FROM scans WHERE state = 'open'");
  return [...ofDeliveries, ...ofScans].every(({ n }) => (n ?? 0) === 0);
}

function agreesWithChain(world: World): boolean {
  return assetsIn(world).every(({ chain, wallet, token }) => {
    const balance = balanceOf(world, chain, token);
    return balance !== null && balance.difference === null && unitsOf(balance.final) === chain.balance(wallet, token);
  });
}

/** Describes all transactions, outbox jobs and balances, for the person who reads the fault. */
export function underWay(world: World): string {
  const lines = ownTransactions(world).map(({ state, stateReason, attempts }) => {
    const tried = attempts.map(({ nonce, purpose, sent }) => `${purpose} at ${nonce} ${sent?.outcome ?? 'not sent'}`);
    return `${state} (${stateReason ?? 'no reason'}; ${tried.join(', ')})`;
  });
  const queued = rowsOf(vaultDb(world), 'SELECT job FROM outbox').map(({ job }) => job);
  const held = assetsIn(world).map(({ chain, wallet, token }) => {
    const { final = 'none', difference = null } = balanceOf(world, chain, token) ?? {};
    const found = difference === null ? '' : `, differs by ${difference.units}`;
    return `${chain.row.name} ${token ?? ''}: ledger ${final}, chain ${chain.balance(wallet, token)}${found}`;
  });
  const open = ['deliveries', 'scans'].flatMap((table) =>
    rowsOf(world.d1.db, `SELECT * FROM ${table} WHERE state = 'open'`).map((row) => `${table} ${JSON.stringify(row)}`),
  );
  return [...lines, `queued: ${queued.join()}`, ...held, ...open].join('; ');
}

/**
 * Checks that every record with a final block says what the transaction moved and cost. It holds at
 * any time, also while an RPC node lies, because a final record is never read again.
 */
export function judgeRecords(world: World): void {
  for (const [chain, wallet] of world.wallets) {
    const own = ownTransactions(world).flatMap(({ id, chain: name, inclusion }) =>
      name === chain.row.name && inclusion?.finalized === true ? [{ id, ...inclusion, fee: inclusion.feePaid }] : [],
    );
    const rows = rowsOf(vaultDb(world), `SELECT document FROM activity WHERE chain = '${chain.row.name}'`);
    const others = rows.flatMap(({ document }) => {
      const { id, hash, block, changes, movements } = activityCodec.decode(document);
      return block?.isFinal === true ? [{ id, hash, changes, movements, fee: null }] : [];
    });
    for (const { id, hash, changes, movements, fee } of [...own, ...others]) {
      const truth = chain.movedBy(hash, wallet);
      const net = changes.reduce((sum, one) => sum + (one.tokenAddress === null ? BigInt(one.units) : 0n), 0n);
      const isTrue = truth !== null && truth.net === net && (fee === null || truth.fee === BigInt(fee));
      const tokens = changes.reduce((sum, one) => sum + (one.tokenAddress === null ? 0n : BigInt(one.units)), 0n);
      const hasToken = movements.some(({ tokenAddress }) => tokenAddress !== null && tokenAddress !== chain.token);
      if (isTrue && !hasToken && tokens === (truth.tokens ?? 0n)) continue;
      const lie = hasToken ? ', with a false token' : '';
      const said = `${net}, ${tokens} of tokens and the fee ${fee ?? 'of others'}${lie}`;
      const shown = `${truth?.net ?? 'nothing'}, ${truth?.tokens ?? 0n} and ${truth?.fee ?? 'none'}`;
      world.oracle.fault(`I15: ${id} says ${said}; the chain says ${shown}`);
    }
  }
}

/** Checks the invariants that hold once every transaction is in a final state. */
export function judge(world: World): void {
  const { oracle } = world;
  const transactions = ownTransactions(world);
  for (const payment of oracle.payments) {
    const record = transactions.find(({ id }) => id === payment.id);
    const times = oracle.paid(payment);
    if (payment.id !== null && record === undefined)
      oracle.fault(`I4: ${payment.key} was acknowledged and is not there`);
    const same = transactions.filter(
      ({ intent }) =>
        intent.kind === 'transfer' &&
        intent.chain === payment.chain.row.caip2 &&
        BigInt(intent.amount) === payment.amount,
    );
    if (same.length > 1) oracle.fault(`I4: ${payment.key} is there ${same.length} times`);
    if (record === undefined) continue;
    if ((record.state === 'SUCCEEDED') !== (times === 1)) {
      oracle.fault(`I6: ${payment.key} is ${record.state}, and the chain has it ${times} times`);
    }
    // Only the service has the key, so any conflicting transaction is one of its own.
    if (record.stateReason === 'CONFLICTED') oracle.fault(`I6: ${payment.key} was conflicted with`);
    if (record.stateReason === 'NOT_AFTER_PASSED' && payment.notAfterMs === null) {
      oracle.fault(`I4: ${payment.key} has no end and was ended by time`);
    }
    if (payment.isStopped && times > 0) oracle.fault(`I4: ${payment.key} was stopped and is paid`);
    // A policy change removes former signers' approvals from undecided transactions. Without such a
    // change no approval is lost.
    const approvers = new Set(record.approvals.map(({ actor }) => actor.userId as string));
    const lost = [...payment.acknowledgedTo].filter(
      (person) => !approvers.has(person) && oracle.terms.signers.includes(person),
    );
    if (lost.length > 0 && !oracle.hasChanged) oracle.fault(`I4: ${payment.key} has lost an approval that counted`);
    if (record.approvals.length > approvers.size) oracle.fault(`I4: ${payment.key} has an approval twice`);
  }
  judgeRecords(world);
  const kept = new Set(transactions.filter(keepsReservation).map(({ id }) => id as string));
  for (const [chain, wallet] of world.wallets) judgeAllocator(world, { chain, wallet, kept });
  judgeHistory(world);
  judgeProjection(world, transactions);
  for (const { chain, wallet, token } of assetsIn(world)) {
    const balance = balanceOf(world, chain, token);
    const held = chain.balance(wallet, token);
    if (balance === null || unitsOf(balance.final) !== held) {
      oracle.fault(
        `I7: the ledger of ${chain.row.name} ${token ?? ''} says ${balance?.final ?? 'nothing'}, the chain ${held}`,
      );
    }
  }
}

/**
 * Checks that no reservation is held for a finished transaction, and that the next nonce is the one
 * that the chain expects.
 */
function judgeAllocator(
  { oracle, nonces }: World,
  {
    chain,
    wallet,
    kept,
  }: { readonly chain: SimulatedChain; readonly wallet: string; readonly kept: ReadonlySet<string> },
): void {
  const db = nonces.hosts.get(`nonce:${chain.row.caip2}:${wallet}`)?.db;
  // The wallet has no allocator because nothing was ever signed for it.
  if (db === undefined) return;
  const owned = rowsOf(db, 'SELECT nonce FROM owned');
  if (owned.length > 0) oracle.fault(`nonces: ${wallet} still owns ${owned.length}`);
  const claimed = rowsOf(db, 'SELECT transaction_id AS id FROM coin').filter(({ id }) => !kept.has(id));
  if (claimed.length > 0) oracle.fault(`coins: ${wallet} still claims ${claimed.length}`);
  const used = chain.nonce(wallet);
  if (used === null) return;
  const floor = BigInt(rowsOf(db, 'SELECT nonce FROM floor')[0]?.nonce ?? 0);
  if (floor !== used) oracle.fault(`nonces: ${wallet} counts from ${floor} on, and the chain is at ${used}`);
}

/**
 * Checks invariant I11: the history is one unbroken hash chain, it is equal in D1 and in the vault,
 * and no rejected or expired transaction changes.
 */
export function judgeHistory(world: World): void {
  const parsed = (rows: readonly { entry: string; hash: string }[]) =>
    rows.map(({ entry, hash }) => ({ ...(JSON.parse(entry) as HistoryEntry), hash }));
  const kept = parsed(rowsOf(vaultDb(world), 'SELECT document AS entry, hash FROM history ORDER BY seq'));
  const reported = parsed(
    rowsOf(world.d1.db, `SELECT entry, hash FROM audit WHERE vault_id = ${world.vaultId} ORDER BY seq`),
  );
  const broken = chainFault(kept) ?? chainFault(reported);
  if (broken !== null) world.oracle.fault(`I11: ${broken}`);
  if (kept.length !== reported.length || kept.at(-1)?.hash !== reported.at(-1)?.hash) {
    world.oracle.fault(`I11: D1 has ${reported.length} lines of ${kept.length}`);
  }
  for (const { transactionId, from, to, action } of kept) {
    const isOver = from === 'REJECTED' || from === 'EXPIRED';
    if (isOver && to !== from) world.oracle.fault(`I6: ${transactionId} goes from ${from} to ${to} by ${action}`);
  }
}

/**
 * Checks that no transaction returns to a state and reason too often. Such a transaction changes
 * all the time and therefore never counts as stuck. A growing number of confirmations is allowed.
 */
export function judgeCircles(world: World, maxTimes: number): void {
  const entries = rowsOf(vaultDb(world), 'SELECT document AS entry, hash FROM history ORDER BY seq').map(
    ({ entry }) => JSON.parse(entry) as HistoryEntry,
  );
  const times = new Map<string, number>();
  const newest = new Map<string, string>();
  for (const { transactionId, to, reason } of entries) {
    if (transactionId === null) continue;
    const condition = `${to} ${reason ?? 'without a reason'}`;
    if (newest.get(transactionId) === condition) continue;
    newest.set(transactionId, condition);
    const name = `${transactionId} ${condition}`;
    times.set(name, (times.get(name) ?? 0) + 1);
  }
  for (const [name, count] of times) if (count > maxTimes) world.oracle.fault(`I14: ${name} comes ${count} times`);
}

/** Checks that D1 equals the vault object, once every event is sent. */
function judgeProjection(world: World, transactions: readonly Transaction[]): void {
  const rows = rowsOf(world.d1.db, 'SELECT id, record, state FROM transactions');
  for (const transaction of transactions) {
    const row = rows.find(({ id }) => id === transaction.id);
    const expected: unknown = JSON.parse(projectedTransaction(transaction).record);
    // The order of fields differs between a record in memory and one that was read again.
    const isSame = row !== undefined && isDeepStrictEqual(JSON.parse(row.record), expected);
    if (!isSame || row.state !== transaction.state) {
      world.oracle.fault(
        `D1: ${transaction.id} is ${row?.state ?? 'not there'}, and the vault says ${transaction.state}`,
      );
    }
  }
}
