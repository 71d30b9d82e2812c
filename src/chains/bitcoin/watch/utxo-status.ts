import { hexToBytes } from '@noble/hashes/utils.js';
import { transactionOf } from '#chains/bitcoin/client/utxo-parents.ts';
import { depthOf } from '#chains/bitcoin/rules/depth.ts';
import type { Spend } from '#chains/bitcoin/client/rpc-calls.ts';
import { getOutspend, getTip, getTransaction } from '#chains/bitcoin/client/rpc-calls.ts';
import { getProvenTransaction } from '#chains/bitcoin/client/raw-transaction.ts';
import { outpointText } from '#chains/bitcoin/rules/utxo.ts';
import { utxosIn } from '#chains/bitcoin/rules/transaction.ts';
import type { WatchedAttempts } from '#chains/chain-adapter.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import { unusable } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';

/**
 * What became of a coin, or of the coins of attempts. `final`: a transaction that is none of the attempts, and that the server shows, has
 * spent it beyond any reorganisation, or has spent what the transaction that made it spends. `unexplained`: it is spent, and the server has
 * an attempt, or nothing at all, under the name of what spent it. `unknown`: the server does not show the transaction that made it. `open`:
 * none of these, so that the attempts may still be mined.
 */
type UtxoStatus = 'open' | 'final' | 'unexplained' | 'unknown';

/** What stands over all coins of an attempt, the first that one of them has. */
const OF_ATTEMPT = ['final', 'unexplained', 'unknown', 'open'] as const;
/** What stands over attempts, the first that one of them has: any of them may be mined. */
const OF_ATTEMPTS = ['unexplained', 'open', 'unknown', 'final'] as const;

interface Scene {
  readonly node: RpcNode;
  readonly chain: Chain;
  readonly watched: WatchedAttempts;
  /** Of transactions that are missing: many coins may come from one, by many ways. */
  readonly missing: Map<string, Answer>;
}

type Answer = Result<UtxoStatus, NodeProblem>;

/** What became of the coins of all attempts. Only where each of them has lost a coin for good, none is ever included. */
export async function utxoStatusOf(node: RpcNode, chain: Chain, watched: WatchedAttempts): Promise<Answer> {
  const scene: Scene = { node, chain, watched, missing: new Map() };
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
  return accepted(OF_ATTEMPTS.find((status) => statuses.includes(status)) ?? 'open');
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

/** Of a coin that a transaction spends which is none of the attempts. Its bytes have to say so, and name it. */
async function statusOfSpent({ node, chain }: Scene, utxo: string, { hash, block }: Spend): Promise<Answer> {
  if (block === null) return accepted('open');
  const spender = await node.request(getTransaction(hash));
  if (!spender.ok) return spender;
  if (spender.value?.block?.hash !== block.hash) return accepted('unexplained');
  const proven = await getProvenTransaction(node, hash);
  if (!proven.ok) return proven;
  if (proven.value === null || !proven.value.spends.includes(utxo)) return accepted('unexplained');
  const tip = await node.request(getTip);
  if (!tip.ok) return tip;
  return accepted(depthOf(block, tip.value, chain).isFinal ? 'final' : 'open');
}

/**
 * Of a transaction that the server does not show: once another one has spent for good what it spends, it is never mined (again), and nor is
 * what spends its coins. That it is not shown says nothing.
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

/** Where the missing transaction itself is said to be what spends, the server has lost it, and not the chain. */
async function statusOfOther(scene: Scene, utxo: string, spend: Spend, missing: string): Promise<Answer> {
  if (spend.hash !== missing) return statusOfSpent(scene, utxo, spend);
  return accepted(spend.block === null ? 'open' : 'unexplained');
}

/** Of what a missing transaction spends, where nothing else has spent it: it may be gone as well. */
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
