import { randomBytes } from '@noble/hashes/utils.js';
import type { Address } from '@solana/kit';
import { createNoopSigner, getBase58Decoder } from '@solana/kit';
import { getTransferSolInstruction } from '@solana-program/system';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tokenAccountIn } from '#chains/solana/client/accounts.ts';
import { isPublicKey, tokenAccountOf } from '#chains/solana/rules/address.ts';
import { memoInstruction } from '#chains/solana/rules/memo.ts';
import type { TransactionRecord } from '#cli/api-client.ts';
import { unwrap } from '#cli/api-client.ts';
import { FaultyMonitor } from '#local/stack/faulty-monitor.ts';
import { report, watchableSolana, watchChain } from '#local/stack/monitor.ts';
import type { ReadyVault } from '#local/stack/provision.ts';
import { seededRandom } from '#local/stack/seeded-random.ts';
import type { LocalSolanaChain } from '#local/solana/chain.ts';
import type { SolanaNode } from '#local/solana/node.ts';
import { startSolanaNode } from '#local/solana/node.ts';
import { pollUntil } from '#local/stack/poll.ts';
import { mintTo, newToken, payTokens } from '#local/solana/tokens.ts';
import { CLUSTER, stranger } from '../../chains/solana/cast.ts';
import type { World } from '../world.ts';
import { finished, startWorld } from '../world.ts';

/**
 * Covers incoming payments on Solana. The monitor that reports them may be wrong: a report counts
 * only if the cluster confirms it.
 */

const SOL = 1_000_000_000n;
const CHAIN = 'solana-local';

let node: SolanaNode;
let localChain: LocalSolanaChain;
let world: World;
let vault: ReadyVault;
let wallet: Address;

beforeAll(async () => {
  node = await startSolanaNode();
  localChain = node.chain;
  world = await startWorld({ solanaUrl: node.url });
  vault = await world.vault('treasury', { chains: [CHAIN] });
  const address = vault.addresses[CHAIN] ?? '';
  if (!isPublicKey(address)) throw new Error('the wallet has an address');
  wallet = address;
});
afterAll(async () => {
  await world.end();
  await node.stop();
});

const notify = (txHash: string) => report(world.stack().monitor, { txHash, chain: CLUSTER });

async function records(of: ReadyVault = vault): Promise<readonly TransactionRecord[]> {
  const { alice } = world.people();
  const answer = await alice.client.api.vault[':vaultId'].transactions.$get({
    param: { vaultId: String(of.id) },
    query: { visible: 'all', limit: '100' },
  });
  return (await answer.json()).transactions;
}

const recordOf = async (hash: string) => (await records()).find(({ txHash }) => txHash === hash) ?? null;
const appears = (hash: string) => pollUntil(`a record of ${hash}`, () => recordOf(hash), 20_000);

function pay(to: Address, amount: bigint, from = rich): string {
  return localChain.carryOut(from, [
    getTransferSolInstruction({ source: createNoopSigner(from), destination: to, amount }),
  ]).hash;
}

const rich = stranger();

test('incoming SOL is in the history and in the balance, with its sender', async () => {
  localChain.airdrop(rich, 1_000n * SOL);
  const hash = pay(wallet, 5n * SOL);
  expect(await notify(hash)).toBe(200);
  const record = await appears(hash);
  expect(record).toMatchObject({
    kind: 'activity',
    displayType: 'RECEIVED',
    direction: 'in',
    from: rich,
    to: wallet,
    amount: (5n * SOL).toString(),
    feePaid: null,
    asset: { tokenAddress: null, symbol: 'SOL', decimals: 9, trust: 'native', imitates: null },
  });
  const { alice } = world.people();
  expect((await finished(alice, record.id)).finality).toBe('finalized');
  const { balances } = await alice.client.balances(vault.id);
  const held = balances.find(({ chain }) => chain === CHAIN);
  expect([held?.current, held?.wallet]).toEqual([(5n * SOL).toString(), wallet]);
});

test('the memo of an incoming payment is in its record, and the list filters by it', async () => {
  const transfer = getTransferSolInstruction({ source: createNoopSigner(rich), destination: wallet, amount: SOL });
  const memos = ['customer 7', 'order \u202e9'].map((memo) => memoInstruction(memo));
  const { hash } = localChain.carryOut(rich, [...memos, transfer]);
  const other = pay(wallet, 2n * SOL);
  for (const one of [hash, other]) expect(await notify(one)).toBe(200);
  expect((await appears(hash)).memo).toBe('customer 7\norder 9');
  expect((await appears(other)).memo).toBeNull();
  const { alice } = world.people();
  const filtered = async (memo: string) => {
    const param = { vaultId: String(vault.id) };
    const query = { visible: 'all', memo } as const;
    const page = await unwrap(alice.client.api.vault[':vaultId'].transactions.$get({ param, query }));
    return page.transactions.map(({ txHash }) => txHash);
  };
  expect(await filtered('customer 7\norder 9')).toEqual([hash]);
  expect(await filtered('customer 7')).toEqual([]);
});

test('an incoming token and an incoming NFT are each credited as their own asset', async () => {
  const [token, collectible] = [newToken(localChain), newToken(localChain, 0)];
  const minted = mintTo(localChain, token, rich, 9_000_000n);
  mintTo(localChain, collectible, rich, 1n);
  expect(minted).not.toBe('');
  const paid = payTokens(localChain, token, { from: rich, to: wallet, amount: 2_000_000n });
  const given = payTokens(localChain, collectible, { from: rich, to: wallet, amount: 1n, decimals: 0 });
  for (const hash of [paid, given]) expect(await notify(hash)).toBe(200);
  expect(await appears(paid)).toMatchObject({
    displayType: 'RECEIVED',
    from: rich,
    amount: '2000000',
    asset: { tokenAddress: token },
    movements: [{ kind: 'spl' }],
  });
  expect(await appears(given)).toMatchObject({ displayType: 'RECEIVED', movements: [{ kind: 'splNft', amount: '1' }] });
});

test('a collectible that a stranger mints is received from no account, and hidden', async () => {
  const collectible = newToken(localChain, 0);
  const hash = mintTo(localChain, collectible, wallet, 1n);
  await notify(hash);
  expect(await appears(hash)).toMatchObject({
    displayType: 'RECEIVED',
    to: wallet,
    movements: [{ from: null }],
    hiddenReason: 'UNKNOWN_TOKEN',
  });
});

test('a delivery about an unknown, foreign or malformed signature credits nothing', async () => {
  const before = (await records()).length;
  const elsewhere = pay(stranger(), SOL);
  const none = getBase58Decoder().decode(randomBytes(64));
  for (const hash of [elsewhere, none, 'no signature', '']) expect([200, 400]).toContain(await notify(hash));
  const last = pay(wallet, 890_880n);
  await notify(last);
  await appears(last);
  expect((await records()).length).toBe(before + 1);
});

test('the vault’s own payment has one record', async () => {
  const { alice, bob } = world.people();
  const { id } = await alice.client.transfer({ vaultId: vault.id, chain: CHAIN, to: rich, amount: '1000000' });
  await alice.client.approve(id);
  await bob.client.approve(id);
  const done = await finished(alice, id);
  expect(await notify(done.txHash ?? '')).toBe(200);
  const last = pay(wallet, 890_880n);
  await notify(last);
  await appears(last);
  expect((await records()).filter(({ txHash }) => txHash === done.txHash)).toHaveLength(1);
});

test('a rescan finds unreported payments, also those of tokens', async () => {
  const token = newToken(localChain);
  mintTo(localChain, token, rich, 9_000_000n);
  payTokens(localChain, token, { from: rich, to: wallet, amount: 1n });
  // The second payment names only the token account, and not the wallet.
  const hashes = [pay(wallet, 2n * SOL), payTokens(localChain, token, { from: rich, to: wallet, amount: 3_000_000n })];
  const { alice } = world.people();
  await alice.client.requestRescan(vault.id);
  for (const hash of hashes) await appears(hash);
});

test('the records match the cluster in the end, whatever deliveries the monitor loses, repeats or delays', async () => {
  const seed = Date.now() % 1_000_000;
  console.log(`seed ${seed}`);
  const chance = seededRandom(seed);
  const fresh = await world.vault('mischief', { chains: [CHAIN] });
  const address = fresh.addresses[CHAIN] as Address;
  const token = newToken(localChain);
  mintTo(localChain, token, rich, 10n ** 12n);
  const monitor = watchChain(watchableSolana(localChain), world.stack().monitor, new FaultyMonitor(chance));
  const hashes: string[] = [];
  for (let i = 0; i < 25; i++) {
    const amount = BigInt(1 + Math.floor(chance() * 1_000));
    const paysTokens = chance() < 0.4;
    hashes.push(
      paysTokens ? payTokens(localChain, token, { from: rich, to: address, amount }) : pay(address, 890_880n + amount),
    );
  }
  await monitor.stop();
  const { alice } = world.people();
  const all = async () => {
    await alice.client.requestRescan(fresh.id);
    const found = (await records(fresh)).filter(({ chain }) => chain === CHAIN).map(({ txHash }) => txHash);
    return found.length >= hashes.length ? found : null;
  };
  const found = await pollUntil('every record', all, 60_000);
  expect([found.length, new Set(found)]).toEqual([hashes.length, new Set(hashes)]);
  const held = await pollUntil(
    'settled balances',
    async () => {
      const { balances } = await alice.client.balances(fresh.id);
      const here = balances.filter(({ chain }) => chain === CHAIN);
      return here.every(({ amount, current }) => amount === current) ? here : null;
    },
    30_000,
  );
  const of = (tokenAddress: string | null) => held.find(({ asset }) => asset.tokenAddress === tokenAddress)?.amount;
  expect(of(null)).toBe((localChain.account(address)?.lamports ?? 0n).toString());
  const account = tokenAccountIn(localChain.account(tokenAccountOf(address, token)));
  expect(of(token)).toBe((account?.units ?? 0n).toString());
  expect(held.filter(({ adjustment }) => adjustment !== null)).toEqual([]);
});
