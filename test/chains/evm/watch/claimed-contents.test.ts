import { afterAll, beforeAll, expect, test } from 'vitest';
import { clientFor } from '#chains/clients/client-for.ts';
import type { Inclusion } from '#domain/transaction/transaction.ts';
import type { FalseNode } from '../../false-node.ts';
import { startFalseNode } from '../../false-node.ts';
import type { LocalChain } from '../local-chain.ts';
import { anvilChain, request, startLocalChain } from '../local-chain.ts';

/** Covers an RPC node that is read a second time, with the inclusion that another one states. */

let chain: LocalChain;
let liar: FalseNode;

beforeAll(async () => {
  chain = await startLocalChain();
  liar = await startFalseNode(chain.url);
});
afterAll(async () => {
  await liar.stop();
  await chain.stop();
});

const bob = () => chain.account(8);

async function inclusionOf(from: string, hash: string, ...urls: string[]): Promise<Inclusion> {
  const newest = { payload: '0x', validUntil: null };
  const watched = { from, nonce: 0n, hashes: [hash], newest, inclusion: null };
  const observed = await clientFor(anvilChain(), urls).observe(watched);
  if (!observed.ok) throw new Error(observed.refusal.detail);
  if (observed.value.type !== 'included') throw new Error('it is not included');
  return observed.value.inclusion;
}

test.each([
  ['a payment by a contract', 'debug_traceTransaction'],
  ['a fee', 'eth_getTransactionReceipt'],
])('%s that one node adds is in no statement of a node that failed one call and is read again', async (_, method) => {
  const from = chain.account(7);
  const hash = await chain.client.sendTransaction({ account: from, to: bob(), value: 5n });
  await chain.mined(hash);
  await chain.client.mine({ blocks: 5 });
  const honest = await inclusionOf(from, hash, chain.url);
  const receipt = await request(chain.url, 'eth_getTransactionReceipt', [hash]);
  const added = { type: 'CALL', from, to: bob(), value: '0x3635c9adc5dea00000', input: '0x' };
  const lies: Readonly<Record<string, object>> = {
    debug_traceTransaction: { type: 'CALL', from, to: bob(), value: '0x5', input: '0x', calls: [added] },
    eth_getTransactionReceipt: { ...Object(receipt), effectiveGasPrice: '0xffffffffff' },
  };
  liar.follow((called) => (called === method ? { result: lies[method] } : 'forward'));
  const other = await startFalseNode(chain.url);
  let failures = 1;
  other.follow((called) =>
    called === 'eth_getTransactionReceipt' && failures-- > 0 ? { error: { code: -32603, message: 'busy' } } : 'forward',
  );
  const seen = await inclusionOf(from, hash, liar.url, other.url);
  await other.stop();
  expect(failures).toBeLessThan(1);
  expect([seen.movements, seen.secondNode, seen.feePaid]).toEqual([honest.movements, 'agrees', honest.feePaid]);
});
