import { mayCarryMore } from '#chains/bitcoin/client/coin-selection.ts';
import type { UnspentOutput } from '#chains/bitcoin/client/rpc-calls.ts';
import { getTip } from '#chains/bitcoin/client/rpc-calls.ts';
import { readUtxos } from '#chains/bitcoin/client/utxos.ts';
import { scriptOf } from '#chains/bitcoin/rules/address.ts';
import { depthOf } from '#chains/bitcoin/rules/depth.ts';
import type { Network } from '#chains/bitcoin/rules/network.ts';
import { outpointText } from '#chains/bitcoin/rules/utxo.ts';
import type { WalletUtxo } from '#chains/wallet-utxo.ts';
import type { ChainFault } from '#chains/chain-rules.ts';
import { asChainFault } from '#chains/rpc/node-fallback.ts';
import type { NodePool, NodeProblem } from '#chains/rpc/node-pool.ts';
import { NO_NODE, onEveryNode } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import { amountOf, unitsOf } from '#domain/asset/amount.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

interface Listed extends UnspentOutput {
  readonly confirmations: number;
}

interface WalletQuery {
  readonly chain: Chain;
  readonly network: Network;
  readonly address: string;
}

/**
 * Returns the UTXOs of a wallet, the largest first. It merges the lists of all servers that answer:
 * a UTXO counts as proven when two servers list it alike, or the only configured one lists it. Of
 * the confirmations the smaller number counts. A payment verifies its UTXOs itself
 * (`chooseProven`).
 */
export async function listUtxos(
  pool: NodePool,
  { chain, network, address }: WalletQuery,
): Promise<Result<readonly WalletUtxo[], ChainFault>> {
  const script = scriptOf(network, address);
  if (script === null) throw new Error('the address of a wallet does not belong to its network');
  const answers = await onEveryNode(pool, (node) => listedBy(node, address, chain));
  const lists = answers.flatMap((answer) => (answer.ok ? [answer.value] : []));
  if (lists.length === 0) return asChainFault(answers.find((answer) => !answer.ok) ?? refused(NO_NODE));
  const needed = pool.nodes.length > 1 ? 2 : 1;
  const byName = new Map<string, Listed[]>();
  for (const utxo of lists.flat()) byName.set(outpointText(utxo), [...(byName.get(outpointText(utxo)) ?? []), utxo]);
  const utxos = [...byName.values()].flatMap((listed) => merged(listed, { script, needed }));
  return accepted(utxos.toSorted(byAmount));
}

function merged(
  [first, ...others]: readonly Listed[],
  { script, needed }: { readonly script: Uint8Array; readonly needed: number },
): readonly WalletUtxo[] {
  if (first === undefined) return [];
  const { txid, vout, amount } = first;
  const isAlike = others.every((other) => other.amount === amount && other.block?.hash === first.block?.hash);
  return [
    {
      outpoint: outpointText(first),
      txid,
      vout,
      amount: amountOf(amount),
      confirmations: Math.min(first.confirmations, ...others.map((other) => other.confirmations)),
      mayCarryMore: mayCarryMore(script, first),
      isProven: isAlike && others.length + 1 >= needed,
    },
  ];
}

/** Orders by amount, descending, and UTXOs of one amount by name. */
function byAmount(a: WalletUtxo, b: WalletUtxo): number {
  if (a.amount !== b.amount) return unitsOf(a.amount) < unitsOf(b.amount) ? 1 : -1;
  return a.outpoint < b.outpoint ? -1 : 1;
}

/** Returns the UTXOs that a server lists, with their confirmations. */
async function listedBy(node: RpcNode, address: string, chain: Chain): Promise<Result<readonly Listed[], NodeProblem>> {
  const [utxos, tip] = await Promise.all([readUtxos(node, address), node.request(getTip)]);
  if (!utxos.ok) return utxos;
  if (!tip.ok) return tip;
  return accepted(
    utxos.value.map((utxo) => {
      return { ...utxo, confirmations: utxo.block === null ? 0 : depthOf(utxo.block, tip.value, chain).confirmations };
    }),
  );
}
