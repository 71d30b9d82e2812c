import { getRawTransaction } from '#chains/bitcoin/client/rpc-calls.ts';
import type { RawTransaction } from '#chains/bitcoin/rules/raw-transaction.ts';
import { readRaw } from '#chains/bitcoin/rules/raw-transaction.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';

/**
 * Returns the transaction of a name, proven by its bytes; null when the RPC node does not show it.
 */
export async function getProvenTransaction(
  node: RpcNode,
  name: string,
): Promise<Result<RawTransaction | null, NodeProblem>> {
  const raw = await node.request(getRawTransaction(name));
  if (!raw.ok) return raw;
  const read = raw.value === null ? null : readRaw(raw.value);
  return accepted(read?.name === name ? read : null);
}
