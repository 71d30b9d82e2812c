import { afterEach, expect, test } from 'vitest';
import { keccak256, numberToHex, parseTransaction, recoverTransactionAddress } from 'viem';
import type { Hex, TransactionSerializedEIP1559 } from 'viem';
import type { World } from '../world.ts';
import { finished, startWorld, taken } from '../world.ts';

/** Covers an RPC node that accepts a payment and passes it on to no other node. */

let world: World;
afterEach(() => world.end());

/**
 * Makes the first of two RPC nodes accept all bytes and report them as waiting, without forwarding
 * them.
 */
function withhold(): void {
  const kept = new Map<unknown, object>();
  world.gate.falsify(async (method, [request]) => {
    if (method === 'eth_sendRawTransaction') {
      const [raw, hash] = [request as TransactionSerializedEIP1559, keccak256(request as Hex)];
      const { to, value = 0n, gas = 0n, data = '0x' } = parseTransaction(raw);
      const from = await recoverTransactionAddress({ serializedTransaction: raw });
      kept.set(hash, {
        hash,
        from,
        to,
        value: numberToHex(value),
        gas: numberToHex(gas),
        input: data,
        blockHash: null,
      });
      return { result: hash };
    }
    const known = method === 'eth_getTransactionByHash' ? kept.get(request) : undefined;
    return known === undefined ? undefined : { result: known };
  });
}

test('a payment that one RPC node withholds is sent to the second RPC node as well, and is mined', async () => {
  world = await startWorld({ hasSecondNode: true });
  const vault = await world.vault('treasury');
  const recipient = await world.chain.account(7);
  const before = await world.chain.balance(recipient);
  withhold();
  const id = await world.approved({ vaultId: vault.id, chain: 'anvil', to: recipient, amount: '1000' });
  expect((await finished(world.people().alice, id)).state).toBe('SUCCEEDED');
  expect(await world.chain.balance(recipient)).toBe(before + 1000n);
});

test('an RPC node that was unreachable gets the payment when it is reachable again', async () => {
  world = await startWorld({ hasSecondNode: true });
  const vault = await world.vault('treasury');
  const recipient = await world.chain.account(7);
  const before = await world.chain.balance(recipient);
  withhold();
  world.secondGate.close(503);
  const id = await world.approved({ vaultId: vault.id, chain: 'anvil', to: recipient, amount: '1000' });
  const waiting = await taken(world.people().alice, id);
  expect([waiting.state, await world.chain.balance(recipient)]).toEqual(['BROADCAST', before]);
  world.secondGate.close(null);
  expect((await finished(world.people().alice, id)).state).toBe('SUCCEEDED');
  expect(await world.chain.balance(recipient)).toBe(before + 1000n);
});
