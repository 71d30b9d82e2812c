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
import { startLocalIssuer } from './stack/openid-issuer.ts';
import { FaultyMonitor } from './stack/faulty-monitor.ts';
import { watchableBitcoin, watchableSolana, watchChain, watchLocalChain } from './stack/monitor.ts';
import type { Person, ReadyVault } from './stack/provision.ts';
import { createPerson, createReadyVault } from './stack/provision.ts';
import { seededRandom } from './stack/seeded-random.ts';
import { startSolanaNode } from './solana/node.ts';
import { startStack } from './stack/stack.ts';
import { stopped } from './stack/stopped.ts';

/**
 * `npm start`: the local stack, left running. It goes on where it was stopped; `-- --fresh` begins anew, and `-- --faulty-monitor 7` has
 * a monitor that loses, doubles and delays, on a chain that takes blocks back, by this seed.
 */

const FOLDER = resolve(import.meta.dirname, '..', '.conclave');
const ETHER = 10n ** 18n;
const SOL = 10n ** 9n;
const BTC = 10n ** 8n;
const SOLANA = 'solana-local';
const BITCOIN = 'bitcoin-regtest';
const CRON_MS = 60_000;
const OWNER_ONLY = 0o600;
/** So that what is worth something here is seen to be. */
const LOCAL_PRICES = {
  'eip155:31337': '2500.00',
  [`solana:${LOCAL_CLUSTER}`]: '150.00',
  [`bip122:${GENESIS.regtest}`]: '90000.00',
};

const { values } = parseArgs({
  options: {
    fresh: { type: 'boolean', default: false },
    port: { type: 'string', default: '8787' },
    'chain-port': { type: 'string', default: '8545' },
    'solana-port': { type: 'string', default: '8899' },
    'bitcoin-port': { type: 'string', default: '3002' },
    'login-port': { type: 'string', default: '8790' },
    'approval-port': { type: 'string', default: '8791' },
    'faulty-monitor': { type: 'string' },
  },
});

async function main(): Promise<void> {
  const seed = seedOf(values['faulty-monitor']);
  if (values.fresh) await rm(FOLDER, { recursive: true, force: true });
  const stackFolder = join(FOLDER, 'stack');
  await using started = new AsyncDisposableStack();
  const anvilOptions = { port: portOf(values['chain-port']), statePath: join(FOLDER, 'chain.json') };
  const anvil = started.adopt(await startAnvil(anvilOptions), stopped);
  const solanaPort = portOf(values['solana-port']);
  const solana = started.adopt(await startSolanaNode({ port: solanaPort, folder: FOLDER }), stopped);
  const bitcoinOptions = { port: portOf(values['bitcoin-port']), folder: FOLDER, minesAtOnce: true };
  const bitcoin = started.adopt(await startBitcoinNode(bitcoinOptions), stopped);
  const issuer = started.adopt(await startLocalIssuer(portOf(values['login-port'])), stopped);
  const dashboards: string[] = [];
  const approvalPort = portOf(values['approval-port']);
  const approval = started.adopt(await serveApprovalPage(() => dashboards, { port: approvalPort }), stopped);
  console.log('Starting: both Workers are bundled as they would be deployed, then workerd starts');
  const stackOptions = {
    folder: stackFolder,
    port: portOf(values.port),
    rpcUrls: { anvil: [anvil.url], [SOLANA]: [solana.url], [BITCOIN]: [bitcoin.url] },
    prices: LOCAL_PRICES,
    login: issuer.login,
    approvalOrigin: approval.origin,
  };
  const stack = started.adopt(await startStack(stackOptions), stopped);
  dashboards.push(stack.url);
  issuer.serve(stack.url);
  started.adopt(await watchLocalChain(anvil.url, stack.monitor, faultyMonitorOf(seed)), stopped);
  started.adopt(watchChain(watchableSolana(solana.chain), stack.monitor, faultyMonitorOf(seed)), stopped);
  started.adopt(watchChain(watchableBitcoin(bitcoin.chain), stack.monitor, faultyMonitorOf(seed)), stopped);
  console.log('Preparing a vault: on the first start its co-signers pair and generate three keys');
  const service = new Client(stack.url, stack.serviceKey);
  const people = await entered(service, stack.url);
  const signers = people.slice(0, 3);
  // Without the keys of the co-signers in its policy, no page could verify their statements.
  const cosigners = pinsOfStack(stackFolder);
  const vault = await createReadyVault(service, {
    name: 'Treasury',
    signers,
    threshold: 2,
    chains: [SOLANA, BITCOIN],
    cosigners,
  });
  const taproot = vault.addresses[BITCOIN] ?? '';
  if (bitcoin.chain.balance(taproot) === 0n) bitcoin.chain.fund(taproot, BTC);
  const wallet = vault.addresses[SOLANA] ?? '';
  if (solana.chain.account(address(wallet)) === null) solana.chain.airdrop(address(wallet), 10n * SOL);
  const chain = localChain(anvil.url);
  if ((await chain.balance(vault.address)) === 0n) await chain.fund(vault.address, 10n * ETHER);
  show({
    url: stack.url,
    approvalUrl: approval.origin,
    fingerprint: fingerprintOf(cosigners),
    rpcUrl: anvil.url,
    solanaUrl: solana.url,
    bitcoinUrl: bitcoin.url,
    serviceKey: stack.serviceKey,
    logFile: stack.logFile,
  });
  showPeople(people);
  showCurl({ url: stack.url, vault, people, recipient: await chain.account(5) });

  const cron = setInterval(() => {
    stack.sweep().catch((error: unknown) => console.error(`cron: ${String(error)}`));
  }, CRON_MS);
  await interrupted();
  clearInterval(cron);
  console.log('\nStopping; `npm start` goes on from here.');
}

/** The people, with the tokens that they had the last time. */
async function entered(service: Client, url: string): Promise<readonly Person[]> {
  const file = join(FOLDER, 'people.json');
  if (existsSync(file)) {
    const known: readonly Omit<Person, 'client'>[] = JSON.parse(await readFile(file, 'utf8'));
    return known.map((person) => ({ ...person, client: new Client(url, person.token) }));
  }
  const people: Person[] = [];
  for (const name of ['alice', 'bob', 'carol', 'mallory']) people.push(await createPerson(service, url, name));
  const text = JSON.stringify(people.map(({ name, id, token, cookie }) => ({ name, id, token, cookie })));
  await writeFile(file, text, { mode: OWNER_ONLY });
  return people;
}

function portOf(text: string): number {
  if (!/^[1-9][0-9]{0,4}$/.test(text)) throw new Error(`not a port: ${text}`);
  return Number.parseInt(text, 10);
}

function seedOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^[0-9]{1,9}$/.test(text)) throw new Error(`not a seed: ${text}`);
  return Number.parseInt(text, 10);
}

/** One for each monitor: it remembers what it has kept back. */
function faultyMonitorOf(seed: number | null): FaultyMonitor | null {
  return seed === null ? null : new FaultyMonitor(seededRandom(seed));
}

function show(facts: Readonly<Record<string, string>>): void {
  console.log(`
Conclave      ${facts['url']}   (three co-signers behind it)
Chains        ${facts['rpcUrl']}   anvil, chain id 31337
              ${facts['solanaUrl']}   a ledger of Solana
              ${facts['bitcoinUrl']}   a regtest of Bitcoin, as Esplora shows it
Dashboard     ${facts['url']}/   log in as alice, bob, carol or mallory, with any password
Approval page ${facts['approvalUrl']}   where passkeys are made and used
              it asks for the fingerprint of the co-signers: ${facts['fingerprint']}
Service key   ${facts['serviceKey']}
Log           ${facts['logFile']}
`);
}

function showPeople(people: readonly Person[]): void {
  for (const { name, token } of people) console.log(`${name.padEnd(13)} ${token}`);
}

function showCurl(scene: {
  readonly url: string;
  readonly vault: ReadyVault;
  readonly people: readonly Person[];
  readonly recipient: string;
}): void {
  const { url, vault, people, recipient } = scene;
  const [alice, bob] = people;
  const body = { vaultId: vault.id, chain: 'anvil', to: recipient, amount: '1000000000000000' };
  console.log(`
Vault ${vault.id} (2 of 3: alice, bob, carol) has the addresses ${vault.address} (anvil),
${vault.addresses[SOLANA] ?? ''} (solana-local) and
${vault.addresses[BITCOIN] ?? ''} (bitcoin-regtest). To send 0.001 ETH from it:

  curl -s ${url}/transaction/transfer -H 'authorization: Bearer ${alice?.token ?? ''}' \\
    -H 'content-type: application/json' -H "idempotency-key: $(uuidgen)" -d '${JSON.stringify(body)}'

  TX=            # the id in the answer
  curl -s ${url}/transaction/$TX/challenge -H 'authorization: Bearer ${alice?.token ?? ''}'
  curl -s -X POST ${url}/transaction/$TX/approve -H 'authorization: Bearer ${alice?.token ?? ''}'
  curl -s -X POST ${url}/transaction/$TX/approve -H 'authorization: Bearer ${bob?.token ?? ''}'
  curl -s ${url}/transaction/$TX -H 'authorization: Bearer ${alice?.token ?? ''}'
  curl -s '${url}/vault/${vault.id}/transactions' -H 'authorization: Bearer ${alice?.token ?? ''}'

What it has, and what happens there from now on, as alice's browser would hear it
(her first session lasts a day):

  curl -s ${url}/vault/${vault.id}/balances -H 'authorization: Bearer ${alice?.token ?? ''}'
  curl -sN ${url}/vault/${vault.id}/events -H 'cookie: ${alice?.cookie ?? ''}'

Ctrl-C stops it.`);
}

function interrupted(): Promise<void> {
  return new Promise((resolved) => {
    process.once('SIGINT', () => resolved());
    process.once('SIGTERM', () => resolved());
  });
}

try {
  await main();
} catch (error) {
  console.error(`It did not start: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
