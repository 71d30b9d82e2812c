import type { UnspentOutput, WalletTransfer } from '#chains/bitcoin/client/rpc-calls.ts';
import { getUtxos, getConfirmedTransactions, getMempoolTransactions, PAGE } from '#chains/bitcoin/client/rpc-calls.ts';
import { outpointText } from '#chains/bitcoin/rules/utxo.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import type { NodeFault, RpcNode } from '#chains/rpc/json-rpc.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';

/**
 * The message of electrs, which lists at most 500 UTXOs of an address unless its operator raised
 * the limit.
 */
const TOO_MANY = /too many unspent/i;

/** Ours: a thousand transactions. A consolidation reaches the older ones, too. */
const MAX_PAGES = 40;

/**
 * Returns the outputs that no transaction spends, not even an unconfirmed one. For an address with
 * more UTXOs than a server lists, it returns those that its newest transactions made: anyone can
 * send an address more dust than that, and the wallet must stay able to pay.
 */
export async function readUtxos(
  node: RpcNode,
  address: string,
): Promise<Result<readonly UnspentOutput[], NodeProblem>> {
  const listed = await node.request(getUtxos(address));
  return listed.ok || !isTooLong(listed.refusal) ? listed : utxosByHistory(node, address);
}

function isTooLong(refusal: NodeFault): boolean {
  return refusal.kind === 'no-answer' ? refusal.because === 'too-long' : TOO_MANY.test(refusal.detail);
}

async function utxosByHistory(node: RpcNode, address: string): Promise<Result<readonly UnspentOutput[], NodeProblem>> {
  const waiting = await node.request(getMempoolTransactions(address));
  if (!waiting.ok) return waiting;
  const transfers: WalletTransfer[] = [];
  let isWhole = false;
  for (let page = 0; page < MAX_PAGES && !isWhole; page++) {
    const history = await node.request(getConfirmedTransactions(address, transfers.at(-1)?.hash ?? null));
    if (!history.ok) return history;
    transfers.push(...history.value);
    isWhole = history.value.length < PAGE;
  }
  // The rest of the oldest block may be on the next page, with transactions that spend its UTXOs.
  const oldest = isWhole ? null : transfers.at(-1)?.block?.hash;
  const spent = new Set([...waiting.value, ...transfers].flatMap(({ spends }) => spends.map(outpointText)));
  const utxos = transfers.flatMap((transfer) => (transfer.block?.hash === oldest ? [] : madeBy(transfer)));
  return accepted(utxos.filter((utxo) => !spent.has(outpointText(utxo))));
}

function madeBy({ hash, makes, block }: WalletTransfer): readonly UnspentOutput[] {
  return makes.map((made) => ({ txid: hash, ...made, block }));
}
