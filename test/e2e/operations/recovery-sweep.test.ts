import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { hexToBytes } from '@noble/hashes/utils.js';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { segwitAddressOf } from '#chains/bitcoin/rules/address.ts';
import { addressOn } from '#chains/inspect/address-on.ts';
import { NONCE_SLOTS, nonceAccountOf } from '#chains/solana/rules/payment-terms.ts';
import { isPublicKey, tokenAccountOf } from '#chains/solana/rules/address.ts';
import { tokenAccountIn } from '#chains/solana/client/accounts.ts';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import { decimalText } from '#domain/asset/amount.ts';
import { newRecoveryKey, recoverySecretOf } from '#cli/recovery/key-file.ts';
import { recovered } from '#cli/recovery/open.ts';
import { signingKeysIn } from '#cli/peers-file.ts';
import { publicIdentity } from '#mpc/identity.ts';
import { walletKey } from '#mpc/derivation/derivation.ts';
import type { RecoveryPackage } from '#mpc/recovery/package.ts';
import { rpcEntriesOf } from '#local/stack/configuration.ts';
import type { BitcoinNode } from '#local/bitcoin/node.ts';
import { startBitcoinNode } from '#local/bitcoin/node.ts';
import type { SolanaNode } from '#local/solana/node.ts';
import { startSolanaNode } from '#local/solana/node.ts';
import { mintTo, newToken } from '#local/solana/tokens.ts';
import { offline } from '../../attacks/recovery-scene.ts';
import { stranger as bitcoinStranger, regtest } from '../../chains/bitcoin/cast.ts';
import { present } from '../../chains/evm/cast.ts';
import { stranger as solanaStranger } from '../../chains/solana/cast.ts';
import { identitySecretsIn } from '../../cosigner/key/identity-secrets.ts';
import type { World } from '../world.ts';
import { startWorld } from '../world.ts';

/**
 * Covers the loss of the service with funds on every chain family: from the packages of two
 * co-signers, the shipped commands move everything to new addresses, and print no key.
 */

const ETHER = 10n ** 18n;
const SOL = 10n ** 9n;
const EVM_TO = '0x00000000000000000000000000000000bac0bac0';
const run = promisify(execFile);

const caip2Of = (name: string) => present(findChain(chainsFrom({}), name)).caip2;
const REGTEST = caip2Of('bitcoin-regtest');

/** Returns addresses of keys that this process discards at once. */
const strangerKey = () => secp256k1.getPublicKey(secp256k1.utils.randomSecretKey());
const regtestSegwit = () => segwitAddressOf(regtest, strangerKey());
const evmStranger = () => present(addressOn('eip155:1', 'ecdsa-secp256k1', strangerKey()));

let safe: string;
let world: World;
let solana: SolanaNode;
let bitcoin: BitcoinNode;
let packages: readonly RecoveryPackage[];
let keyFiles: readonly string[];
let wallets: { readonly evm: string; readonly solana: string; readonly p2tr: string; readonly p2wpkh: string };

beforeAll(async () => {
  safe = await mkdtemp(join(tmpdir(), 'conclave-safe-'));
  keyFiles = [1, 2, 3].map((node) => join(safe, `recovery-${node}.pem`));
  [solana, bitcoin] = await Promise.all([startSolanaNode(), startBitcoinNode({ minesAtOnce: true })]);
  world = await startWorld({ recoveryKeys: keyFiles.map(newRecoveryKey) });
  const signing = identitySecretsIn(world.folder).map((secret, i) => [i + 1, publicIdentity(secret)]);
  await writeFile(join(safe, 'peers.json'), JSON.stringify(Object.fromEntries(signing)));
  const vault = await world.vault('treasury', { chains: ['solana-local', 'bitcoin-regtest'] });
  const exported = await world
    .service()
    .request<{ packages: readonly RecoveryPackage[] }>('POST', `/internal/vault/${vault.id}/recovery`);
  ({ packages } = exported.body);
  // Two of three co-signers are left.
  await writeFile(
    join(safe, 'export.json'),
    JSON.stringify({ packages: packages.filter(({ node }) => node !== 3), missing: [] }),
  );
  const ecdsa = present(packages.find(({ scheme }) => scheme === 'ecdsa-secp256k1'));
  const key = walletKey({ scheme: ecdsa.scheme, publicKey: hexToBytes(ecdsa.publicKey) }, REGTEST);
  wallets = {
    evm: vault.address,
    solana: vault.addresses['solana-local'] ?? '',
    p2tr: vault.addresses['bitcoin-regtest'] ?? '',
    p2wpkh: present(addressOn(REGTEST, ecdsa.scheme, key)),
  };
  await world.stack().stop();
});
afterAll(async () => {
  await Promise.all([solana.stop(), bitcoin.stop(), world.end()]);
  await rm(safe, { recursive: true, force: true });
});

interface Ended {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

async function anvilAnswer<T>(method: string, ...params: readonly unknown[]): Promise<T> {
  const answer = await fetch(world.chainUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  return ((await answer.json()) as { result: T }).result;
}

/** Returns what the chain charged for transactions, in wei. */
async function feesOf(hashes: readonly string[]): Promise<bigint> {
  let fees = 0n;
  for (const hash of hashes) {
    type Receipt = { readonly gasUsed: string; readonly effectiveGasPrice: string };
    const { gasUsed, effectiveGasPrice } = await anvilAnswer<Receipt>('eth_getTransactionReceipt', hash);
    fees += BigInt(gasUsed) * BigInt(effectiveGasPrice);
  }
  return fees;
}

const sentHashes: string[] = [];
/** Everything that the commands printed. */
let printed = '';

const urls = () => ({
  anvil: [world.chainUrl],
  'solana-local': [solana.url],
  'bitcoin-regtest': [bitcoin.url],
});

async function recover(...args: readonly string[]): Promise<Ended> {
  const env = { ...process.env, RPC_URLS: JSON.stringify(rpcEntriesOf(urls())) };
  const ended = await run(process.execPath, ['cli/conclave.ts', 'recover', '--bundled-node', ...args], { env }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }: Ended) => ({ code, stdout, stderr }),
  );
  printed += ended.stdout + ended.stderr;
  return ended;
}

interface Job {
  readonly payments: readonly {
    readonly chain: string;
    readonly from: string;
    readonly tokenAddress: string | null;
    readonly amount: string;
    readonly validUntil: string | null;
    readonly evidence: readonly string[];
  }[];
}

const path = (name: string) => join(safe, name);

/** Runs `watch`, and `sweep` where there is a payment. Returns the job and what `watch` printed. */
async function signRound(watching: readonly string[], to: readonly string[]) {
  const watched = await recover('watch', ...watching, ...to);
  expect([watched.code, watched.stderr]).toEqual([0, watched.stderr]);
  await writeFile(path('job.json'), watched.stdout);
  const job = JSON.parse(watched.stdout) as Job;
  if (job.payments.length === 0) return { job, lines: watched.stderr };
  const keys = keyFiles.slice(0, 2).flatMap((file) => ['--key', file]);
  const signing = [...keys, '--peers', path('peers.json'), '--job', path('job.json'), '--yes'];
  const tokens = watching.flatMap((word, i) => (watching[i - 1] === '--token' ? ['--token', word] : []));
  const signed = await recover('sweep', ...signing, ...to, ...tokens, path('export.json'));
  expect([signed.code, signed.stderr]).toEqual([0, signed.stderr]);
  await writeFile(path('signed.json'), signed.stdout);
  return { job, lines: watched.stderr };
}

/** Runs one round of the three commands. Returns the job and what `watch` printed. */
async function round(watching: readonly string[], to: readonly string[]) {
  const signed = await signRound(watching, to);
  if (signed.job.payments.length === 0) return signed;
  const { transactions } = JSON.parse(await readFile(path('signed.json'), 'utf8')) as {
    readonly transactions: readonly { readonly hash: string }[];
  };
  sentHashes.push(...transactions.map(({ hash }) => hash));
  // A second run of the same bytes changes nothing.
  for (let i = 0; i < 2; i++) {
    const sent = await recover('broadcast', path('signed.json'));
    expect([sent.code, sent.stdout]).toEqual([0, expect.stringContaining('included in block')]);
  }
  return signed;
}

test('the three commands move tokens and native assets on every chain, and leave exactly dust and rents', async () => {
  const { chain } = world;
  const local = solana.chain;
  const [solanaTo, bitcoinTo] = [solanaStranger(), bitcoinStranger()];
  const from = wallets.solana;
  if (!isPublicKey(from)) throw new Error('the wallet has an address');
  const dollar = await chain.deployDollar(wallets.evm, 2_500n);
  const mint = newToken(local);
  local.airdrop(from, 3n * SOL);
  mintTo(local, mint, from, 7_000_000n);
  for (const amount of [50_000n, 30_000n, 700n]) {
    bitcoin.chain.fund(wallets.p2wpkh, amount);
    bitcoin.chain.fund(wallets.p2tr, amount);
  }
  bitcoin.rates['3'] = 4;
  const named = [
    `anvil=${wallets.evm}`,
    `solana-local=${from}`,
    `bitcoin-regtest=${wallets.p2tr}`,
    `${REGTEST}=${wallets.p2wpkh}`,
  ].flatMap((wallet) => ['--wallet', wallet]);
  const to = [`anvil=${EVM_TO}`, `solana-local=${solanaTo}`, `bitcoin-regtest=${bitcoinTo}`].flatMap((one) => [
    '--to',
    one,
  ]);
  const tokens = [`anvil=${dollar}`, `solana-local=${mint}`].flatMap((token) => ['--token', token]);

  // The first payment of a Solana wallet opens its nonce account with a blockhash, which expires.
  await signRound(['--wallet', `solana-local=${from}`, '--token', `solana-local=${mint}`], to);
  local.advance(500n);
  const late = await recover('broadcast', path('signed.json'));
  expect([late.code, late.stdout]).toEqual([1, expect.stringContaining('expired before a block included it')]);

  const rounds: Job[] = [];
  let lines = '';
  do {
    const next = await round([...named, ...tokens], to);
    rounds.push(next.job);
    ({ lines } = next);
  } while (present(rounds.at(-1)).payments.length > 0 && rounds.length < 6);
  // Tokens come before the native asset that pays their fees, and UTXOs have no order.
  expect(
    rounds.map(({ payments }) => payments.map(({ from: wallet, tokenAddress }) => [wallet, tokenAddress])),
  ).toEqual([
    [
      [wallets.evm, dollar],
      [from, mint],
      [wallets.p2tr, null],
      [wallets.p2wpkh, null],
    ],
    [
      [wallets.evm, null],
      [from, null],
    ],
    [],
  ]);
  const amountOf = (index: number, wallet: string) =>
    BigInt(present(rounds[index]?.payments.find((one) => one.from === wallet)).amount);

  expect([await chain.tokenBalance(dollar, EVM_TO), await chain.tokenBalance(dollar, wallets.evm)]).toEqual([
    2_500n,
    0n,
  ]);
  const dust = await chain.balance(wallets.evm);
  expect(await chain.balance(EVM_TO)).toBe(amountOf(1, wallets.evm));
  expect(await chain.balance(EVM_TO)).toBe(
    ETHER - dust - (await feesOf(sentHashes.filter((hash) => hash.startsWith('0x')))),
  );
  expect(lines).toContain(`stays: ${decimalText(dust, 18)} ETH: it is less than its fee`);

  // The first payment opens a nonce account within a minute, and the second one does not expire.
  const limitOf = (index: number) => rounds[index]?.payments.find((one) => one.from === from)?.validUntil;
  expect([limitOf(0), limitOf(1)]).toEqual([expect.any(String), null]);
  const unitsOf = (owner: typeof from) => tokenAccountIn(local.account(tokenAccountOf(owner, mint)))?.units;
  expect([unitsOf(solanaTo), unitsOf(from)]).toEqual([7_000_000n, 0n]);
  const rents = Array.from(
    { length: NONCE_SLOTS },
    (_, slot) => local.account(nonceAccountOf(from, slot))?.lamports ?? 0n,
  );
  const fees = local.naming(from).reduce((sum, { fee, accounts: [payer] }) => sum + (payer === from ? fee : 0n), 0n);
  const received = local.account(solanaTo)?.lamports ?? 0n;
  const opened = local.account(tokenAccountOf(solanaTo, mint))?.lamports ?? 0n;
  expect([local.account(from), rents]).toEqual([null, [local.rent(80n), ...rents.slice(1).map(() => 0n)]]);
  expect(received).toBe(3n * SOL - fees - local.rent(80n) - opened);

  const sent = amountOf(0, wallets.p2tr) + amountOf(0, wallets.p2wpkh);
  const left = [wallets.p2tr, wallets.p2wpkh].map((wallet) => bitcoin.chain.balance(wallet));
  // At 4 satoshi for a virtual byte: 169 and 258 of them. A small UTXO of P2TR may carry more.
  expect([bitcoin.chain.balance(bitcoinTo), left]).toEqual([sent, [700n, 0n]]);
  expect(sent).toBe(80_000n - 4n * 169n + 80_700n - 4n * 258n);
  expect(lines).toContain('stays: 0.000007 BTC: its UTXOs may carry more than satoshi');
  expect(lines).toContain('Nothing is left to move.');

  const opening = {
    chains: ['eip155:31337', caip2Of('solana-local'), REGTEST],
    signingKeys: signingKeysIn(path('peers.json')),
  };
  const { wallets: whole } = await recovered(keyFiles.map(recoverySecretOf), packages, opening);
  const secrets = [...whole.map(({ secret }) => secret), ...keyFiles.map(recoverySecretOf)];
  expect([secrets.length, secrets.filter((secret) => printed.includes(secret))]).toEqual([7, []]);
});

/** Runs `watch` in this process, with the nodes of this file or others. */
async function watch(words: readonly string[], rpcUrls: Readonly<Record<string, readonly string[]>> = urls()) {
  vi.stubEnv('RPC_URLS', JSON.stringify(rpcEntriesOf(rpcUrls)));
  const { code, output, errors } = await offline('recover', 'watch', ...words);
  vi.unstubAllEnvs();
  return { code, errors, payments: output === '' ? null : (JSON.parse(output) as Job).payments };
}

test('a token without money for its fee holds the native asset back, unless the person leaves the token', async () => {
  const wallet = evmStranger();
  const dollar = await world.chain.deployDollar(wallet, 40n);
  // Enough for a payment without a token, and not for a call.
  await world.chain.fund(wallet, 10n ** 14n);
  const words = ['--wallet', `anvil=${wallet}`, '--to', `anvil=${EVM_TO}`, '--token', `anvil=${dollar}`];
  const held = await watch(words);
  expect([held.code, held.payments]).toEqual([0, []]);
  expect(held.errors).toMatch(
    /open: 40 smallest units of 0x[^]*INSUFFICIENT_FUNDS[^]*open: ETH: it stays for the fees/,
  );
  expect(held.errors).toContain('No payment is possible now.');
  const without = await watch([...words, '--leave', `anvil=${dollar}`]);
  expect(without.payments?.map(({ tokenAddress }) => tokenAddress)).toEqual([null]);
  await world.chain.fund(wallet, ETHER);
  const funded = await watch(words);
  expect(funded.payments?.map(({ tokenAddress, amount }) => [tokenAddress, amount])).toEqual([[dollar, '40']]);
});

test('more UTXOs than one transaction can spend leave in several, and those that may carry more by request', async () => {
  const [segwit, taproot] = [regtestSegwit(), bitcoinStranger()];
  for (let i = 0; i < 14; i++) bitcoin.chain.fund(segwit, 20_000n + BigInt(i));
  for (const amount of [546n, 9_000n]) bitcoin.chain.fund(taproot, amount);
  const to = ['--to', `bitcoin-regtest=${bitcoinStranger()}`];
  const { payments } = await watch(['--wallet', `bitcoin-regtest=${segwit}`, ...to]);
  expect(payments?.map(({ evidence }) => evidence.length)).toEqual([12, 2]);
  const careful = await watch(['--wallet', `bitcoin-regtest=${taproot}`, ...to]);
  expect([careful.payments, careful.errors]).toEqual([[], expect.stringContaining('stays: 0.00009546 BTC')]);
  const all = await watch(['--wallet', `bitcoin-regtest=${taproot}`, ...to, '--include-may-carry-more']);
  expect(all.payments?.map(({ amount }) => amount)).toEqual([String(9_546n - 4n * 169n)]);
});

test('a native asset that the recipient refuses stays open, and a conclusion names what stays', async () => {
  const wallet = evmStranger();
  // The contract of the token accepts no native asset.
  const dollar = await world.chain.deployDollar(evmStranger(), 40n);
  await world.chain.fund(wallet, ETHER);
  const refused = await watch(['--wallet', `anvil=${wallet}`, '--to', `anvil=${dollar}`]);
  expect([refused.code, refused.payments]).toEqual([0, []]);
  expect(refused.errors).toMatch(/open: 1 ETH: SIMULATION_REVERTED/);
  expect(refused.errors).toContain('No payment is possible now.');
  expect(refused.errors).toContain('anvil has one RPC node, which alone decides what is left.');
  const poor = evmStranger();
  await world.chain.fund(poor, 1n);
  const dust = await watch(['--wallet', `anvil=${poor}`, '--to', `anvil=${EVM_TO}`]);
  expect(dust.errors).toMatch(/stays: [^]*Nothing is left to move.\nWhat is marked as stays is still in the wallets/);
  const empty = await watch(['--wallet', `anvil=${evmStranger()}`, '--to', `anvil=${EVM_TO}`]);
  expect([empty.errors.includes('Nothing is left'), empty.errors.includes('is still in')]).toEqual([true, false]);
});

test('a native asset that came in the newest blocks moves, too', async () => {
  vi.stubEnv('CHAINS', JSON.stringify([{ name: 'anvil', confirmations: 1_000 }]));
  const wallet = evmStranger();
  await world.chain.fund(wallet, ETHER);
  const words = ['--wallet', `anvil=${wallet}`, '--to', `anvil=${EVM_TO}`];
  const { payments } = await watch(words);
  expect(payments?.map(({ tokenAddress }) => tokenAddress)).toEqual([null]);
  vi.stubEnv('CHAINS', JSON.stringify([{ name: 'anvil', confirmations: 1_000 }]));
  const empty = await watch(['--wallet', `anvil=${evmStranger()}`, ...words.slice(2)]);
  expect([empty.payments, empty.errors]).toEqual([
    [],
    expect.stringMatching(/^anvil 0x\w+\nNothing is left to move.\n/),
  ]);
});

test('a token that came in the newest blocks holds the native asset back until it is deep enough', async () => {
  const wallet = evmStranger();
  const dollar = await world.chain.deployDollar(evmStranger(), 1n);
  await world.chain.fund(wallet, ETHER);
  await anvilAnswer('anvil_mine', '0x10');
  const argument = `${wallet.slice(2).padStart(64, '0')}${(40).toString(16).padStart(64, '0')}`;
  const transfer = { from: await world.chain.account(0), to: dollar, data: `0xa9059cbb${argument}` };
  await anvilAnswer('eth_sendTransaction', transfer);
  await anvilAnswer('anvil_mine', '0x1');
  const words = ['--wallet', `anvil=${wallet}`, '--to', `anvil=${EVM_TO}`, '--token', `anvil=${dollar}`];
  const watchDeep = () => {
    vi.stubEnv('CHAINS', JSON.stringify([{ name: 'anvil', confirmations: 5 }]));
    return watch(words);
  };
  const early = await watchDeep();
  expect(early.payments).toEqual([]);
  expect(early.errors).toContain('its newest deposit is not deep enough');
  await anvilAnswer('anvil_mine', '0x10');
  const late = await watchDeep();
  expect(late.payments?.map(({ tokenAddress, amount }) => [tokenAddress, amount])).toEqual([[dollar, '40']]);
});

test('a wallet that no node shows is never left out of a job, and wrong arguments make none', async () => {
  const words = ['--wallet', `anvil=${evmStranger()}`, '--to', `anvil=${EVM_TO}`];
  const unreachable = await watch(words, { anvil: ['http://127.0.0.1:9'] });
  expect([unreachable.code, unreachable.payments]).toEqual([1, null]);
  expect(unreachable.errors).toMatch(/^anvil: /);
  expect((await watch(words, {})).errors).toContain('RPC_URLS names no RPC node of anvil.');
  const wrongs = [
    words.slice(0, 2),
    words.slice(2),
    [...words, '--wallet', `solana-local=${solanaStranger()}`],
    [...words, ...words.slice(0, 2)],
    [...words, '--token', `solana-local=${solanaStranger()}`],
  ];
  for (const wrong of wrongs) expect(await watch(wrong)).toMatchObject({ code: 2, payments: null });
  const itself = ['--wallet', `anvil=${EVM_TO}`, '--to', `anvil=${EVM_TO}`];
  expect((await watch(itself)).errors).toContain('itself');
});
