import { mkdtemp, rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Hex } from 'viem';
import { getAddress } from 'viem';
import { startAnvil } from '#local/evm/anvil.ts';
import type { TransactionRecord } from '#cli/api-client.ts';
import { Client } from '#cli/api-client.ts';
import type { Observed } from '#local/stack/monitor.ts';
import { report } from '#local/stack/monitor.ts';
import { UNLIMITED } from '#local/stack/configuration.ts';
import type { Person } from '#local/stack/provision.ts';
import { createPerson, createReadyVault } from '#local/stack/provision.ts';
import { seededRandom } from '#local/stack/seeded-random.ts';
import type { Stack, StackOptions } from '#local/stack/stack.ts';
import { startStack } from '#local/stack/stack.ts';
import { pollUntil } from '#local/stack/poll.ts';
import { anvilClient } from '../chains/evm/anvil-client.ts';
import { databaseFile } from './ill-database.ts';

/**
 * Sends ten thousand deliveries of a monitor, many of them repeatedly and some about nothing, while
 * the service that processes them is killed again and again. The monitor sends a delivery until it
 * is acknowledged. In the end every delivery is accounted for, and the vault has each payment once
 * and the whole amount. DELIVERIES, KILLS and SEED may be set; a seed repeats the events, not the
 * races.
 */

const DELIVERIES = Number.parseInt(process.env['DELIVERIES'] ?? '10000', 10);
const KILLS = Number.parseInt(process.env['KILLS'] ?? '10', 10);
const SEED = Number.parseInt(process.env['SEED'] ?? String(Date.now() % 1_000_000), 10);
/**
 * The number of deliveries in ten that are about a payment to the vault, and about a payment to
 * another address; the others are about an unknown chain.
 */
const [OURS, OF_OTHERS] = [5, 2];
const SENDERS = 16;
/**
 * The number of payments to the vault. Most are reported once, so that single delivery is all that
 * the vault ever learns about them.
 */
const PAYMENTS = Math.max(Math.floor(DELIVERIES / 4), 1);
const REPORTED_ONCE = 0.8;
const PAYMENTS_OF_OTHERS = Math.max(Math.floor(DELIVERIES / 20), 1);
const PER_BLOCK = 25;
const RECOVERY_MS = 600_000;
/** The time between two checks of whether all deliveries are processed, in milliseconds. */
const POLL_MS = 2_000;
const UNKNOWN_CHAIN = 'eip155:999999';

interface Payment {
  readonly hash: Hex;
  readonly value: bigint;
}

async function main(): Promise<readonly string[]> {
  console.log(`${DELIVERIES} deliveries, ${KILLS} kills, seed ${SEED}`);
  const chance = seededRandom(SEED);
  const folder = await mkdtemp(join(tmpdir(), 'conclave-deliveries-'));
  const node = await startAnvil();
  const options: StackOptions = { folder, rpcUrls: { anvil: [node.url] }, rateLimits: UNLIMITED };
  let stack = await startStack(options);
  try {
    const service = new Client(stack.url, stack.serviceKey);
    const alice = await createPerson(service, stack.url, 'alice');
    const vault = await createReadyVault(service, { name: 'treasury', signers: [alice], threshold: 1 });
    const ours = await pay(node.url, vault.address, PAYMENTS);
    const elsewhere = await pay(node.url, '0x00000000000000000000000000000000c0ac1a4e', PAYMENTS_OF_OTHERS);
    const deliveries = story(chance, ours, elsewhere);
    const waiting = new Set(deliveries);
    for (let kill = 0; kill <= KILLS; kill++) {
      // Each run of the service before a kill gets a random part of the deliveries, and the last
      // run gets the rest.
      const goal = kill === KILLS ? 0 : Math.floor(waiting.size * (1 - chance() / (KILLS - kill)));
      await deliver(stack, waiting, goal);
      if (kill === KILLS) break;
      await pause(chance() * 500);
      await stack.kill();
      console.log(`kill ${kill + 1}: ${deliveries.length - waiting.size} acknowledged so far`);
      stack = await startStack(options);
    }
    console.log(`all ${deliveries.length} are acknowledged; waiting for the last to be worked on`);
    const here = stack;
    const reader: Person = { ...alice, client: alice.client.at(stack.url) };
    const records = await pollUntil(
      'record of every payment',
      () => everyPayment(here, reader, { vault, ours }),
      RECOVERY_MS,
    );
    const endsAt = Date.now() + RECOVERY_MS;
    // A delivery that is still open after the deadline is reported as a fault.
    while (!(await settled(here, folder)) && Date.now() < endsAt) await pause(POLL_MS);
    const { balances } = await reader.client.balances(vault.id);
    await stack.stop();
    return faults({ deliveries, ours, records, current: balances[0]?.current ?? '', rows: rowsIn(folder) });
  } finally {
    await stack.stop();
    await node.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** A vault records at most 200 payments of dust on one day. */
const ABOVE_DUST = 10n ** 10n;

/** Makes this number of payments, several in each block, each of a different amount. */
async function pay(url: string, to: string, count: number): Promise<readonly Payment[]> {
  const client = anvilClient(url);
  const [account] = await client.getAddresses();
  if (account === undefined) throw new Error('anvil has accounts');
  await client.setAutomine(false);
  const payments: Payment[] = [];
  for (let i = 1; i <= count; i++) {
    const value = ABOVE_DUST + BigInt(i);
    payments.push({ hash: await client.sendTransaction({ account, to: getAddress(to), value }), value });
    if (i % PER_BLOCK === 0 || i === count) await client.mine({ blocks: 1 });
  }
  await client.setAutomine(true);
  return payments;
}

/**
 * Returns the monitor's deliveries in random order. Every payment to the vault is in it, some of
 * them many times.
 */
function story(chance: () => number, ours: readonly Payment[], elsewhere: readonly Payment[]): readonly Observed[] {
  const some = (payments: readonly Payment[]) => payments[Math.floor(chance() * payments.length)]?.hash ?? '0x';
  const sights: Observed[] = ours.map(({ hash }, i) => ({ txHash: hash, id: `msg_first_${i}` }));
  const repeated = ours.slice(Math.floor(ours.length * REPORTED_ONCE));
  while (sights.length < DELIVERIES) {
    const [id, dice] = [`msg_${sights.length}`, chance() * 10];
    if (dice < OURS) sights.push({ id, txHash: some(repeated) });
    else if (dice < OURS + OF_OTHERS) sights.push({ id, txHash: some(elsewhere) });
    else sights.push({ id, txHash: `0x${sights.length.toString(16).padStart(64, '0')}`, chain: UNKNOWN_CHAIN });
  }
  return sights
    .map((observed) => ({ observed, at: chance() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ observed }) => observed);
}

/**
 * Sends deliveries from many senders at once until at most `goal` are waiting. A delivery that is
 * not acknowledged stays in the set.
 */
async function deliver({ monitor }: Stack, waiting: Set<Observed>, goal: number): Promise<void> {
  const line = waiting.values();
  const sender = async () => {
    for (const observed of line) {
      if (waiting.size <= goal) return;
      if ((await report(monitor, observed).catch(() => 0)) === 200) waiting.delete(observed);
    }
  };
  while (waiting.size > goal) await Promise.all(Array.from({ length: SENDERS }, sender));
}

async function everyPayment(
  stack: Stack,
  reader: Person,
  { vault, ours }: { readonly vault: { readonly id: number }; readonly ours: readonly Payment[] },
): Promise<readonly TransactionRecord[] | null> {
  await stack.sweep();
  const records: TransactionRecord[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const query: { limit: string; cursor?: string } = { limit: '100', ...(cursor === '' ? {} : { cursor }) };
    const page = await reader.client.transactions(vault.id, query);
    records.push(...page.transactions);
    cursor = page.nextCursor;
  }
  return records.length >= ours.length ? records : null;
}

interface DeliveryRow {
  readonly state: string;
  readonly outcome: string | null;
}

/**
 * The time to wait for the database file, which no other process can read while the service writes
 * to it.
 */
const BUSY_MS = 10_000;

/** Returns the rows of the D1 file itself, because the service shows no delivery over HTTP. */
function rowsIn(folder: string): readonly DeliveryRow[] {
  const db = new DatabaseSync(databaseFile(folder), { readOnly: true, timeout: BUSY_MS });
  try {
    return db.prepare('SELECT state, outcome FROM deliveries').all() as unknown as readonly DeliveryRow[];
  } finally {
    db.close();
  }
}

async function settled(stack: Stack, folder: string): Promise<boolean> {
  await stack.sweep();
  return rowsIn(folder).every(({ state }) => state !== 'open');
}

interface Evidence {
  readonly deliveries: readonly Observed[];
  readonly ours: readonly Payment[];
  readonly records: readonly TransactionRecord[];
  readonly current: string;
  readonly rows: readonly DeliveryRow[];
}

function faults({ deliveries, ours, records, current, rows }: Evidence): readonly string[] {
  const found: string[] = [];
  const say = (holds: boolean, fault: string) => {
    if (!holds) found.push(fault);
  };
  say(rows.length === deliveries.length, `${deliveries.length} deliveries were acknowledged, ${rows.length} are kept`);
  const undone = rows.filter(({ state }) => state !== 'done');
  say(undone.length === 0, `${undone.length} deliveries were given up on`);
  const unclear = rows.filter(
    ({ outcome }) => outcome === null || !/^\{"(recorded|unchanged|none|unknown-chain)":1\}$/.test(outcome),
  );
  say(unclear.length === 0, `${unclear.length} deliveries came to something else: ${unclear[0]?.outcome}`);
  const hashes = new Set(records.map(({ txHash }) => txHash));
  say(records.length === ours.length, `${ours.length} payments, ${records.length} records`);
  say(hashes.size === records.length, 'two records have one hash');
  for (const { hash, value } of ours) {
    const record = records.find(({ txHash }) => txHash === hash);
    say(record?.amount === value.toString(), `${hash}: ${record?.amount} instead of ${value}`);
  }
  const paid = ours.reduce((sum, { value }) => sum + value, 0n);
  say(current === paid.toString(), `${paid} were paid, the balance has ${current}`);
  return found;
}

const found = await main();
for (const fault of found) console.error(fault);
console.log(found.length === 0 ? 'Every delivery is accounted for.' : `${found.length} faults`);
process.exitCode = found.length === 0 ? 0 : 1;
