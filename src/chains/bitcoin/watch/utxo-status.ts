import { hexToBytes } from '@noble/hashes/utils.js';
import { transactionOf } from '#chains/bitcoin/client/utxo-parents.ts';
import { depthOf } from '#chains/bitcoin/rules/depth.ts';
import type { Spend } from '#chains/bitcoin/client/rpc-calls.ts';
import { getOutspend, getTip, getTransaction } from '#chains/bitcoin/client/rpc-calls.ts';
import { getProvenTransaction } from '#chains/bitcoin/client/proven-transaction.ts';
import { outpointText } from '#chains/bitcoin/rules/utxo.ts';
import { utxosIn } from '#chains/bitcoin/rules/transaction.ts';
import type { WatchedAttempts } from '#chains/chain-client.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import { unusable } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';

/**
 * The status of a UTXO, or of the UTXOs of attempts.
 *
 * - `final`: a transaction that is not one of the attempts, and that the server shows, has spent it
 *   beyond any reorg, or has spent an input of its parent.
 * - `unexplained`: it is spent, and under the spender's name the server has an attempt or no
 *   transaction.
 * - `unknown`: the server does not show the parent.
 * - `open`: none of these, so the attempts may still be mined.
 */
type UtxoStatus = 'open' | 'final' | 'unexplained' | 'unknown';

/**
 * The order of precedence among the UTXOs of an attempt: the first status that one of them has
 * applies.
 */
const OF_ATTEMPT = ['final', 'unexplained', 'unknown', 'open'] as const;
/**
 * The order of precedence among attempts, since any of them may be mined: the first status that one
 * of them has applies.
 */
const OF_ATTEMPTS = ['unexplained', 'open', 'unknown', 'final'] as const;

interface Scene {
  readonly node: RpcNode;
  readonly chain: Chain;
  readonly watched: WatchedAttempts;
  /** The answers for missing transactions: many UTXOs may come from one, by many paths. */
  readonly missing: Map<string, Answer>;
  /** The hashes of the transactions that have spent a UTXO beyond any reorg. */
  readonly spenders: Set<string>;
}

type Answer = Result<UtxoStatus, NodeProblem>;

interface AttemptsStatus {
  readonly status: UtxoStatus;
  /** The hashes of the transactions that have spent UTXOs beyond any reorg. */
  readonly spenders: readonly string[];
}

/**
 * Returns the status of the UTXOs of all attempts. The attempts are excluded permanently only when
 * each of them has lost a UTXO permanently.
 */
export async function utxoStatusOf(
  node: RpcNode,
  chain: Chain,
  watched: WatchedAttempts,
): Promise<Result<AttemptsStatus, NodeProblem>> {
  const scene: Scene = { node, chain, watched, missing: new Map(), spenders: new Set() };
  const known = new Map<string, UtxoStatus>();
  const statuses: UtxoStatus[] = [];
  for (const payload of new Set(watched.payloads ?? [watched.newest.payload])) {
    const own: UtxoStatus[] = [];
    for (const name of utxosIn(hexToBytes(payload.slice(2))).map(outpointText)) {
      const status: Answer = known.has(name) ? accepted(known.get(name) ?? 'open') : await statusOfUtxo(scene, name);
      if (!status.ok) return status;
      known.set(name, status.value);
      own.push(status.value);
    }
    statuses.push(OF_ATTEMPT.find((status) => own.includes(status)) ?? 'open');
  }
  const status = OF_ATTEMPTS.find((one) => statuses.includes(one)) ?? 'open';
  return accepted({ status, spenders: [...scene.spenders] });
}

async function statusOfUtxo(scene: Scene, utxo: string): Promise<Answer> {
  const { node, watched } = scene;
  const spend = await node.request(getOutspend(outpointOf(utxo)));
  if (!spend.ok) return spend;
  if (spend.value !== null && watched.hashes.includes(spend.value.hash)) {
    const shown = await node.request(getTransaction(spend.value.hash));
    if (!shown.ok) return shown;
    if (shown.value !== null) return unusable('The transaction appeared during the request.');
    return accepted(spend.value.block === null ? 'open' : 'unexplained');
  }
  if (spend.value !== null) return statusOfSpent(scene, utxo, spend.value);
  const parent = await node.request(getTransaction(transactionOf(utxo)));
  if (!parent.ok) return parent;
  return parent.value === null ? statusOfMissing(scene, transactionOf(utxo)) : accepted('open');
}

/**
 * Returns the status of a UTXO whose spender is not one of the attempts. The spender's bytes must
 * prove it and name the UTXO.
 */
async function statusOfSpent({ node, chain, spenders }: Scene, utxo: string, { hash, block }: Spend): Promise<Answer> {
  if (block === null) return accepted('open');
  const spender = await node.request(getTransaction(hash));
  if (!spender.ok) return spender;
  if (spender.value?.block?.hash !== block.hash) return accepted('unexplained');
  const proven = await getProvenTransaction(node, hash);
  if (!proven.ok) return proven;
  if (proven.value === null || !proven.value.spends.includes(utxo)) return accepted('unexplained');
  const tip = await node.request(getTip);
  if (!tip.ok) return tip;
  if (!depthOf(block, tip.value, chain).isFinal) return accepted('open');
  spenders.add(hash);
  return accepted('final');
}

/**
 * Returns the status of a transaction that the server does not show. After another transaction has
 * spent its inputs permanently, it can never be mined (again), nor can any transaction that spends
 * its outputs. Its absence alone proves nothing.
 */
async function statusOfMissing(scene: Scene, name: string): Promise<Answer> {
  const status = scene.missing.get(name) ?? (await searchMissing(scene, name));
  scene.missing.set(name, status);
  return status;
}

async function searchMissing(scene: Scene, name: string): Promise<Answer> {
  const { node, watched } = scene;
  const { spends = [] } = watched.coinParents?.find(({ txid }) => txid === name) ?? {};
  let status: UtxoStatus = 'unknown';
  for (const utxo of spends) {
    const spend = await node.request(getOutspend(outpointOf(utxo)));
    if (!spend.ok) return spend;
    const found: Answer =
      spend.value === null
        ? await statusOfAncestor(scene, transactionOf(utxo))
        : await statusOfOther(scene, utxo, spend.value, name);
    if (!found.ok || found.value === 'final') return found;
    if (found.value === 'unexplained') status = found.value;
  }
  return accepted(status);
}

/**
 * Returns the status when another transaction spends an input. When the server names the missing
 * transaction itself as the spender, the server has lost it, and the chain has not.
 */
async function statusOfOther(scene: Scene, utxo: string, spend: Spend, missing: string): Promise<Answer> {
  if (spend.hash !== missing) return statusOfSpent(scene, utxo, spend);
  return accepted(spend.block === null ? 'open' : 'unexplained');
}

/** Returns the status of an ancestor whose output is unspent: it may be missing as well. */
async function statusOfAncestor(scene: Scene, name: string): Promise<Answer> {
  if (scene.watched.coinParents?.some(({ txid }) => txid === name) !== true) return accepted('open');
  const shown = await scene.node.request(getTransaction(name));
  if (!shown.ok) return shown;
  return shown.value === null ? statusOfMissing(scene, name) : accepted('open');
}

function outpointOf(utxo: string): { readonly txid: string; readonly vout: number } {
  const txid = transactionOf(utxo);
  return { txid, vout: Number.parseInt(utxo.slice(txid.length + 1), 10) };
}
