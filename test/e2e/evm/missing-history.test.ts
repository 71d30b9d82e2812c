import { afterEach, expect, test } from 'vitest';
import type { ReadyVault } from '#local/stack/provision.ts';
import { anvilClient } from '../../chains/evm/anvil-client.ts';
import type { World } from '../world.ts';
import { finished, reaches, startWorld, taken } from '../world.ts';

/** Covers a payment that was mined, and RPC nodes that do not know it. */

/** The calls that an RPC node without history cannot answer. */
const HISTORY = ['eth_getTransactionReceipt', 'eth_getTransactionByHash', 'eth_getBlockReceipts'];

/** The balance, in wei, that anvil gives to each of its accounts. */
const TEN_THOUSAND = 10_000n * 10n ** 18n;

let world: World;
afterEach(() => world.end());

const miner = () => anvilClient(world.chainUrl);

/** Creates and approves a payment of 1000 wei that stays in the mempool. Returns its id. */
async function waiting(vault: ReadyVault, to: string): Promise<string> {
  await miner().setAutomine(false);
  const id = await world.approved({ vaultId: vault.id, chain: 'anvil', to, amount: '1000' });
  await taken(world.people().alice, id);
  return id;
}

/** Mines an hour of blocks on top of the block that includes the payment. */
const mineAnHour = () => miner().mine({ blocks: 120, interval: 30 });

test('an RPC node without history ends no payment, and the payment succeeds once the node returns its receipt', async () => {
  world = await startWorld();
  const { alice } = world.people();
  const vault = await world.vault('treasury');
  const recipient = await world.chain.account(7);
  const before = await world.chain.balance(recipient);
  const id = await waiting(vault, recipient);
  world.gate.forget(HISTORY);
  await mineAnHour();
  const unexplained = await reaches(
    alice,
    id,
    ({ state, stateReason }) => stateReason === 'NONCE_USED_UNEXPLAINED' || state === 'FAILED',
  );
  expect([unexplained.state, unexplained.stateReason]).toEqual(['BROADCAST', 'NONCE_USED_UNEXPLAINED']);
  expect(await world.chain.balance(recipient)).toBe(before + 1000n);
  const end = () =>
    alice.client.request<{ readonly code: string }>('POST', `/transaction/${id}/cancel`, {
      body: { acknowledge: 'NONCE_USED_UNEXPLAINED' },
    });
  // The end needs a statement of this moment: the record is from an earlier poll.
  world.gate.close(503);
  const unanswered = await end();
  expect([unanswered.status, unanswered.body.code]).toEqual([503, 'chain-unavailable']);
  world.gate.close(null);
  world.gate.forget([]);
  const refused = await end();
  expect([refused.status, refused.body.code]).toEqual([
    409,
    expect.stringMatching(/^(?:end-not-unknown|transaction-)/),
  ]);
  await miner().setAutomine(true);
  const done = await finished(alice, id);
  expect([done.state, done.stateReason, done.attempts.length]).toEqual(['SUCCEEDED', null, 1]);
});

test('a payment that one of two RPC nodes knows is CONFIRMING, and succeeds once the second node shows it', async () => {
  world = await startWorld({ hasSecondNode: true });
  const { alice } = world.people();
  const vault = await world.vault('treasury');
  const recipient = await world.chain.account(7);
  const id = await waiting(vault, recipient);
  world.gate.forget(HISTORY);
  await mineAnHour();
  const known = await reaches(alice, id, ({ state, stateReason }) => state === 'FAILED' || stateReason !== null);
  expect([known.state, known.stateReason]).toEqual(['CONFIRMING', 'SECOND_NODE_AWAY']);
  world.gate.forget([]);
  await miner().setAutomine(true);
  expect([(await finished(alice, id)).state, await world.chain.balance(recipient)]).toEqual([
    'SUCCEEDED',
    1000n + TEN_THOUSAND,
  ]);

  // The second RPC node is unreachable from now on. Later in the test it is reachable again.
  world.secondGate.close(503);
  const next = await world.approved({ vaultId: vault.id, chain: 'anvil', to: recipient, amount: '1000' });
  const alone = await reaches(alice, next, ({ state }) => state === 'CONFIRMING' || state === 'SUCCEEDED');
  expect([alone.state, alone.stateReason]).toEqual(['CONFIRMING', 'SECOND_NODE_AWAY']);
  world.secondGate.close(null);
  expect((await finished(alice, next)).state).toBe('SUCCEEDED');
});
