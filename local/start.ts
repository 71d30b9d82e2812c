import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { address } from '@solana/kit';
import { fingerprintOf } from '#devices/pin-fingerprint.ts';
import { LOCAL_CLUSTER } from '#chains/solana/rules/cluster.ts';
import { GENESIS } from '#chains/bitcoin/rules/network.ts';
import { startAnvil } from './evm/anvil.ts';
import { serveApprovalPage } from './stack/approval-page.ts';
import { pinsOfStack } from './stack/stack-pins.ts';
import { startBitcoinNode } from './bitcoin/node.ts';
import { localChain } from './evm/chain.ts';
import { Client } from '../cli/api-client.ts';
import { runCommand, UsageError } from '../cli/command-line.ts';
import { guide } from './guide.ts';
import { startLocalIssuer } from './stack/openid-issuer.ts';
import { FaultyMonitor } from './stack/faulty-monitor.ts';
import { watchableBitcoin, watchableSolana, watchChain, watchLocalChain } from './stack/monitor.ts';
import type { Person } from './stack/provision.ts';
import { createPerson, createReadyVault } from './stack/provision.ts';
import { seededRandom } from './stack/seeded-random.ts';
import { startSolanaNode } from './solana/node.ts';
import { startStack } from './stack/stack.ts';
import { stopped } from './stack/stopped.ts';

/** `npm start`: the local stack, left running. It continues where it was stopped. */

const FOLDER = resolve(import.meta.dirname, '..', '.conclave');
const PEOPLE = join(FOLDER, 'people.json');
const ETHER = 10n ** 18n;
const SOL = 10n ** 9n;
const BTC = 10n ** 8n;
const SOLANA = 'solana-local';
const BITCOIN = 'bitcoin-regtest';
const CRON_MS = 60_000;
const OWNER_ONLY = 0o600;
/** Prices that give the local assets a market value. */
const LOCAL_PRICES = {
  'eip155:31337': '2500.00',
  [`solana:${LOCAL_CLUSTER}`]: '150.00',
  [`bip122:${GENESIS.regtest}`]: '90000.00',
};

const OPTIONS = {
  fresh: { type: 'boolean', default: false },
  port: { type: 'string', default: '8787' },
  'chain-port': { type: 'string', default: '8545' },
  'solana-port': { type: 'string', default: '8899' },
  'bitcoin-port': { type: 'string', default: '3002' },
  'login-port': { type: 'string', default: '8790' },
  'approval-port': { type: 'string', default: '8791' },
  'faulty-monitor': { type: 'string' },
} as const;

const USAGE = `  npm start                            the coordinator, three co-signers and three local chains, with a funded vault
  npm start -- --fresh                 deletes the stored state and starts with a new vault
  npm start -- --port 8787             the port of the coordinator; other ports: --chain-port, --solana-port,
                                       --bitcoin-port, --login-port, --approval-port
  npm start -- --faulty-monitor SEED   a monitor that loses, repeats and delays deliveries, on chains with reorgs`;

async function start(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  const seed = seedOf(values['faulty-monitor']);
  const port = portOf(values.port);
  const ports = {
    chain: portOf(values['chain-port']),
    solana: portOf(values['solana-port']),
    bitcoin: portOf(values['bitcoin-port']),
    login: portOf(values['login-port']),
    approval: portOf(values['approval-port']),
  };
  if (values.fresh) await rm(FOLDER, { recursive: true, force: true });
  console.log('Starting three local chains, then bundling and starting the Workers (about 5 s)');
  const stackFolder = join(FOLDER, 'stack');
  await using started = new AsyncDisposableStack();
  const anvilOptions = { port: ports.chain, statePath: join(FOLDER, 'chain.json') };
  const anvil = started.adopt(await startAnvil(anvilOptions), stopped);
  const solana = started.adopt(await startSolanaNode({ port: ports.solana, folder: FOLDER }), stopped);
  const bitcoinOptions = { port: ports.bitcoin, folder: FOLDER, minesAtOnce: true };
  const bitcoin = started.adopt(await startBitcoinNode(bitcoinOptions), stopped);
  const issuer = started.adopt(await startLocalIssuer(ports.login), stopped);
  const dashboards: string[] = [];
  const approval = started.adopt(await serveApprovalPage(() => dashboards, { port: ports.approval }), stopped);
  const stackOptions = {
    folder: stackFolder,
    port,
    rpcUrls: { anvil: [anvil.url], [SOLANA]: [solana.url], [BITCOIN]: [bitcoin.url] },
    prices: LOCAL_PRICES,
    login: issuer.login,
    approvalOrigin: approval.origin,
  };
  const stack = started.adopt(await startStack(stackOptions), stopped);
  // Browsers create passkeys for a host name and not for an IP address.
  const url = `http://localhost:${port}`;
  dashboards.push(url, stack.url);
  issuer.serve(url);
  started.adopt(await watchLocalChain(anvil.url, stack.monitor, faultyMonitorOf(seed)), stopped);
  started.adopt(watchChain(watchableSolana(solana.chain), stack.monitor, faultyMonitorOf(seed)), stopped);
  started.adopt(watchChain(watchableBitcoin(bitcoin.chain), stack.monitor, faultyMonitorOf(seed)), stopped);
  const service = new Client(stack.url, stack.serviceKey);
  if (!existsSync(PEOPLE)) console.log('Generating the three keys of the vault (about 2 s)');
  const people = await entered(service, stack.url);
  const signers = people.slice(0, 3);
  // Without the keys of the co-signers in its policy, no page could verify their statements.
  const cosigners = pinsOfStack(stackFolder);
  const chains = [SOLANA, BITCOIN];
  const vault = await createReadyVault(service, { name: 'Treasury', signers, threshold: 2, chains, cosigners });
  const taproot = vault.addresses[BITCOIN] ?? '';
  if (bitcoin.chain.balance(taproot) === 0n) bitcoin.chain.fund(taproot, BTC);
  const wallet = vault.addresses[SOLANA] ?? '';
  if (solana.chain.account(address(wallet)) === null) solana.chain.airdrop(address(wallet), 10n * SOL);
  const chain = localChain(anvil.url);
  if ((await chain.balance(vault.address)) === 0n) await chain.fund(vault.address, 10n * ETHER);
  const recipient = await chain.account(5);
  console.log(
    guide({
      url,
      people,
      vault,
      recipient,
      serviceKey: stack.serviceKey,
      approvalUrl: approval.origin,
      fingerprint: fingerprintOf(cosigners),
      rpcUrls: { anvil: anvil.url, [SOLANA]: solana.url, [BITCOIN]: bitcoin.url },
      logFile: stack.logFile,
    }),
  );

  const cron = setInterval(() => {
    stack.sweep().catch((error: unknown) => console.error(`Cron trigger failed: ${String(error)}`));
  }, CRON_MS);
  await interrupted();
  clearInterval(cron);
  console.log('\nStopped. Run npm start to continue.');
}

/** Returns the users, with their tokens of the last run. */
async function entered(service: Client, url: string): Promise<readonly Person[]> {
  if (existsSync(PEOPLE)) {
    const known: readonly Omit<Person, 'client'>[] = JSON.parse(await readFile(PEOPLE, 'utf8'));
    return known.map((person) => ({ ...person, client: new Client(url, person.token) }));
  }
  const people: Person[] = [];
  for (const name of ['alice', 'bob', 'carol', 'mallory']) people.push(await createPerson(service, url, name));
  const text = JSON.stringify(people.map(({ name, id, token, cookie }) => ({ name, id, token, cookie })));
  await writeFile(PEOPLE, text, { mode: OWNER_ONLY });
  return people;
}

function portOf(text: string): number {
  if (!/^[1-9][0-9]{0,4}$/.test(text)) throw new UsageError(`Not a valid port: ${text}`);
  return Number.parseInt(text, 10);
}

function seedOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^[0-9]{1,9}$/.test(text)) throw new UsageError(`Not a valid seed: ${text}`);
  return Number.parseInt(text, 10);
}

/** Returns one faulty monitor for each chain, since it stores delayed reports. */
function faultyMonitorOf(seed: number | null): FaultyMonitor | null {
  return seed === null ? null : new FaultyMonitor(seededRandom(seed));
}

function interrupted(): Promise<void> {
  return new Promise((resolved) => {
    process.once('SIGINT', () => resolved());
    process.once('SIGTERM', () => resolved());
  });
}

await runCommand({ usage: USAGE, run: start }, process.argv.slice(2));
