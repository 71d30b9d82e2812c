import { broadcastToAll } from '#chains/rpc/broadcast-to-all.ts';
import type { BroadcastVerdict } from '#chains/chain-client.ts';
import { sendRawTransaction } from '#chains/bitcoin/client/rpc-calls.ts';
import type { NodePool } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';

/** Messages of Bitcoin Core's mempool, which every Esplora server passes on. */
const KNOWN = /already in (?:block chain|mempool|utxo set)|txn-already|txn-same-nonwitness-data|already known/i;
const SPENT = /missingorspent|missing[- ]inputs|txn-mempool-conflict|bad-txns-spends-conflicting/i;
const TOO_CHEAP =
  /min relay fee not met|mempool min fee not met|insufficient fee|insufficient priority|fee rate too low/i;
/** A miner's reward that is too young: the same bytes are accepted some blocks later. */
const TOO_EARLY = /premature-spend-of-coinbase/i;
const WRONG =
  /script-verify-flag|bad-txns-(?!inputs)|bad-witness|scriptsig|scriptpubkey|tx-size|dust|max-fee-exceeded|fee exceeds maximum configured|absurdly-high|non-standard|decode failed/i;

/**
 * Sends signed bytes to every server (see `broadcastToAll`). An earlier attempt may have spent the
 * UTXO, or these very bytes in a block: observing the chain decides.
 */
export function broadcastSigned(pool: NodePool, raw: string, hash: string): Promise<BroadcastVerdict> {
  return broadcastToAll(pool, (node) => send(node, raw, hash));
}

async function send(node: RpcNode, raw: string, hash: string): Promise<BroadcastVerdict> {
  const answer = await node.request(sendRawTransaction(raw.slice(2)));
  if (answer.ok)
    return answer.value === hash ? { outcome: 'accepted' } : unknown('The RPC node returned another hash.');
  const { kind, detail } = answer.refusal;
  return kind === 'no-answer' ? unknown(detail) : judgementOf(detail);
}

function judgementOf(answer: string): BroadcastVerdict {
  if (KNOWN.test(answer)) return { outcome: 'accepted' };
  if (TOO_CHEAP.test(answer)) return { outcome: 'underpriced', answer };
  if (SPENT.test(answer)) return { outcome: 'conflicted', answer };
  if (TOO_EARLY.test(answer)) return unknown(answer);
  return WRONG.test(answer) ? { outcome: 'refused', answer } : unknown(answer);
}

function unknown(answer: string): BroadcastVerdict {
  return { outcome: 'unknown', answer };
}
