import { hexToBytes } from '@noble/hashes/utils.js';
import type { BroadcastVerdict } from '#chains/chain-adapter.ts';
import type { Fleet } from '#chains/fleet.ts';
import { NO_NODE } from '#chains/fleet.ts';
import { readSigned } from '#chains/solana/assemble.ts';
import { askSend } from '#chains/solana/question.ts';

/**
 * Hands signed bytes to one node after the other, until one takes them. There is no mempool that could refuse them, and a node only passes
 * them on: whether they are carried out, the statuses tell, and until then the same bytes go out again. So nothing here is ever refused
 * for good.
 */
export async function broadcastSigned(fleet: Fleet, raw: string, hash: string): Promise<BroadcastVerdict> {
  const signed = readSigned(raw);
  // Stored bytes that cannot be read back were damaged in storage.
  if (signed === null || signed.hash !== hash)
    return unknown('the stored hash is not the signature of the stored bytes');
  const wire = Buffer.from(hexToBytes(raw.slice(2))).toString('base64');
  let reason = NO_NODE.detail;
  for (const node of fleet.nodes) {
    const trouble = await fleet.trouble(node);
    if (trouble !== null) {
      reason = trouble.detail;
      continue;
    }
    const answer = await node.ask(askSend(wire));
    if (answer.ok && answer.value === hash) return { outcome: 'accepted' };
    if (!answer.ok && /already been processed|AlreadyProcessed/i.test(answer.refusal.detail)) {
      return { outcome: 'accepted' };
    }
    reason = answer.ok ? 'the node names another signature' : answer.refusal.detail;
  }
  return unknown(reason);
}

function unknown(answer: string): BroadcastVerdict {
  return { outcome: 'unknown', answer };
}
