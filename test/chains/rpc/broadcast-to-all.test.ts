import { expect, test } from 'vitest';
import type { BroadcastVerdict } from '#chains/chain-client.ts';
import { broadcastToAll } from '#chains/rpc/broadcast-to-all.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import { noAnswer } from '#chains/rpc/json-rpc.ts';

/** Covers the verdict on bytes from the answers of several RPC nodes. */

function verdictOf(...verdicts: readonly BroadcastVerdict[]): Promise<BroadcastVerdict> {
  const nodes: readonly RpcNode[] = verdicts.map(() => ({
    host: 'node.test',
    request: async () => noAnswer('unused'),
  }));
  const pool = { nodes, nodeProblem: async () => null };
  return broadcastToAll(pool, async (node) => verdicts[nodes.indexOf(node)] ?? { outcome: 'unknown', answer: '' });
}

const ACCEPTED = { outcome: 'accepted' } as const;
const refused = { outcome: 'refused', answer: 'insufficient funds' } as const;
const underpriced = { outcome: 'underpriced', answer: 'transaction underpriced' } as const;
const conflicted = { outcome: 'conflicted', answer: 'nonce too low' } as const;

test('the refusal of one RPC node stays beside the acceptance of another one', async () => {
  for (const verdicts of [
    [ACCEPTED, refused],
    [refused, ACCEPTED],
  ] as const) {
    expect(await verdictOf(...verdicts)).toEqual({
      outcome: 'accepted',
      objection: { answer: 'insufficient funds', isPrice: false },
    });
  }
  expect(await verdictOf(ACCEPTED, underpriced, ACCEPTED)).toEqual({
    outcome: 'accepted',
    objection: { answer: 'transaction underpriced', isPrice: true },
  });
});

test('a used nonce or an unclear answer is no refusal of the bytes', async () => {
  expect(await verdictOf(ACCEPTED, conflicted)).toEqual(ACCEPTED);
  expect(await verdictOf({ outcome: 'unknown', answer: 'No response in time.' }, ACCEPTED)).toEqual(ACCEPTED);
  expect(await verdictOf(refused, refused)).toEqual(refused);
});
