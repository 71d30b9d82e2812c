import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { startAnvil } from '../local/evm/anvil.ts';
import { WRANGLER } from '../local/stack/bundle.ts';
import { localChain } from '../local/evm/chain.ts';
import { Client } from './api-client.ts';
import type { Command } from './command-line.ts';
import { UsageError } from './command-line.ts';
import type { Person, ReadyVault } from '../local/stack/provision.ts';
import { createPerson, createReadyVault } from '../local/stack/provision.ts';
import { startStack } from '../local/stack/stack.ts';
import { stopped } from '../local/stack/stopped.ts';
import { pollUntil } from '../local/stack/poll.ts';
import { chainFault } from './verify-history.ts';

/** The build of the dashboard that the stack serves. */
const DASHBOARD = join(import.meta.dirname, '..', 'dist', 'dashboard');

const ETHER = 10n ** 18n;
const SUCCESS_MS = 60_000;
const UNLIMITED = { read: 1_000_000, write: 1_000_000 };
const RECIPIENT = '0x00000000000000000000000000000000bac0bac0';

type Say = (line: string) => void;

export async function runDrill(say: Say): Promise<void> {
  await using started = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'conclave-restore-'));
  started.defer(() => rm(folder, { recursive: true, force: true }));
  const anvil = started.adopt(await startAnvil(), stopped);
  const options = { folder, rpcUrls: { anvil: [anvil.url] }, rateLimits: UNLIMITED };
  let stack = await startStack(options);
  started.defer(() => stack.stop());
  const service = () => new Client(stack.url, stack.serviceKey);
  const people: Person[] = [];
  for (const name of ['alice', 'bob']) people.push(await createPerson(service(), stack.url, name));
  const chain = localChain(anvil.url);
  const pay = async (vault: ReadyVault) => {
    const [alice, bob] = people.map(({ client }) => client.at(stack.url));
    if (alice === undefined || bob === undefined) throw new Error('Two signers are required.');
    const { id } = await alice.transfer({ vaultId: vault.id, chain: 'anvil', to: RECIPIENT, amount: '1000' });
    for (const client of [alice, bob]) await client.approve(id);
    await pollUntil('success', async () => ((await bob.read(id)).state === 'SUCCEEDED' ? true : null), SUCCESS_MS);
  };
  const found = async (name: string) => {
    // The service has another address after its restart.
    const signers = people.map((person) => ({ ...person, client: person.client.at(stack.url) }));
    const vault = await createReadyVault(service(), { name, signers, threshold: 2 });
    await chain.fund(vault.address, ETHER);
    return vault;
  };
  const shown = async (vault: ReadyVault) => read(people, stack.url, vault);

  const treasury = await found('Treasury');
  await pay(treasury);
  const backup = join(folder, 'backup.sql');
  await d1(folder, ['export', 'DB', '--output', backup]);
  say(`Took a backup while the service was running: ${(await stat(backup)).size} bytes of SQL.`);

  await pay(treasury);
  const payroll = await found('Payroll');
  await pay(payroll);
  const before = [await shown(treasury), await shown(payroll)];
  say('After the backup: made a payment, created a second vault and made a payment from it.');

  await stack.stop();
  await rm(join(folder, 'state', 'v3', 'd1'), { recursive: true });
  await d1(folder, ['execute', 'DB', '--file', backup]);
  // A backup can be older than the service. It gets the missing migrations, here none.
  await d1(folder, ['migrations', 'apply', 'DB']);
  stack = await startStack(options);
  say('Deleted D1 and restored the backup.');

  const rebuiltCount = await projectAll(service());
  const vaults = [treasury, payroll];
  if (rebuiltCount < vaults.length) throw new Error(`Rebuilt ${rebuiltCount} vaults instead of ${vaults.length}.`);
  const after = await Promise.all(vaults.map(shown));
  if (!isDeepStrictEqual(after, before))
    throw new Error('A transaction list or a history differs from its state before the restore.');
  say(`Rebuilt the read model of ${rebuiltCount} vaults. Their lists and histories are unchanged.`);

  const third = await found('Third');
  if (vaults.some(({ id }) => id === third.id)) throw new Error('A vault number was assigned twice.');
  for (const vault of [...vaults, third]) await pay(vault);
  const balance = await chain.balance(RECIPIENT);
  if (balance !== 6000n) throw new Error(`Expected 6000 wei from six payments, but the recipient has ${balance} wei.`);
  say(`Created a third vault with the new number ${third.id}. All vaults can pay.`);
}

/**
 * Does the same as `npm run conclave -- admin vault project --vault N`, for each number from 1
 * until a vault does not exist. Returns how many there are.
 */
async function projectAll(service: Client): Promise<number> {
  for (let id = 1; ; id++) {
    const { status } = await service.request('POST', `/internal/vault/${id}/projection`);
    if (status === 404) return id - 1;
    if (status !== 202) throw new Error(`Rebuilding the read model of vault ${id} returned ${status}.`);
  }
}

/** Returns the transaction list and the history of a vault, as its members see them. */
async function read(people: readonly Person[], url: string, { id }: ReadyVault) {
  const [alice] = people;
  if (alice === undefined) throw new Error('A member is required to read the vault.');
  const { transactions } = await alice.client.at(url).transactions(id);
  type Page = { readonly history: Parameters<typeof chainFault>[0] };
  const { body } = await alice.client.at(url).request<Page>('GET', `/vault/${id}/history?limit=100`);
  const { history } = body;
  const fault = chainFault(history);
  if (fault !== null) throw new Error(`History of vault ${id}: ${fault}`);
  return { transactions, history };
}

/** Runs a wrangler command on the local D1 of this folder. */
async function d1(folder: string, command: readonly string[]): Promise<void> {
  // wrangler reads its state beside its configuration.
  const [folderOfState, config] = [
    join(folder, 'coordinator', '.wrangler'),
    join(folder, 'coordinator', 'wrangler.json'),
  ];
  await mkdir(folderOfState, { recursive: true });
  await symlink(join(folder, 'state'), join(folderOfState, 'state')).catch(ifNotThere);
  const words = [WRANGLER, 'd1', ...command, '--local', '--config', config];
  const env = { ...process.env, CI: 'true', WRANGLER_SEND_METRICS: 'false' };
  const run = spawnSync(process.execPath, words, { cwd: folder, env, encoding: 'utf8' });
  if (run.status !== 0) throw new Error(`wrangler d1 ${command.join(' ')} failed:\n${run.stdout}${run.stderr}`);
}

function ifNotThere(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
}

/**
 * Takes a backup of D1 while the service runs, makes payments and a vault after it, deletes D1, and
 * restores the backup by the commands that an operator runs, with `--local` in place of `--remote`.
 * Then every vault projects its state again. Fails with each difference from the state before.
 */
export const restoreDrillCommand: Command = {
  usage: '  npm run conclave -- restore-drill     takes no arguments; requires `npm run build`',
  run: async (args) => {
    if (args.length > 0) throw new UsageError('restore-drill takes no arguments.');
    if (!existsSync(DASHBOARD)) throw new Error(`${DASHBOARD} is missing. Run \`npm run build\` first.`);
    await runDrill((line) => console.log(line));
    console.log('All checks passed. The restored state matches the state before the loss.');
  },
};
