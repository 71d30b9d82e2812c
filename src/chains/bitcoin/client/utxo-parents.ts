import type { BlockRef } from '#chains/bitcoin/rules/depth.ts';
import { depthOf } from '#chains/bitcoin/rules/depth.ts';
import { getTransaction } from '#chains/bitcoin/client/rpc-calls.ts';
import type { RawTransaction } from '#chains/bitcoin/rules/raw-transaction.ts';
import { getProvenTransaction } from '#chains/bitcoin/client/proven-transaction.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { UtxoParent } from '#domain/transaction/transaction.ts';

/**
 * The maximum number of requested transactions besides those that made the UTXOs. Ours: a wallet's
 * own chain of change is no longer.
 */
const MAX_ANCESTORS = 20;
/** The maximum number of ancestors' UTXOs that are stored with an attempt: about 20 kB. Ours. */
const MAX_SPENDS = 300;

interface Tip {
  readonly chain: Pick<Chain, 'confirmations'>;
  readonly tip: bigint;
}

/**
 * Returns what the transactions that made some UTXOs spend themselves, and so on as far back as a
 * reorg can reach. A removed ancestor is no longer shown by any server, and only this data
 * identifies the transaction that replaced it permanently (see `utxo-status.ts`). Ancestors that
 * cannot be read are left out; what stays unexplained then needs a manual decision.
 */
export async function ancestorsOf(
  node: RpcNode,
  { chain, tip }: Tip,
  made: readonly { readonly parent: RawTransaction; readonly block: BlockRef }[],
): Promise<readonly UtxoParent[]> {
  const isFinal = (block: BlockRef) => block !== null && depthOf(block, tip, chain).isFinal;
  const found = new Map(made.map(({ parent }) => [parent.name, parent.spends]));
  const open = made.flatMap(({ parent, block }) => (isFinal(block) ? [] : parent.spends)).map(transactionOf);
  let requestCount = 0;
  for (let name = open.shift(); name !== undefined && requestCount < MAX_ANCESTORS; name = open.shift()) {
    if (found.has(name)) continue;
    requestCount += 1;
    const answer = await node.request(getTransaction(name));
    if (!answer.ok || answer.value === null || isFinal(answer.value.block)) continue;
    const proven = await getProvenTransaction(node, name);
    if (!proven.ok || proven.value === null) continue;
    found.set(name, proven.value.spends);
    open.push(...proven.value.spends.map(transactionOf));
  }
  let left = MAX_SPENDS;
  return [...found].flatMap(([txid, spends]) => {
    if (spends.length === 0 || spends.length > left) return [];
    left -= spends.length;
    return [{ txid, spends }];
  });
}

/** Returns the transaction of a UTXO `<transaction>:<number of the output>`. */
export function transactionOf(utxo: string): string {
  return utxo.slice(0, utxo.indexOf(':'));
}
