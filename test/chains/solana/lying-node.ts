import { afterAll } from 'vitest';
import { startSolanaNode } from '#local/solana/node.ts';
import type { Rule } from '../false-node.ts';
import { startFalseNode } from '../false-node.ts';
import { clientAt } from './cast.ts';

/**
 * Starts a cluster for the tests of one file, and an RPC node in front of it that a test scripts.
 * Both end with the file.
 */
export async function startLyingNode() {
  const node = await startSolanaNode();
  const liar = await startFalseNode(node.url);
  afterAll(async () => {
    await liar.stop();
    await node.stop();
  });
  return {
    node,
    liar,
    lying: () => clientAt(liar.url),
    /** Falsifies the answer to one method. */
    about: (method: string, rule: Rule) => liar.follow((called) => (called === method ? rule : 'forward')),
  };
}
