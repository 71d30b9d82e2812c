import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { formatUnits } from 'viem';
import { startAnvil } from '../evm/anvil.ts';
import { startBitcoinNode } from '../bitcoin/node.ts';
import type { LocalChain } from '../evm/chain.ts';
import { localChain } from '../evm/chain.ts';
import type { TransactionRecord, TransferBody } from '../../cli/api-client.ts';
import { Client } from '../../cli/api-client.ts';
import type { Command } from '../../cli/command-line.ts';
import { runCommand, UsageError } from '../../cli/command-line.ts';
import { demoThreeOfFour } from './three-of-four.ts';
import { listen } from '../stack/live-feed.ts';
import { watchableBitcoin, watchableSolana, watchChain, watchLocalChain } from '../stack/monitor.ts';
import type { Person, ReadyVault } from '../stack/provision.ts';
import { createPerson, createReadyVault } from '../stack/provision.ts';
import type { WalletBalance } from '../stack/wallet-balance.ts';
import { bitcoinBalance, solanaBalance } from '../stack/wallet-balance.ts';
import { startSolanaNode } from '../solana/node.ts';
import { startStack } from '../stack/stack.ts';
import { stopped } from '../stack/stopped.ts';

/**
 * `npm run demo`: five transfers on three chains, driven by an ordinary client and checked against
 * the chain itself. With `-- --cosigners 4`, payments of the recommended set-up instead
 * (three-of-four.ts).
 */

const FINAL = new Set(['SUCCEEDED', 'FAILED', 'REJECTED', 'CANCELLED', 'EXPIRED']);
const ETHER = 10n ** 18n;
const SOL = 10n ** 9n;
const BTC = 10n ** 8n;
const DOLLAR = 10n ** 6n;
/**
 * The first poll is early, and each following one later: the local chain is fast, and the limit is
 * 20 reads a minute.
 */
const FIRST_POLL_MS = 150;
const SUCCESS_DEADLINE_MS = 60_000;

const startedAt = performance.now();

/** The name of an asset in output. */
interface Unit {
  readonly symbol: string;
  readonly decimals: number;
}

const NATIVE: Readonly<Record<string, Unit>> = {
  anvil: { symbol: 'ETH', decimals: 18 },
  'solana-local': { symbol: 'SOL', decimals: 9 },
  'bitcoin-regtest': { symbol: 'BTC', decimals: 8 },
};

interface Scene {
  readonly chain: LocalChain;
  /**
   * The tokens of the demo, by address. The service lists no symbols for them, because no operator
   * has vouched for them.
   */
  readonly tokens: ReadonlyMap<string, Unit>;
  readonly alice: Person;
  readonly bob: Person;
  readonly mallory: Person;
  /**
   * Waits for the end of a transfer. Watchers alternate, because the limit is 20 reads a minute for
   * each.
   */
  readonly watcher: Person;
  /** A client of the internal interface. */
  readonly service: Client;
  readonly url: string;
}

async function main(): Promise<void> {
  await using started = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'conclave-demo-'));
  started.defer(() => rm(folder, { recursive: true, force: true }));
  const anvil = started.adopt(await startAnvil(), stopped);
  say('chain', `Ethereum: anvil at ${anvil.url}`);
  const solana = started.adopt(await startSolanaNode(), stopped);
  say('chain', `Solana: local ledger at ${solana.url}`);
  const bitcoin = started.adopt(await startBitcoinNode({ minesAtOnce: true }), stopped);
  say('chain', `Bitcoin: regtest at ${bitcoin.url}`);
  const rpcUrls = { anvil: [anvil.url], 'solana-local': [solana.url], 'bitcoin-regtest': [bitcoin.url] };
  say('starting', 'bundling and starting both Workers (about 4 s)');
  const stack = started.adopt(await startStack({ folder, rpcUrls }), stopped);
  started.adopt(await watchLocalChain(anvil.url, stack.monitor), stopped);
  started.adopt(watchChain(watchableSolana(solana.chain), stack.monitor), stopped);
  started.adopt(watchChain(watchableBitcoin(bitcoin.chain), stack.monitor), stopped);
  say('stack', `coordinator at ${stack.url} with three co-signers`);
  const service = new Client(stack.url, stack.serviceKey);
  const [alice, bob, carol, mallory] = await enterPeople(service, stack.url);
  say('users', 'alice, bob and carol are signers; mallory is not a member');
  const options = {
    name: 'Treasury',
    signers: [alice, bob, carol],
    threshold: 2,
    chains: ['solana-local', 'bitcoin-regtest'],
  };
  say('keys', 'the three co-signers generate a key for each of three chains (about 2 s)');
  const vault = await createReadyVault(service, options, (name, address) => say('key', `${name}: ${address}`));
  const wallet = vault.addresses['solana-local'] ?? '';
  const taproot = vault.addresses['bitcoin-regtest'] ?? '';
  say('vault', '2 of 3 signers approve a transaction, 2 of 3 co-signers sign it');
  const chain = localChain(anvil.url);
  await chain.fund(vault.address, 10n * ETHER);
  const dollar = await chain.deployDollar(vault.address, 1000n * DOLLAR);
  const solanaWallet = solanaBalance(solana.chain);
  const token = solanaWallet.fund(wallet);
  const satoshi = bitcoinBalance(bitcoin.chain);
  for (const part of [2n, 3n]) bitcoin.chain.fund(taproot, (part * BTC) / 10n);
  say('funds', `10 ETH, 1000 DUSD (token ${dollar})`);
  say('funds', `10 SOL, 1000 SUSD (token ${token})`);
  say('funds', '0.5 BTC in two UTXOs');

  const tokens = new Map([
    [dollar, { symbol: 'DUSD', decimals: 6 }],
    [token, { symbol: 'SUSD', decimals: 6 }],
  ]);
  const scene: Scene = { chain, tokens, alice, bob, mallory, watcher: alice, service, url: stack.url };
  const to = await chain.account(5);
  const common = { vaultId: vault.id, chain: 'anvil', to };
  const ethers = { ...chain, native: unitOf(scene, 'anvil', null) };
  const dollars = (250n * DOLLAR).toString();
  await drive(scene, ethers, { ...common, amount: (ETHER / 4n).toString(), note: 'Send 0.25 ETH' });
  await drive({ ...scene, watcher: bob }, ethers, {
    ...common,
    amount: dollars,
    tokenAddress: dollar,
    note: 'Send 250 DUSD',
  });
  const there = { vaultId: vault.id, chain: 'solana-local', to: solanaWallet.recipient };
  await drive({ ...scene, watcher: carol }, solanaWallet, {
    ...there,
    amount: (SOL / 4n).toString(),
    note: 'Send 0.25 SOL',
  });
  await drive(scene, solanaWallet, { ...there, amount: dollars, tokenAddress: token, note: 'Send 250 SUSD' });
  const third = { vaultId: vault.id, chain: 'bitcoin-regtest', to: satoshi.recipient };
  // A token has ten writes in a minute, and alice has used them.
  await drive({ ...scene, alice: bob, bob: carol }, satoshi, {
    ...third,
    amount: ((4n * BTC) / 10n).toString(),
    note: 'Send 0.4 BTC',
  });
  await receive(scene, vault);
  await showBalances(scene, carol, { vault, dollar });
  await showHistory(scene, carol, vault.id);
}

async function enterPeople(service: Client, url: string): Promise<readonly [Person, Person, Person, Person]> {
  const enter = (name: string) => createPerson(service, url, name);
  return [await enter('alice'), await enter('bob'), await enter('carol'), await enter('mallory')];
}

/** Runs one transfer from its creation to the balances on chain. Throws when a check fails. */
async function drive(scene: Scene, balance: WalletBalance, body: TransferBody): Promise<void> {
  const { alice: creator, bob: second, mallory, watcher } = scene;
  const { native } = balance;
  const token = body.tokenAddress ?? null;
  const holdings = (of: string) => (token === null ? balance.balance(of) : balance.tokenBalance(token, of));
  console.log(`\n${body.note}`);

  const receivedBefore = await holdings(body.to);
  const created = await creator.client.transfer(body);
  say(created.state, `${creator.name} creates ${created.id}`);
  const { from } = created;
  if (from === null) throw new Error('a transfer has a sender');
  const sentBefore = await holdings(from);

  const peek = await mallory.client.request('GET', `/transaction/${created.id}`);
  const push = await mallory.client.request('POST', `/transaction/${created.id}/approve`);
  expect('mallory can neither read nor approve the transaction', peek.status === 403 && push.status === 403);

  for (const signer of [creator, second]) {
    const challenge = await signer.client.challenge(created.id);
    const digest = createHash('sha256').update(Buffer.from(challenge.canonical, 'hex')).digest('hex');
    const { intent } = challenge;
    expect('the digest matches the requested transfer', digest === challenge.digest && digest === created.digest);
    expect('the intent names recipient and amount', intent['to'] === body.to && intent['amount'] === body.amount);
    const after = await signer.client.approve(created.id);
    say(
      after.state,
      `${signer.name} approves ${digest.slice(0, 16)}..., ${after.approvalsCounted} of ${after.requiredApprovals}`,
    );
  }

  const done = await follow(watcher, created.id);
  expect(`the transfer succeeds (${done.stateReason ?? 'no reason given'})`, done.state === 'SUCCEEDED');
  const received = (await holdings(body.to)) - receivedBefore;
  const spent = sentBefore - (await holdings(from));
  expect('the recipient received exactly the amount', received === BigInt(body.amount));
  expect('the vault spent exactly the recorded amount', spent === lossOf(done, token));
  const shown = amountText(received, unitOf(scene, body.chain, token));
  say('checked', `on chain: ${shown} received, fee ${amountText(BigInt(done.feePaid ?? '0'), native)}`);
}

function unitOf({ tokens }: Pick<Scene, 'tokens'>, chain: string, token: string | null): Unit {
  const unit = token === null ? NATIVE[chain] : tokens.get(token);
  if (unit === undefined) throw new Error(`The demo has no asset ${token ?? 'native'} on ${chain}`);
  return unit;
}

function amountText(units: bigint, { symbol, decimals }: Unit): string {
  return `${formatUnits(units, decimals)} ${symbol}`;
}

/**
 * Returns what a transfer took from the vault in its asset: the amount that it moved out, with the
 * rent of accounts that it opened; for a native asset also the fee.
 */
function lossOf({ movements, from, feePaid }: TransactionRecord, token: string | null): bigint {
  const out = movements.filter((one) => one.from === from && one.tokenAddress === token);
  const moved = out.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  return token === null ? moved + BigInt(feePaid ?? '0') : moved;
}

/** Prints each state of a transaction and returns the final record. */
async function follow(person: Person, id: string): Promise<TransactionRecord> {
  let seen = '';
  const endsAt = Date.now() + SUCCESS_DEADLINE_MS;
  for (let waitMs = FIRST_POLL_MS; ; waitMs *= 1.5) {
    // Not `read`: a client that polls needs the delay that the service requests.
    const answer = await person.client.request<TransactionRecord>('GET', `/transaction/${id}`);
    if (answer.status === 429) {
      await pause(1000 * Number.parseInt(answer.headers.get('retry-after') ?? '1', 10));
      continue;
    }
    if (answer.status !== 200)
      throw new Error(`Reading ${id} returned ${answer.status}: ${JSON.stringify(answer.body)}`);
    const record = answer.body;
    if (record.state !== seen) say(record.state, record.txHash ?? record.stateReason ?? 'the co-signers are signing');
    seen = record.state;
    if (FINAL.has(record.state)) return record;
    if (Date.now() > endsAt) throw new Error(`${id} is still ${record.state} after ${SUCCESS_DEADLINE_MS / 1000} s`);
    await pause(waitMs);
  }
}

/**
 * Receives a payment to the vault: a monitor reports it, the service reads it from the chain, and
 * an open dashboard gets an event.
 */
async function receive({ chain, alice, url }: Scene, vault: ReadyVault): Promise<void> {
  console.log('\nAn incoming payment');
  const { cookie } = alice;
  const signal = AbortSignal.timeout(SUCCESS_DEADLINE_MS);
  const events = await listen(url, { vaultId: vault.id, cookie, signal });
  say('listening', 'alice opened the dashboard');
  await chain.fund(vault.address, ETHER / 2n);
  say('paid', '0.5 ETH from an address outside the vault');
  for await (const { event, record } of events) {
    if (event !== 'transaction') continue;
    const isIt = record.direction === 'in' && record.amount === (ETHER / 2n).toString();
    if (isIt) say(record.state, `${record.displayType} from ${record.from}`);
    if (isIt && record.state === 'SUCCEEDED') return;
  }
  throw new Error('No event for the incoming payment arrived.');
}

/** Prints the balances of the vault, and compares them with the chain. */
async function showBalances(
  scene: Scene,
  person: Person,
  { vault, dollar }: { readonly vault: ReadyVault; readonly dollar: string },
): Promise<void> {
  const { balances } = await person.client.balances(vault.id);
  console.log('\nBalances of the vault');
  const held = new Map<string | null, bigint>();
  for (const { chain: name, asset, current } of balances) {
    const all = BigInt(current);
    if (name === 'anvil') held.set(asset.tokenAddress, all);
    say('balance', `${amountText(all, unitOf(scene, name, asset.tokenAddress))} on ${name}`);
  }
  const { chain } = scene;
  expect('the ETH balance matches the chain', held.get(null) === (await chain.balance(vault.address)));
  expect('the DUSD balance matches the chain', held.get(dollar) === (await chain.tokenBalance(dollar, vault.address)));
}

async function showHistory(scene: Scene, person: Person, vaultId: number): Promise<void> {
  const { transactions } = await person.client.transactions(vaultId);
  console.log('\nHistory of the vault, newest first');
  for (const { state, displayType, amount, asset, chain, txHash } of transactions) {
    const shown = amountText(BigInt(amount ?? '0'), unitOf(scene, chain, asset?.tokenAddress ?? null));
    say(state, `${displayType.toLowerCase()} ${shown}, ${txHash}`);
  }
  expect('the history contains all outgoing and incoming transactions', transactions.length === 12);
}

function say(what: string, text: string): void {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(2);
  console.log(`${seconds.padStart(7)} s  ${what.padEnd(10)} ${text}`);
}

function expect(what: string, holds: boolean): void {
  if (!holds) throw new Error(`Check failed: ${what}`);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

const NEXT = `
All checks passed. Next:
  npm start                        the same stack with a dashboard, and curl commands to paste
  npm run demo -- --cosigners 4    the recommended set-up: 3 of 4 co-signers, approvals signed by devices
  docs/architecture.md             how a transaction gets from the request to the chain`;

const demoCommand: Command = {
  usage: `  npm run demo                     five transfers and one incoming payment on local chains of Ethereum, Solana and Bitcoin
  npm run demo -- --cosigners 4    3 of 4 co-signers in separate runtimes, approvals signed by devices`,
  run: async (args) => {
    const { values } = parseArgs({ args: [...args], options: { cosigners: { type: 'string', default: '3' } } });
    if (values.cosigners === '3') await main();
    else if (values.cosigners === '4') await demoThreeOfFour(say);
    else throw new UsageError(`Option --cosigners must be 3 or 4, not '${values.cosigners}'.`);
    console.log(NEXT);
  },
};

await runCommand(demoCommand, process.argv.slice(2));
