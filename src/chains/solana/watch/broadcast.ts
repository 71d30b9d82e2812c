import { hexToBytes } from '@noble/hashes/utils.js';
import { broadcastToAll } from '#chains/rpc/broadcast-to-all.ts';
import type { BroadcastVerdict } from '#chains/chain-client.ts';
import type { NodePool } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import { readSigned } from '#chains/solana/rules/assemble.ts';
import { sendTransaction } from '#chains/solana/client/rpc-calls.ts';

/**
 * Sends signed bytes to every RPC node. No mempool can refuse them, and a node only forwards them.
 * The statuses show whether they are executed, and until then the same bytes are sent again. So
 * nothing here is ever refused permanently.
 */
export async function broadcastSigned(pool: NodePool, raw: string, hash: string): Promise<BroadcastVerdict> {
  const signed = readSigned(raw);
  // Stored bytes that do not decode were damaged in storage.
  if (signed === null || signed.hash !== hash)
    return unknown('The stored hash is not the signature of the stored bytes.');
  const wire = Buffer.from(hexToBytes(raw.slice(2))).toString('base64');
  return broadcastToAll(pool, (node) => send(node, wire, hash));
}

async function send(node: RpcNode, wire: string, hash: string): Promise<BroadcastVerdict> {
  const answer = await node.request(sendTransaction(wire));
  if (answer.ok)
    return answer.value === hash ? { outcome: 'accepted' } : unknown('The RPC node returned another signature.');
  const { detail } = answer.refusal;
  return /already been processed|AlreadyProcessed/i.test(detail) ? { outcome: 'accepted' } : unknown(detail);
}

function unknown(answer: string): BroadcastVerdict {
  return { outcome: 'unknown', answer };
}
