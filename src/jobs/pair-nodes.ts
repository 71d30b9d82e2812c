import * as z from 'zod';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { CosignerClient, CosignerFault } from '#jobs/cosigner-client.ts';
import { relay } from '#jobs/relay.ts';

const pairStatus = z.object({ banned: z.boolean(), setupId: z.string().nullable() });

/**
 * Has the first two nodes that share no set-up make one; false when every two do. Idempotent: a pair that agrees on one is left alone; one
 * that does not (a run that was cut off when only one side had stored it) makes a new one.
 */
export async function pairNext(nodes: readonly CosignerClient[]): Promise<Result<boolean, CosignerFault>> {
  for (const [i, first] of nodes.entries()) {
    for (const second of nodes.slice(i + 1)) {
      const made = await pair(first, second);
      if (!made.ok || made.value) return made;
    }
  }
  return accepted(false);
}

/** Whether they have made one. */
async function pair(first: CosignerClient, second: CosignerClient): Promise<Result<boolean, CosignerFault>> {
  const peerOf = (node: CosignerClient) => (node.index === first.index ? second : first);
  const ids: (string | null)[] = [];
  for (const node of [first, second]) {
    const answer = await node.call(`pair/${peerOf(node).index}/status`, {});
    if (!answer.ok) return answer;
    const status = pairStatus.safeParse(answer.value);
    if (!status.success) return refused({ node: node.index, code: 'unreachable', detail: null, culprit: node.index });
    ids.push(status.data.setupId);
  }
  if (ids[0] !== null && ids[0] === ids[1]) return accepted(false);
  const made = await relay({
    nodes: [first, second],
    place: (node) => `pair/${peerOf(node).index}`,
    request: () => ({}),
  });
  return made.ok ? accepted(true) : made;
}
