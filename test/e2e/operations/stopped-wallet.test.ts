import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TransactionRecord } from '#cli/api-client.ts';
import { Client } from '#cli/api-client.ts';
import { pollUntil } from '#local/stack/poll.ts';
import type { Stack } from '#local/stack/stack.ts';
import { startStack } from '#local/stack/stack.ts';
import { AMOUNT, openStoppedWallet, recipient, SOLANA } from '../../states/stopped-wallet.ts';

/**
 * Covers the upgrade of a deployment in which false answers have stopped a Solana wallet: release
 * 0.2.0 signed a payment for each of its nonce slots on an account that one RPC node had invented,
 * and one more payment waits for a slot. `test/states/record-stopped-wallet.ts` recorded it.
 */

const DEADLINE_MS = 60_000;
const ENDS: readonly string[] = ['SUCCEEDED', 'FAILED', 'CANCELLED', 'EXPIRED'];

const { held, options, node, end } = await openStoppedWallet();
let stack: Stack;
let client: Client;
beforeAll(async () => {
  stack = await startStack(options);
  client = new Client(stack.url, held.token);
  // In a deployment cron wakes the vaults.
  await stack.sweep();
});
afterAll(async () => {
  await stack?.stop();
  await end();
});

/** Returns the transactions when all of them have reached something. */
const untilAll = (ids: readonly string[], isReached: (record: TransactionRecord) => boolean) =>
  pollUntil(
    'change of every payment',
    async () => {
      const records = await Promise.all(ids.map((id) => client.read(id)));
      return records.every(isReached) ? records : null;
    },
    DEADLINE_MS,
  );

const hasEnded = ({ state }: TransactionRecord) => ENDS.includes(state);

const paid = (i: number) => node.chain.account(recipient(i))?.lamports ?? 0n;

test('bytes on accounts that do not exist lapse, their payments end, and the waiting payment is made', async () => {
  for (const { state, stateReason, attempts } of await untilAll(held.stuck, hasEnded)) {
    // Co-signers sign further bytes of a payment only for the same nonce: they cannot read the
    // chain, and a wrong coordinator could claim that the account does not exist.
    expect([state, stateReason]).toEqual(['FAILED', 'NONCE_ACCOUNT_MISSING']);
    expect(attempts.map(({ outcome }) => outcome)).toEqual(['lapsed']);
    expect(node.chain.entry(attempts[0]?.hash ?? '')).toBeNull();
  }
  const [waiting] = await untilAll([held.waiting], hasEnded);
  expect(waiting).toMatchObject({ state: 'SUCCEEDED', stateReason: null });
  expect([...held.stuck.map((_, i) => paid(i)), paid(held.stuck.length)]).toEqual([
    ...held.stuck.map(() => 0n),
    AMOUNT,
  ]);
  // Nothing of the wallet stays reserved.
  const outgoing = async () => (await client.balances(held.vaultId)).balances[0]?.outgoing;
  await pollUntil('end of all reservations', async () => ((await outgoing()) === '0' ? true : null), DEADLINE_MS);
});

test('every slot of the wallet is free again, and the ended payments are made once each', async () => {
  // A payment holds its slot until it is final.
  node.chain.finalityDepth = 100n;
  const again: string[] = [];
  for (const i of held.stuck.keys()) {
    const body = { vaultId: held.vaultId, chain: SOLANA, to: recipient(i), amount: AMOUNT.toString() };
    const { id } = await client.transfer(body);
    await client.approve(id);
    again.push(id);
  }
  const sent = await untilAll(again, ({ attempts }) => attempts.at(-1)?.outcome === 'accepted');
  expect(new Set(sent.map(({ nonce }) => nonce)).size).toBe(held.stuck.length);
  node.chain.finalityDepth = 0n;
  const records = await untilAll(again, hasEnded);
  expect(records.map(({ state }) => state)).toEqual(again.map(() => 'SUCCEEDED'));
  expect(held.stuck.map((_, i) => paid(i))).toEqual(held.stuck.map(() => AMOUNT));
});
