import { isDeepStrictEqual } from 'node:util';
import { setTimeout as pause } from 'node:timers/promises';
import type { TransactionRecord, TransferBody } from '#cli/api-client.ts';
import { chainFault } from '#cli/verify-history.ts';
import { pollUntil } from '#local/stack/poll.ts';
import type { Person } from '#local/stack/provision.ts';
import { seededRandom } from '#local/stack/seeded-random.ts';
import type { Stack } from '#local/stack/stack.ts';
import { startStack } from '#local/stack/stack.ts';
import type { OpenGolden } from '../states/golden-state.ts';
import { clientOf, entriesOf, goldenReleases, openGolden, serviceOf } from '../states/golden-state.ts';
import { listAll, recordFaults } from './check.ts';
import type { PaymentRequest } from './load.ts';
import { createAndApprove } from './load.ts';
import { readerOf, recover } from './recover.ts';
import type { StoredObject } from './stored-versions.ts';
import { storedObjects } from './stored-versions.ts';

/**
 * Upgrades the newest golden state to the synthetic next release, one Worker after the other in a
 * random order, under load and with a kill of everything in each step. Then it goes back, which is
 * refused. KILLS and SEED may be set.
 */

const KILLS = Number.parseInt(process.env['KILLS'] ?? '50', 10);
const SEED = Number.parseInt(process.env['SEED'] ?? String(Date.now() % 1_000_000), 10);
const CLIENTS = 3;
const TRANSFERS_PER_LIFE = 2;
const MAX_LIFE_MS = 1_500;
const DEADLINE_MS = 180_000;
/** The coordinator, then the co-signers. */
const WORKERS = [0, 1, 2, 3];
const RECIPIENT = '0x0000000000000000000000000000000000000de5';
const ENDED: readonly string[] = ['SUCCEEDED', 'FAILED', 'REJECTED', 'CANCELLED', 'EXPIRED'];
/** The table that the migration of each class changes (test/states/next-*.ts). */
const TABLES = {
  VaultObject: 'tx',
  PersonObject: 'person',
  AccessTokenObject: 'token',
  SessionObject: 'session',
  WalletNonceObject: 'owned',
  CosignerObject: 'signed',
};

interface Upgrade {
  readonly open: OpenGolden;
  readonly payments: PaymentRequest[];
  /** Whether each of `WORKERS` runs the next release. */
  readonly isNext: boolean[];
}

function start({ open, isNext }: Upgrade): Promise<Stack> {
  return startStack({ ...open.options, ...entriesOf(isNext) });
}

function signersAt({ open }: Upgrade, { url }: Stack): readonly Person[] {
  return ['alice', 'bob'].map((name) => {
    const { id, token, cookie } = open.golden.people[name] ?? { id: '', token: '', cookie: '' };
    return { name, id, token, cookie, client: clientOf(open.golden.people, name, url) };
  });
}

async function liveAndDie(upgrade: Upgrade, lifeMs: number): Promise<void> {
  const stack = await start(upgrade);
  const { treasury } = upgrade.open.golden;
  const body: TransferBody = { vaultId: treasury.id, chain: 'anvil', to: RECIPIENT, amount: '10' };
  const clients = Array.from({ length: CLIENTS }, async () => {
    for (let i = 0; i < TRANSFERS_PER_LIFE; i++)
      if ((await createAndApprove(signersAt(upgrade, stack), body, upgrade.payments)) === 'gone') return;
  });
  // Cron wakes every vault, so that vaults without requests are upgraded too.
  const swept = stack.sweep().catch(() => null);
  await pause(lifeMs);
  await stack.kill();
  await Promise.all([...clients, swept]);
}

async function upgradeAll(upgrade: Upgrade, next: () => number): Promise<void> {
  const left = WORKERS.map((worker) => ({ worker, order: next() })).toSorted((a, b) => a.order - b.order);
  const step = Math.max(1, Math.floor(KILLS / (WORKERS.length + 1)));
  for (let kill = 1; kill <= KILLS; kill++) {
    const due = kill % step === 0 ? left.shift() : undefined;
    if (due !== undefined) upgrade.isNext[due.worker] = true;
    await liveAndDie(upgrade, next() * MAX_LIFE_MS);
    const names = upgrade.isNext.map((isNext) => (isNext ? 'next' : 'this')).join(', ');
    console.log(`kill ${kill}: ${names}; ${upgrade.payments.length} transfers requested`);
  }
  for (const { worker } of left) upgrade.isNext[worker] = true;
}

/** Returns what is lost or wrong after the upgrade. */
async function lossesOf(upgrade: Upgrade): Promise<readonly string[]> {
  const { open, payments } = upgrade;
  const { golden, anvil, bitcoin } = open;
  const stack = await start(upgrade);
  const signers = signersAt(upgrade, stack);
  const reader = readerOf(signers);
  await stack.sweep();
  const id = (state: string) => golden.ids[state] ?? '';
  await recover(signers, payments, () => ended(reader, payments));
  await pollUntil('the payment in the mempool', async () => bitcoin.chain.waiting()[0] ?? null, DEADLINE_MS);
  bitcoin.chain.mine(2);
  await reader.client.approve(id('SUBMITTED'));
  for (const state of ['SUBMITTED', 'SIGNING', 'BROADCAST', 'CONFIRMING']) {
    const probe = async () => ((await reader.client.read(id(state))).state === 'SUCCEEDED' ? true : null);
    await pollUntil(`success of ${state}`, probe, DEADLINE_MS);
  }
  const found: string[] = [];
  for (const payment of payments) {
    found.push(...recordFaults(payment, await reader.client.read(payment.id ?? ''), signers));
  }
  const due = payments.reduce((sum, { body }) => sum + BigInt(body.amount), 0n);
  const received = await anvil.balance(RECIPIENT);
  if (received !== due) found.push(`${due} wei should have arrived, ${received} did`);
  for (const [vaultId, before] of Object.entries(golden.listed)) {
    const now = new Map((await listAll(reader, Number.parseInt(vaultId, 10))).map((one) => [one.id, one]));
    for (const record of before) {
      const after = now.get(record.id);
      const isSame = !ENDED.includes(record.state) || isDeepStrictEqual(lastingOf(after), lastingOf(record));
      if (after === undefined || !isSame) found.push(`${record.id} (${record.state}) is not what it was`);
    }
    const fault = await historyFault(reader, vaultId);
    if (fault !== null) found.push(`history of vault ${vaultId}: ${fault}`);
  }
  found.push(...(await peopleFaults(upgrade, stack)));
  await stack.stop();
  return found;
}

/** Returns what is wrong with a session and with a credential reset. */
async function peopleFaults({ open }: Upgrade, stack: Stack): Promise<readonly string[]> {
  const { carol, dave } = open.golden.people;
  const headers = { cookie: carol?.cookie ?? '' };
  const { status } = await fetch(`${stack.url}/vault/${open.golden.treasury.id}/policy`, { headers });
  const path = `/internal/user/${dave?.id}/credential-reset`;
  const { body } = await serviceOf(stack).request<{ data: readonly { state: string }[] }>('GET', path);
  return [
    ...(status === 200 ? [] : [`a session is answered with ${status}`]),
    ...(body.data[0]?.state === 'PENDING' ? [] : [`a credential reset is ${JSON.stringify(body.data)}`]),
  ];
}

/** Returns what no later block changes, as the finality of a payment does. */
function lastingOf(record: TransactionRecord | undefined) {
  const { state, stateReason, txHash, approvals, createdAt, note, visible } = record ?? {};
  return { state, stateReason, txHash, approvals, createdAt, note, visible };
}

async function ended({ client }: Person, payments: readonly PaymentRequest[]): Promise<number> {
  const records = await Promise.all(payments.map(({ id }) => client.read(id ?? '')));
  return records.filter(({ state }) => state === 'SUCCEEDED').length;
}

async function historyFault({ client }: Person, vaultId: string): Promise<string | null> {
  const lines: Parameters<typeof chainFault>[0][number][] = [];
  for (let after: number | null = 0; after !== null;) {
    const { body }: { readonly body: HistoryPage } = await client.request(
      'GET',
      `/vault/${vaultId}/history?after=${after}`,
    );
    lines.push(...body.history);
    after = body.nextAfter;
  }
  return chainFault(lines);
}

interface HistoryPage {
  readonly history: Parameters<typeof chainFault>[0];
  readonly nextAfter: number | null;
}

/**
 * Returns what is wrong with the state that the migrations left. The next release has one version
 * more than this one, and its migration leaves a trace.
 */
function migrationFaults(objects: readonly StoredObject[]): readonly string[] {
  return Object.keys(TABLES).flatMap((part) => {
    const own = objects.filter(({ className }) => className.includes(part));
    const upgraded = own.filter(({ migrated }) => migrated !== null);
    if (upgraded.length === 0) return [`${part}: no object was upgraded`];
    const next = Math.max(...upgraded.map(({ version }) => version));
    return own.flatMap(({ className, version, migrated }) => {
      if (version >= next !== (migrated !== null)) {
        return [`${className}: version ${version}, and the migration is half done`];
      }
      // Rows of `tx` stay. Rows of the other tables may end.
      const isWhole = migrated === null || !className.includes('VaultObject') || migrated.once === migrated.found;
      return isWhole && (migrated?.otherwise ?? 0) === 0 ? [] : [`${className}: ${JSON.stringify(migrated)}`];
    });
  });
}

/** Returns what is wrong when this release starts on the state of the next one. */
async function downgradeFaults(upgrade: Upgrade): Promise<readonly string[]> {
  const before = storedObjects(upgrade.open.options.folder, TABLES);
  const stack = await start({ ...upgrade, isNext: WORKERS.map(() => false) });
  const { client } = readerOf(signersAt(upgrade, stack));
  const path = `/transaction/${upgrade.open.golden.ids['SUCCEEDED']}`;
  const { status, body } = await client.request<{ code: string; detail: string }>('GET', path);
  await stack.stop();
  const found = migrationFaults(before).slice();
  if (status !== 500 || body.code !== 'state-unreadable' || !body.detail.includes('Deploy that release again'))
    found.push(`going back answered ${status}: ${JSON.stringify(body)}`);
  if (!isDeepStrictEqual(storedObjects(upgrade.open.options.folder, TABLES), before))
    found.push('going back changed stored state');
  const again = await start(upgrade);
  const { state } = await readerOf(signersAt(upgrade, again)).client.read(upgrade.open.golden.ids['SUCCEEDED'] ?? '');
  await again.stop();
  return state === 'SUCCEEDED' ? found : [...found, `the next release reads ${state} afterwards`];
}

async function main(): Promise<readonly string[]> {
  const release = goldenReleases().at(-1);
  if (release === undefined) throw new Error('there is no golden state; see npm run state');
  console.log(`state of ${release}, ${KILLS} kills, seed ${SEED}`);
  const upgrade: Upgrade = { open: await openGolden(release), payments: [], isNext: WORKERS.map(() => false) };
  try {
    await upgradeAll(upgrade, seededRandom(SEED));
    return [...(await lossesOf(upgrade)), ...(await downgradeFaults(upgrade))];
  } finally {
    await upgrade.open.end();
  }
}

const found = await main();
for (const fault of found) console.error(fault);
console.log(found.length === 0 ? 'The upgrade has lost nothing.' : `${found.length} faults`);
process.exitCode = found.length === 0 ? 0 : 1;
