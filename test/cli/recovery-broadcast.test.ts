import { expect, test, vi } from 'vitest';
import type { BroadcastVerdict, ChainClient } from '#chains/chain-client.ts';
import type { Observation } from '#chains/observation.ts';
import { clientFor } from '#chains/clients/client-for.ts';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Inclusion } from '#domain/transaction/transaction.ts';
import { broadcastAll } from '#cli/recovery/broadcast.ts';
import type { SignedPayment } from '#cli/recovery/job.ts';
import { present } from '../chains/evm/cast.ts';

/** Covers how `recover broadcast` ends for each answer of the chains. */

const TO = '0x00000000000000000000000000000000bAC0BAC0';

function signed(hash: string, change: Partial<SignedPayment> = {}): SignedPayment {
  const payment = { chain: 'eip155:31337', from: TO, to: TO, tokenAddress: null, amount: amountOf(1n), nonce: '0' };
  return { ...payment, payload: '0x02', validUntil: null, raw: '0x02', hash, ...change };
}

const absent = { type: 'absent', inMempool: false, nonceTaken: false } as const;

function included(hash: string, change: Partial<Inclusion> = {}): Observation {
  const block = { blockNumber: '7', blockHash: '0x', confirmations: 1, finalized: true };
  const effect = {
    movements: [],
    movementCount: 0,
    changes: [],
    failure: null,
    feePaid: amountOf(1n),
    succeeded: true,
  };
  return { type: 'included', inclusion: { hash, ...block, ...effect, ...change } };
}

/** What the chain answers about one hash. The last answer repeats. */
interface Script {
  readonly verdict?: BroadcastVerdict;
  readonly seen: readonly (Observation | string)[];
}

/** Runs the command with scripted answers. Returns its result, its lines, and what was sent. */
async function run(transactions: readonly SignedPayment[], scripts: Readonly<Record<string, Script>>) {
  const sent: string[] = [];
  const turns = new Map<string, number>();
  const clientOf = (chain: Chain): ChainClient => ({
    ...clientFor(chain, []),
    chain: { ...chain, pollIntervalMs: 0 },
    broadcast: async (_raw, hash) => {
      sent.push(hash);
      return scripts[hash]?.verdict ?? { outcome: 'accepted' };
    },
    observe: async ({ hashes: [hash = ''] }) => {
      const { seen } = present(scripts[hash]);
      const turn = turns.get(hash) ?? 0;
      turns.set(hash, turn + 1);
      const answer = present(seen[Math.min(turn, seen.length - 1)]);
      return typeof answer === 'string' ? refused({ detail: answer }) : accepted(answer);
    },
  });
  const lines: string[] = [];
  const spy = vi.spyOn(console, 'log').mockImplementation((line: unknown) => void lines.push(String(line)));
  try {
    return { isDone: await broadcastAll(transactions, clientOf), lines, sent };
  } finally {
    spy.mockRestore();
  }
}

test('a transaction is sent again until a block includes it, and a node that does not answer ends nothing', async () => {
  const seen = [absent, 'The RPC node did not answer.', { ...absent, inMempool: true }, included('a')];
  const { isDone, lines, sent } = await run([signed('a')], { a: { seen } });
  // At first, and again when no node had it.
  expect([isDone, sent]).toEqual([true, ['a', 'a']]);
  expect(lines).toEqual([
    'anvil a accepted',
    'anvil a not shown by any node yet',
    'anvil a not observed: The RPC node did not answer.',
    'anvil a in the mempool',
    'anvil a included in block 7',
  ]);
});

test.each<[string, Observation, RegExp]>([
  ['that failed', included('a', { succeeded: false, failure: 'reverted' }), /failed in block 7: reverted/],
  ['whose token did not move', included('a', { tokenTransfer: 'unmoved' }), /but the token did not move/],
  [
    'whose token may not have moved',
    included('a', { tokenTransfer: 'unproven' }),
    /nothing proves that the token moved/,
  ],
  ['that expired', { type: 'lapsed' }, /expired before a block included it/],
  [
    'that another one replaced',
    { ...absent, nonceTaken: true, takenBy: ['b'] },
    /another transaction used its nonce or a UTXO: b/,
  ],
])('a transaction %s is not done, and the others are still observed', async (_name, end, words) => {
  const other = signed('c', { chain: present(findChain(chainsFrom({}), 'bitcoin-regtest')).caip2 });
  const { isDone, lines } = await run([signed('a'), other], { a: { seen: [end] }, c: { seen: [included('c')] } });
  expect([isDone, lines.at(-1)]).toEqual([false, 'bitcoin-regtest c included in block 7']);
  expect(lines.join('\n')).toMatch(words);
});

test.each(['disagrees', 'away'] as const)(
  'what one of several nodes alone states ends nothing, while the second one %s',
  async (secondNode) => {
    const alone = included('a', { secondNode });
    const failed = included('b', { secondNode, succeeded: false, failure: 'reverted' });
    const proven = included('b', { secondNode: 'agrees' });
    const scripts = { a: { seen: [alone, { type: 'lapsed' } as const] }, b: { seen: [failed, proven] } };
    const other = signed('b', { from: '0x01' });
    const { isDone, lines, sent } = await run([signed('a'), other], scripts);
    expect([isDone, sent, lines.slice(2)]).toEqual([
      false,
      // A node that has the block without the transaction gets it again.
      secondNode === 'disagrees' ? ['a', 'b', 'a', 'b'] : ['a', 'b'],
      [
        'anvil a in block 7 by one RPC node alone',
        'anvil a expired before a block included it',
        'anvil b in block 7 by one RPC node alone',
        'anvil b included in block 7',
      ],
    ]);
  },
);

test('a refused account nonce ends the later ones of its wallet, and of no other wallet', async () => {
  const verdict = { outcome: 'refused', answer: 'insufficient funds' } as const;
  const transactions = [signed('a'), signed('b', { nonce: '1' }), signed('c', { from: '0x01' })];
  const scripts = { a: { verdict, seen: [absent] }, b: { seen: [absent] }, c: { seen: [included('c')] } };
  const { isDone, lines, sent } = await run(transactions, scripts);
  expect([isDone, sent]).toEqual([false, ['a', 'b', 'c', 'a']]);
  expect(lines.slice(3)).toEqual([
    'anvil a not shown by any node yet',
    'anvil a refused: insufficient funds',
    'anvil b waits for an account nonce that no transaction uses',
    'anvil c included in block 7',
  ]);
});

test('nothing is sent when one chain is unknown', async () => {
  const sent: string[] = [];
  const clientOf = (chain: Chain): ChainClient => {
    sent.push(chain.name);
    return clientFor(chain, []);
  };
  const unknown = signed('b', { chain: 'eip155:999999' });
  await expect(broadcastAll([signed('a'), unknown], clientOf)).rejects.toThrow('eip155:999999 is no known chain.');
  expect(sent).toEqual(['anvil']);
});
