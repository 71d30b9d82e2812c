import type { BlockRef } from '#chains/bitcoin/rules/depth.ts';
import { depthOf } from '#chains/bitcoin/rules/depth.ts';
import { getTransaction } from '#chains/bitcoin/client/rpc-calls.ts';
import type { RawTransaction } from '#chains/bitcoin/client/raw-transaction.ts';
import { getProvenTransaction } from '#chains/bitcoin/client/raw-transaction.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { UtxoParent } from '#domain/transaction/transaction.ts';

/** Transactions that are asked about besides those that made the coins. Ours: a wallet's own chain of change is no longer. */
const MAX_ANCESTORS = 20;
/** Coins of ancestors that are kept with an attempt: some 20 kB. Ours. */
const MAX_SPENDS = 300;

interface Tip {
  readonly chain: Pick<Chain, 'confirmations'>;
  readonly tip: bigint;
}

/**
 * What the transactions that made some coins spend themselves, and so on as far as a reorganisation can reach. Once one of them is gone no
 * server shows it any more, and only this tells which transaction took its place for good (see `coin-fate.ts`). What cannot be asked about
 * is left out: then a person ends what nobody can explain.
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

/** Of a coin `<transaction>:<number of the output>`. */
export function transactionOf(utxo: string): string {
  return utxo.slice(0, utxo.indexOf(':'));
}
