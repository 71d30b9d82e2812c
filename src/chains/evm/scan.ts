import type { Scan } from '#chains/chain-adapter.ts';
import type { Trouble } from '#chains/evm/fleet.ts';
import type { EvmNode } from '#chains/evm/node.ts';
import type { TraceCall } from '#chains/evm/question.ts';
import { askBlock, askBlockTrace, askLogHashes } from '#chains/evm/question.ts';
import { TRANSFER, TRANSFER_BATCH, TRANSFER_SINGLE } from '#chains/evm/transfer-topics.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/** Log lines are indexed: this many blocks are one quick question. Many providers give no more at once. */
const TOKEN_BLOCKS = 2_000n;
const TOKEN_QUESTIONS = 5n;
/** Payments are not: every block has to be run again. */
const PAYMENT_BLOCKS = 100n;

/**
 * Looks for everything that concerns an address in the newest blocks: token transfers by their logs, payments by tracing. What is found
 * is only a hash; what it moved is read as for any hint.
 */
export async function scanChain(node: EvmNode, address: string): Promise<Result<Scan, Trouble>> {
  const head = await node.ask(askBlock('latest'));
  if (!head.ok) return head;
  if (head.value === null) return refused({ kind: 'unfit', detail: 'the node has no head' });
  const newest = head.value.number;
  const hashes = new Set<string>();
  const tokens = await scanTokens(node, { address, newest, hashes });
  if (!tokens.ok) return tokens;
  const oldest = atLeastZero(newest - PAYMENT_BLOCKS + 1n);
  let untraced = 0;
  for (let number = oldest; number <= newest; number += 1n) {
    const traced = await node.ask(askBlockTrace(number));
    if (!traced.ok) {
      if (traced.refusal.kind === 'no-answer') return traced;
      untraced += 1;
      continue;
    }
    for (const { hash, root } of traced.value) if (pays(root, address.toLowerCase())) hashes.add(hash);
  }
  const payments = { fromBlock: oldest.toString(), toBlock: newest.toString() };
  return accepted({ hashes: [...hashes], tokens: tokens.value, payments, untraced });
}

interface TokenScan {
  readonly address: string;
  readonly newest: bigint;
  readonly hashes: Set<string>;
}

async function scanTokens(
  node: EvmNode,
  { address, newest, hashes }: TokenScan,
): Promise<Result<Scan['tokens'], Trouble>> {
  const word = `0x${address.slice(2).toLowerCase().padStart(64, '0')}`;
  const shapes = [
    [TRANSFER, word],
    [TRANSFER, null, word],
    [[TRANSFER_SINGLE, TRANSFER_BATCH], null, word],
    [[TRANSFER_SINGLE, TRANSFER_BATCH], null, null, word],
  ];
  let to = newest;
  for (let i = 0n; i < TOKEN_QUESTIONS && to >= 0n; i += 1n) {
    const from = atLeastZero(to - TOKEN_BLOCKS + 1n);
    for (const topics of shapes) {
      const found = await node.ask(askLogHashes({ from, to }, topics));
      if (!found.ok) return found;
      for (const hash of found.value) hashes.add(hash);
    }
    to = from - 1n;
  }
  return accepted({ fromBlock: (to + 1n).toString(), toBlock: newest.toString() });
}

/** Whether anything that did not fail was paid by or to the address, or it is who called. */
function pays(call: TraceCall, address: string): boolean {
  if (call.failed) return false;
  const concerns = call.from === address || call.to === address;
  return (concerns && (call.value > 0n || call.from === address)) || call.calls.some((inner) => pays(inner, address));
}

function atLeastZero(value: bigint): bigint {
  return value < 0n ? 0n : value;
}
