import { keccak256 } from 'viem/utils';
import type { BroadcastVerdict } from '#chains/chain-adapter.ts';
import type { SignedBytes } from '#chains/evm/assemble.ts';
import { readSigned } from '#chains/evm/assemble.ts';
import { classifyBroadcastError } from '#chains/evm/broadcast-error.ts';
import type { Fleet } from '#chains/evm/fleet.ts';
import { NO_NODE, chainTrouble } from '#chains/evm/fleet.ts';
import { isHexBytes } from '#chains/evm/hex.ts';
import type { EvmNode } from '#chains/evm/node.ts';
import { askNonce, askSend, askTransaction } from '#chains/evm/question.ts';

interface Sent extends SignedBytes {
  readonly raw: string;
  readonly hash: string;
}

/**
 * Sends signed bytes to the first node that gives a clear answer. `unknown` is the answer whenever the bytes may be out: then only
 * the same bytes may follow. Once one node has kept silent, the refusal of another proves nothing (the first may have passed the
 * bytes on), so `refused` is said only when no node can have kept them.
 */
export async function broadcastSigned(fleet: Fleet, raw: string, hash: string): Promise<BroadcastVerdict> {
  const read = readSigned(raw);
  // Stored bytes that cannot be read back were damaged in storage. Giving the transaction up for that could free a nonce in use.
  if (!read.ok) return unknown(read.refusal.detail);
  if (!isHexBytes(raw) || keccak256(raw) !== hash)
    return unknown('the stored hash is not the hash of the stored bytes');
  if (read.value.transaction.chainId !== fleet.chainId) return unknown('the stored bytes are for another chain');
  let verdict: BroadcastVerdict = unknown(NO_NODE.detail);
  let mayBeOut = false;
  for (const node of fleet.nodes) {
    const trouble = await chainTrouble(fleet, node);
    if (trouble !== null) {
      verdict = unknown(trouble.detail);
      continue;
    }
    verdict = await send(node, { ...read.value, raw, hash });
    if (verdict.outcome === 'refused' && mayBeOut) verdict = unknown(verdict.answer);
    if (verdict.outcome !== 'unknown') return verdict;
    mayBeOut = true;
  }
  return verdict;
}

async function send(node: EvmNode, sent: Sent): Promise<BroadcastVerdict> {
  const answer = await node.ask(askSend(sent.raw));
  if (answer.ok) return answer.value === sent.hash ? { outcome: 'accepted' } : unknown('the node names another hash');
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

/** A node may refuse bytes that it has: a reply was lost, or they are mined by now. So before a refusal counts, it is asked. */
async function unlessKnown(
  node: EvmNode,
  sent: Sent,
  otherwise: () => BroadcastVerdict | Promise<BroadcastVerdict>,
): Promise<BroadcastVerdict> {
  const known = await node.ask(askTransaction(sent.hash));
  if (!known.ok) return unknown(known.refusal.detail);
  return known.value === null ? otherwise() : { outcome: 'accepted' };
}

/** 'Nonce too low' alone proves nothing: some nodes count their mempool. Only the mined count does. */
async function conflict(node: EvmNode, { from, transaction }: Sent, answer: string): Promise<BroadcastVerdict> {
  const count = await node.ask(askNonce(from, 'latest'));
  return count.ok && count.value > transaction.nonce ? { outcome: 'conflicted', answer } : unknown(answer);
}

function unknown(answer: string): BroadcastVerdict {
  return { outcome: 'unknown', answer };
}
