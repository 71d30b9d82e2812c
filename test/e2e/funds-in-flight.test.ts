import type { Address } from '@solana/kit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isPublicKey } from '#chains/solana/rules/address.ts';
import type { TransactionRecord } from '#cli/api-client.ts';
import type { SolanaNode } from '#local/solana/node.ts';
import { startSolanaNode } from '#local/solana/node.ts';
import { anvilClient } from '../chains/evm/anvil-client.ts';
import { stranger } from '../chains/solana/cast.ts';
import type { Gate } from './rpc-proxy.ts';
import { startGate } from './rpc-proxy.ts';
import { gethPool } from './evm/geth-pool.ts';
import type { World } from './world.ts';
import { finished, reaches, startWorld, taken } from './world.ts';

/**
 * Covers simultaneous payments of one wallet whose balance does not cover all of them: a payment
 * that does not fit waits, and no fee is wasted.
 */

const ETHER = 10n ** 18n;
const SOLANA = 'solana-local';

let node: SolanaNode;
let gate: Gate;
let world: World;

beforeAll(async () => {
  node = await startSolanaNode();
  gate = await startGate(node.url);
  world = await startWorld({ solanaUrl: gate.url });
});
afterAll(async () => {
  await world.end();
  await gate.stop();
  await node.stop();
});

const miner = () => anvilClient(world.chainUrl);

const waitsForFunds = ({ state, stateReason }: TransactionRecord) =>
  state === 'SIGNING' && stateReason === 'FUNDS_IN_FLIGHT';

/** Creates a vault whose Solana wallet has exactly `lamports`, with functions to pay from it. */
async function solanaWallet(name: string, lamports: bigint) {
  const vault = await world.vault(name, { chains: [SOLANA] });
  const address = vault.addresses[SOLANA] ?? '';
  if (!isPublicKey(address)) throw new Error('the wallet has an address');
  node.chain.airdrop(address, lamports);
  const pay = (to: Address, amount: bigint) =>
    world.approved({ vaultId: vault.id, chain: SOLANA, to, amount: amount.toString() });
  return { address, pay };
}

const lamportsOf = (address: Address) => node.chain.account(address)?.lamports ?? 0n;

test('of three payments one does not fit and waits, a later one passes it, and a deposit lets it continue', async () => {
  const { alice } = world.people();
  const { id: vaultId, address } = await world.vault('in flight');
  const recipient = await world.chain.account(7);
  const before = await world.chain.balance(recipient);
  const pay = (tenths: bigint) =>
    world.approved({ vaultId, chain: 'anvil', to: recipient, amount: ((tenths * ETHER) / 10n).toString() });
  const pool = gethPool(world.chainUrl, { coversQueue: true });
  const refused: string[] = [];
  world.gate.falsify(async (method, params) => {
    const answer = await pool(method, params);
    if (answer !== undefined && 'error' in answer) refused.push(answer.error.message);
    return answer;
  });
  await miner().setAutomine(false);
  const first = await pay(6n);
  await taken(alice, first);
  const second = await pay(6n);
  const waiting = await reaches(alice, second, waitsForFunds);
  expect([waiting.attempts, waiting.waitsFor]).toEqual([[], null]);
  const third = await pay(1n);
  await taken(alice, third);
  await miner().setAutomine(true);
  await miner().mine({ blocks: 1 });
  const done = [await finished(alice, first), await finished(alice, third)];
  expect(done.map(({ state, attempts }) => [state, attempts[0]?.nonce])).toEqual([
    ['SUCCEEDED', '0'],
    ['SUCCEEDED', '1'],
  ]);
  expect((await alice.client.read(second)).state).toBe('SIGNING');
  await world.chain.fund(address, ETHER / 2n);
  const paid = await finished(alice, second);
  world.gate.falsify(null);
  expect([paid.state, paid.stateReason, paid.attempts[0]?.nonce]).toEqual(['SUCCEEDED', null, '2']);
  expect(await world.chain.balance(recipient)).toBe(before + (13n * ETHER) / 10n);
  expect(refused.filter((words) => words.startsWith('insufficient funds'))).toEqual([]);
});

test('the second of two payments of 60 % on Solana waits, and fails for insufficient funds when the first is final', async () => {
  const { alice } = world.people();
  const wallet = await solanaWallet('sixty', 10_000_000_000n);
  const to = stranger();
  const said = gate.said.length;
  const held = gate.hold('sendTransaction');
  const first = await wallet.pay(to, 6_000_000_000n);
  const call = await held;
  const second = await wallet.pay(to, 6_000_000_000n);
  expect((await reaches(alice, second, waitsForFunds)).attempts).toEqual([]);
  await call.deliver();
  expect((await finished(alice, first)).state).toBe('SUCCEEDED');
  const poor = await finished(alice, second);
  expect([poor.state, poor.stateReason, poor.attempts]).toEqual(['FAILED', 'INSUFFICIENT_FUNDS', []]);
  expect(lamportsOf(to)).toBe(6_000_000_000n);
  // Only one transaction was sent, so no fee was paid for a failed one.
  const sent = gate.said.slice(said).filter((text) => text.includes('"sendTransaction"'));
  expect(new Set(sent.map((text) => String(JSON.parse(text).params[0]))).size).toBe(1);
});

test('a payment on Solana that cannot pay the rent of a new nonce account waits for an existing account', async () => {
  const { alice } = world.people();
  const wallet = await solanaWallet('places', 3_000_000_000n);
  const to = stranger();
  const opening = await finished(alice, await wallet.pay(to, 1_000_000_000n));
  expect(opening.state).toBe('SUCCEEDED');
  // The wallet keeps enough for two payments of a million lamports and the minimum of the account,
  // and nothing for rent.
  const rest = lamportsOf(wallet.address) - 3_000_000n;
  expect((await finished(alice, await wallet.pay(to, rest))).state).toBe('SUCCEEDED');
  const held = gate.hold('sendTransaction');
  const first = await wallet.pay(to, 1_000_000n);
  const call = await held;
  const second = await wallet.pay(to, 1_000_000n);
  expect((await reaches(alice, second, waitsForFunds)).attempts).toEqual([]);
  await call.deliver();
  const done = [await finished(alice, first), await finished(alice, second)];
  expect(done.map(({ state, attempts }) => [state, attempts.map(({ nonce }) => nonce)])).toEqual([
    ['SUCCEEDED', ['0']],
    ['SUCCEEDED', ['0']],
  ]);
});
