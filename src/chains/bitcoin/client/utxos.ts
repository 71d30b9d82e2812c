import type { ChainTransfer, UnspentOutput } from '#chains/bitcoin/client/rpc-calls.ts';
import { getUtxos, getConfirmedTransactions, getMempoolTransactions, PAGE } from '#chains/bitcoin/client/rpc-calls.ts';
import { outpointText } from '#chains/bitcoin/rules/utxo.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';

/** Of electrs, which lists no more than 500 coins of an address unless its operator raised the limit. */
const TOO_MANY = /too many unspent/i;

/** Ours: a thousand transactions. Whoever consolidates comes to the older ones, too. */
const MAX_PAGES = 40;

/**
 * What no transaction spends, not even one that waits. Of an address with more coins than a server lists, those that its newest
 * transactions have made: anybody can send an address more dust than that, and the wallet has to go on paying.
 */
export async function readUtxos(
  node: RpcNode,
  address: string,
): Promise<Result<readonly UnspentOutput[], NodeProblem>> {
  const listed = await node.request(getUtxos(address));
  if (listed.ok || listed.refusal.kind !== 'error-answer' || !TOO_MANY.test(listed.refusal.detail)) return listed;
  return utxosByHistory(node, address);
}

async function utxosByHistory(node: RpcNode, address: string): Promise<Result<readonly UnspentOutput[], NodeProblem>> {
  const waiting = await node.request(getMempoolTransactions(address));
  if (!waiting.ok) return waiting;
  const transfers: ChainTransfer[] = [];
  let isWhole = false;
  for (let page = 0; page < MAX_PAGES && !isWhole; page++) {
    const history = await node.request(getConfirmedTransactions(address, transfers.at(-1)?.hash ?? null));
    if (!history.ok) return history;
    transfers.push(...history.value);
    isWhole = history.value.length < PAGE;
  }
  // Of the oldest block the rest may be on the next page, with what spends a coin of this one.
  const oldest = isWhole ? null : transfers.at(-1)?.block?.hash;
  const spent = new Set([...waiting.value, ...transfers].flatMap(({ spends }) => spends.map(outpointText)));
  const utxos = transfers.flatMap((transfer) => (transfer.block?.hash === oldest ? [] : madeFor(address, transfer)));
  return accepted(utxos.filter((utxo) => !spent.has(outpointText(utxo))));
}

function madeFor(address: string, { hash, outputs, block }: ChainTransfer): readonly UnspentOutput[] {
  return outputs.flatMap((output, vout) =>
    output.address === address ? [{ txid: hash, vout, amount: output.amount, block }] : [],
  );
}
