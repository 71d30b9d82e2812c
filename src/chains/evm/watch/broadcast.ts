import { keccak256 } from 'viem/utils';
import { broadcastToAll } from '#chains/rpc/broadcast-to-all.ts';
import type { BroadcastVerdict } from '#chains/chain-client.ts';
import type { SignedBytes } from '#chains/evm/rules/assemble.ts';
import { readSigned } from '#chains/evm/rules/assemble.ts';
import { classifyBroadcastError } from '#chains/evm/watch/broadcast-error.ts';
import type { EvmNodePool } from '#chains/evm/client/node-pool.ts';
import { isHexBytes } from '#chains/evm/rules/hex.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import { getNonce, sendRawTransaction, getTransaction } from '#chains/evm/client/rpc-calls.ts';

interface Sent extends SignedBytes {
  readonly raw: string;
  readonly hash: string;
}

/**
 * Sends signed bytes to every RPC node (see `broadcastToAll`). The verdict is `unknown` whenever
 * the network may have the bytes: then only the same bytes may follow.
 */
export async function broadcastSigned(pool: EvmNodePool, raw: string, hash: string): Promise<BroadcastVerdict> {
  const read = readSigned(raw);
  // Stored bytes that do not decode were damaged in storage. Failing the transaction for that could
  // release a nonce in use.
  if (!read.ok) return unknown(read.refusal.detail);
  if (!isHexBytes(raw) || keccak256(raw) !== hash)
    return unknown('The stored hash is not the hash of the stored bytes.');
  if (read.value.transaction.chainId !== pool.chainId) return unknown('The stored bytes are for another chain.');
  return broadcastToAll(pool, (node) => send(node, { ...read.value, raw, hash }));
}

async function send(node: RpcNode, sent: Sent): Promise<BroadcastVerdict> {
  const answer = await node.request(sendRawTransaction(sent.raw));
  if (answer.ok)
    return answer.value === sent.hash ? { outcome: 'accepted' } : unknown('The RPC node returned another hash.');
  const { refusal } = answer;
  if (refusal.kind === 'no-answer') return unknown(refusal.detail);
  switch (classifyBroadcastError(refusal.detail, refusal.code)) {
    case 'known':
      return { outcome: 'accepted' };
    case 'nonce-too-low':
      return unlessKnown(node, sent, () => conflict(node, sent, refusal.detail));
    case 'underpriced':
      return unlessKnown(node, sent, () => ({ outcome: 'underpriced', answer: refusal.detail }));
    case 'funds':
    case 'fatal':
      return unlessKnown(node, sent, () => ({ outcome: 'refused', answer: refusal.detail }));
    case 'nonce-gap':
    case 'unknown':
      return unknown(refusal.detail);
  }
}

/**
 * An RPC node may refuse bytes that it has, when a reply was lost or a block holds them by now. So
 * a refusal counts only after the node confirms that it lacks them.
 */
async function unlessKnown(
  node: RpcNode,
  sent: Sent,
  otherwise: () => BroadcastVerdict | Promise<BroadcastVerdict>,
): Promise<BroadcastVerdict> {
  const known = await node.request(getTransaction(sent.hash));
  if (!known.ok) return unknown(known.refusal.detail);
  return known.value === null ? otherwise() : { outcome: 'accepted' };
}

/**
 * 'Nonce too low' alone proves nothing, because some RPC nodes count their mempool. Only the mined
 * count does.
 */
async function conflict(node: RpcNode, { from, transaction }: Sent, answer: string): Promise<BroadcastVerdict> {
  const count = await node.request(getNonce(from, 'latest'));
  return count.ok && count.value > transaction.nonce ? { outcome: 'conflicted', answer } : unknown(answer);
}

function unknown(answer: string): BroadcastVerdict {
  return { outcome: 'unknown', answer };
}
