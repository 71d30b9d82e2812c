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
 * `npm run demo`: the whole way of five transfers on three chains, driven as a client would and checked against the chain itself. With
 * `-- --cosigners 4`, payments of the recommended set-up instead (three-of-four.ts). Exit 0, or 1 with the reason.
 */

const FINAL = new Set(['SUCCEEDED', 'FAILED', 'REJECTED', 'CANCELLED', 'EXPIRED']);
const ETHER = 10n ** 18n;
const SOL = 10n ** 9n;
const BTC = 10n ** 8n;
const DOLLAR = 10n ** 6n;
/** The first look is early, and each later: the local chain is fast, and 20 reads a minute are the limit. */
const FIRST_POLL_MS = 150;
const SUCCESS_DEADLINE_MS = 60_000;

const startedAt = performance.now();

interface Scene {
  readonly chain: LocalChain;
  readonly alice: Person;
  readonly bob: Person;
  readonly mallory: Person;
  /** Waits for the end of a transfer. They take turns: 20 reads a minute are the limit of each. */
  readonly watcher: Person;
  /** Opens the internal interface. */
  readonly service: Client;
  readonly url: string;
}

async function main(): Promise<void> {
  await using started = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'conclave-demo-'));
  started.defer(() => rm(folder, { recursive: true, force: true }));
  const anvil = started.adopt(await startAnvil(), stopped);
  say('chain', `anvil at ${anvil.url}`);
  const solana = started.adopt(await startSolanaNode(), stopped);
  say('chain', `a ledger of Solana at ${solana.url}`);
  const bitcoin = started.adopt(await startBitcoinNode({ minesAtOnce: true }), stopped);
  say('chain', `a regtest of Bitcoin at ${bitcoin.url}`);
  const rpcUrls = { anvil: [anvil.url], 'solana-local': [solana.url], 'bitcoin-regtest': [bitcoin.url] };
  say(
    'starting',
    'both Workers are bundled as they would be deployed, then workerd starts with D1, objects and queues',
  );
  const stack = started.adopt(await startStack({ folder, rpcUrls }), stopped);
  started.adopt(await watchLocalChain(anvil.url, stack.monitor), stopped);
  started.adopt(watchChain(watchableSolana(solana.chain), stack.monitor), stopped);
  started.adopt(watchChain(watchableBitcoin(bitcoin.chain), stack.monitor), stopped);
  say('stack', `coordinator at ${stack.url}, three co-signers behind it`);
  const service = new Client(stack.url, stack.serviceKey);
  const [alice, bob, carol, mallory] = await enterPeople(service, stack.url);
  say('users', 'alice, bob and carol will sign; mallory is an outsider');
  const options = {
    name: 'Treasury',
    signers: [alice, bob, carol],
    threshold: 2,
    chains: ['solana-local', 'bitcoin-regtest'],
  };
  say('keys', 'the co-signers pair, generate a key for each of three chains, and prove that any two of them can sign');
  const vault = await createReadyVault(service, options);
  const wallet = vault.addresses['solana-local'] ?? '';
  const taproot = vault.addresses['bitcoin-regtest'] ?? '';
  say('vault', `2 of 3 approve, 2 of 3 co-signers sign; addresses ${vault.address}, ${wallet} and ${taproot}`);
  const chain = localChain(anvil.url);
  await chain.fund(vault.address, 10n * ETHER);
  const dollar = await chain.deployDollar(vault.address, 1000n * DOLLAR);
  const solanaWallet = solanaBalance(solana.chain);
  const token = solanaWallet.fund(wallet);
  const satoshi = bitcoinBalance(bitcoin.chain);
  for (const part of [2n, 3n]) bitcoin.chain.fund(taproot, (part * BTC) / 10n);
  say('funds', `10 ETH and 1000 DUSD (${dollar}), 10 SOL and 1000 SUSD (${token}), half a bitcoin in two coins`);

  const scene: Scene = { chain, alice, bob, mallory, watcher: alice, service, url: stack.url };
  const to = await chain.account(5);
  const common = { vaultId: vault.id, chain: 'anvil', to };
  const ethers = { ...chain, native: { symbol: 'ETH', decimals: 18 } };
  const dollars = (250n * DOLLAR).toString();
  await drive(scene, ethers, { ...common, amount: (ETHER / 4n).toString(), note: 'A quarter of an ether' });
  await drive({ ...scene, watcher: bob }, ethers, {
    ...common,
    amount: dollars,
    tokenAddress: dollar,
    note: '250 Demo Dollars',
  });
  const there = { vaultId: vault.id, chain: 'solana-local', to: solanaWallet.recipient };
  await drive({ ...scene, watcher: carol }, solanaWallet, {
    ...there,
    amount: (SOL / 4n).toString(),
    note: 'A quarter of a SOL',
  });
  await drive(scene, solanaWallet, { ...there, amount: dollars, tokenAddress: token, note: '250 dollars on Solana' });
  const third = { vaultId: vault.id, chain: 'bitcoin-regtest', to: satoshi.recipient };
  await drive({ ...scene, watcher: bob }, satoshi, {
    ...third,
    amount: ((4n * BTC) / 10n).toString(),
    note: 'Four tenths of a bitcoin',
  });
  await receive(scene, vault);
  await showBalances(scene, carol, { vault, dollar });
  await showHistory(carol, vault.id);
}

async function enterPeople(service: Client, url: string): Promise<readonly [Person, Person, Person, Person]> {
  const enter = (name: string) => createPerson(service, url, name);
  return [await enter('alice'), await enter('bob'), await enter('carol'), await enter('mallory')];
}

/** One transfer from its creation to the balances on chain. Throws where anything is not as it must be. */
async function drive(scene: Scene, balance: WalletBalance, body: TransferBody): Promise<void> {
  const { alice, bob, mallory, watcher } = scene;
  const { native } = balance;
  const token = body.tokenAddress ?? null;
  const holdings = (of: string) => (token === null ? balance.balance(of) : balance.tokenBalance(token, of));
  console.log(`\n${body.note}`);

  const receivedBefore = await holdings(body.to);
  const created = await alice.client.transfer(body);
  say(created.state, `alice creates ${created.id}`);
  const sentBefore = await holdings(created.from);

  const peek = await mallory.client.request('GET', `/transaction/${created.id}`);
  const push = await mallory.client.request('POST', `/transaction/${created.id}/approve`);
  expect('mallory sees nothing and approves nothing', peek.status === 403 && push.status === 403);

  for (const signer of [alice, bob]) {
    const challenge = await signer.client.challenge(created.id);
    const digest = createHash('sha256').update(Buffer.from(challenge.canonical, 'hex')).digest('hex');
    const { intent } = challenge;
    expect(
      'the digest is of the transfer that was asked for',
      digest === challenge.digest && digest === created.digest,
    );
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
  const spent = sentBefore - (await holdings(created.from));
  expect('the recipient has exactly the amount more', received === BigInt(body.amount));
  expect('the vault has exactly less what its record says', spent === lossOf(done, token));
  const shown = token === null ? formatUnits(received, native.decimals) : formatUnits(received, 6);
  const unit = token === null ? native.symbol : 'dollars';
  const fee = formatUnits(BigInt(done.feePaid ?? '0'), native.decimals);
  say('checked', `on chain: ${shown} ${unit} received, fee ${fee} ${native.symbol}`);
}

/** What a transfer has cost the vault in its asset: what it moved out, with the rent of accounts that it opened, and of the coin the fee. */
function lossOf({ movements, from, feePaid }: TransactionRecord, token: string | null): bigint {
  const out = movements.filter((one) => one.from === from && one.tokenAddress === token);
  const moved = out.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  return token === null ? moved + BigInt(feePaid ?? '0') : moved;
}

/** Shows each state as it comes and gives the record at the end. */
async function follow(person: Person, id: string): Promise<TransactionRecord> {
  let seen = '';
  const endsAt = Date.now() + SUCCESS_DEADLINE_MS;
  for (let waitMs = FIRST_POLL_MS; ; waitMs *= 1.5) {
    // Not `read`: a client that polls has to know when it is asked to wait.
    const answer = await person.client.request<TransactionRecord>('GET', `/transaction/${id}`);
    if (answer.status === 429) {
      await pause(1000 * Number.parseInt(answer.headers.get('retry-after') ?? '1', 10));
      continue;
    }
    if (answer.status !== 200)
      throw new Error(`reading ${id} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    const record = answer.body;
    if (record.state !== seen) say(record.state, record.txHash ?? record.stateReason ?? '');
    seen = record.state;
    if (FINAL.has(record.state)) return record;
    if (Date.now() > endsAt) throw new Error(`${id} is still ${record.state} after ${SUCCESS_DEADLINE_MS / 1000} s`);
    await pause(waitMs);
  }
}

/** Somebody pays the vault: a monitor of the chain says so, the chain is asked, and a dashboard that is open hears of it. */
async function receive({ chain, alice, url }: Scene, vault: ReadyVault): Promise<void> {
  console.log('\nAn incoming payment');
  const { cookie } = alice;
  const signal = AbortSignal.timeout(SUCCESS_DEADLINE_MS);
  const events = await listen(url, { vaultId: vault.id, cookie, signal });
  say('listening', 'alice has her dashboard open');
  await chain.fund(vault.address, ETHER / 2n);
  say('paid', 'half an ether, by somebody outside');
  for await (const { event, record } of events) {
    if (event !== 'transaction') continue;
    const isIt = record.direction === 'in' && record.amount === (ETHER / 2n).toString();
    if (isIt) say(record.state, `${record.displayType} from ${record.from}`);
    if (isIt && record.state === 'SUCCEEDED') return;
  }
  throw new Error('the incoming payment was not told');
}

/** What the ledger of the vault comes to, and what the chain itself says. */
async function showBalances(
  { chain }: Scene,
  person: Person,
  { vault, dollar }: { readonly vault: ReadyVault; readonly dollar: string },
): Promise<void> {
  const { balances } = await person.client.balances(vault.id);
  console.log('\nBalances of the vault');
  const held = new Map<string | null, bigint>();
  for (const { chain: name, asset, current } of balances) {
    const all = BigInt(current);
    if (name === 'anvil') held.set(asset.tokenAddress, all);
    const isNative = asset.tokenAddress === null;
    say(
      'balance',
      `${formatUnits(all, isNative ? (asset.decimals ?? 0) : 6)} ${isNative ? asset.symbol : 'dollars'}, ${name}`,
    );
  }
  expect('the ledger has the ethers of the chain', held.get(null) === (await chain.balance(vault.address)));
  expect('the ledger has its dollars', held.get(dollar) === (await chain.tokenBalance(dollar, vault.address)));
}

async function showHistory(person: Person, vaultId: number): Promise<void> {
  const { transactions } = await person.client.transactions(vaultId);
  console.log('\nHistory of the vault, newest first');
  for (const { state, displayType, amount, asset, txHash } of transactions) {
    const unit = asset?.tokenAddress == null ? `of the smallest unit of ${asset?.symbol}` : 'units of a dollar';
    say(state, `${displayType.toLowerCase()} ${amount} ${unit}, ${txHash}`);
  }
  expect('the history has all transfers and what came in', transactions.length === 12);
}

function say(what: string, text: string): void {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(2);
  console.log(`${seconds.padStart(7)} s  ${what.padEnd(10)} ${text}`);
}

function expect(what: string, holds: boolean): void {
  if (!holds) throw new Error(`not true: ${what}`);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The demo that the command line asks for. Throws for another number of co-signers. */
async function chosenDemo(): Promise<void> {
  const { values } = parseArgs({ options: { cosigners: { type: 'string', default: '3' } } });
  if (values.cosigners === '3') return main();
  if (values.cosigners === '4') return demoThreeOfFour(say);
  throw new Error(`--cosigners takes 3 or 4, not ${values.cosigners}`);
}

try {
  await chosenDemo();
  console.log('\nEverything was as it must be.');
} catch (error) {
  console.error(`\nThe demo failed: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
