import { join } from 'node:path';
import { address } from '@solana/kit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { BitcoinNode } from '#local/bitcoin/node.ts';
import { startBitcoinNode } from '#local/bitcoin/node.ts';
import { report } from '#local/stack/monitor.ts';
import type { ReadyVault } from '#local/stack/provision.ts';
import type { SolanaNode } from '#local/solana/node.ts';
import { startSolanaNode } from '#local/solana/node.ts';
import { pollUntil } from '#local/stack/poll.ts';
import { BTC, REGTEST, stranger as bitcoinStranger } from '../../chains/bitcoin/cast.ts';
import { stranger as solanaStranger } from '../../chains/solana/cast.ts';
import type { World } from '../world.ts';
import { finished, startWorld } from '../world.ts';

/**
 * Covers repeated queue messages. A queue may deliver a message several times, even simultaneously.
 * Here every message is delivered three times, on every chain.
 */

const ENTRY = join(import.meta.dirname, '..', '..', 'worker', 'duplicating-worker.ts');
const SOL = 1_000_000_000n;

let bitcoin: BitcoinNode;
let solana: SolanaNode;
let world: World;
let vault: ReadyVault;

beforeAll(async () => {
  solana = await startSolanaNode();
  bitcoin = await startBitcoinNode({ minesAtOnce: true });
  world = await startWorld({ solanaUrl: solana.url, bitcoinUrl: bitcoin.url, entry: ENTRY });
  vault = await world.vault('treasury', { chains: ['solana-local', 'bitcoin-regtest'] });
  solana.chain.airdrop(address(vault.addresses['solana-local'] ?? ''), 100n * SOL);
  for (let i = 0; i < 6; i++) bitcoin.chain.fund(vault.addresses['bitcoin-regtest'] ?? '', 2n * BTC);
});
afterAll(async () => {
  await world.end();
  await solana.stop();
  await bitcoin.stop();
});

interface Wallet {
  readonly chain: string;
  readonly recipient: () => string | Promise<string>;
  readonly amount: bigint;
  readonly balance: (of: string) => bigint | Promise<bigint>;
}

const wallets: readonly Wallet[] = [
  {
    chain: 'anvil',
    recipient: () => world.chain.account(7),
    amount: 1_000n,
    balance: (of) => world.chain.balance(of),
  },
  {
    chain: 'solana-local',
    recipient: solanaStranger,
    amount: SOL,
    balance: (of) => solana.chain.account(address(of))?.lamports ?? 0n,
  },
  {
    chain: 'bitcoin-regtest',
    recipient: () => bitcoinStranger(),
    amount: BTC,
    balance: (of) => bitcoin.chain.balance(of),
  },
];

test.each(wallets)(
  'a message that is delivered three times takes effect once, on $chain',
  async ({ chain, recipient, amount, balance }) => {
    const { alice, bob } = world.people();
    const to = await recipient();
    const before = await balance(to);
    const ids = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const { id } = await alice.client.transfer({ vaultId: vault.id, chain, to, amount: amount.toString() });
        await alice.client.approve(id);
        await bob.client.approve(id);
        return id;
      }),
    );
    const records = await Promise.all(ids.map((id) => finished(alice, id)));
    expect(records.map(({ state, attempts }) => [state, attempts.length])).toEqual(ids.map(() => ['SUCCEEDED', 1]));
    expect(new Set(records.map(({ txHash }) => txHash)).size).toBe(4);
    expect((await balance(to)) - before).toBe(4n * amount);
  },
);

test('an incoming payment is recorded once, however often its delivery is processed', async () => {
  const { alice } = world.people();
  const hash = bitcoin.chain.fund(vault.addresses['bitcoin-regtest'] ?? '', 12_345n);
  expect(await report(world.stack().monitor, { txHash: hash, chain: REGTEST })).toBe(200);
  const records = async () => {
    const { transactions } = await alice.client.transactions(vault.id);
    const found = transactions.filter(({ txHash }) => txHash === hash);
    return found.length === 0 ? null : found;
  };
  const found = await pollUntil('a record', records, 20_000);
  expect(found).toMatchObject([{ amount: '12345', displayType: 'RECEIVED' }]);
});
