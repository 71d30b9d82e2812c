import { afterAll } from 'vitest';
import { startSolanaNode } from '#local/solana/node.ts';
import type { Rule } from '../false-node.ts';
import { startFalseNode } from '../false-node.ts';
import { adapterAt } from './cast.ts';

/**
 * A cluster for the tests of one file, and a node before it that a test scripts. Both end with the
 * file.
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
    lying: () => adapterAt(liar.url),
    /** Falsifies one method alone. */
    about: (method: string, rule: Rule) => liar.follow((called) => (called === method ? rule : 'forward')),
  };
}
