import { equalBytes } from '@noble/curves/utils.js';
import { ancestorsOf } from '#chains/bitcoin/client/utxo-parents.ts';
import { depthOf } from '#chains/bitcoin/rules/depth.ts';
import type { UnspentOutput } from '#chains/bitcoin/client/rpc-calls.ts';
import { getOutspend, getTransaction } from '#chains/bitcoin/client/rpc-calls.ts';
import type { RawTransaction } from '#chains/bitcoin/rules/raw-transaction.ts';
import { getProvenTransaction } from '#chains/bitcoin/client/proven-transaction.ts';
import type { Utxo, SpendPlan } from '#chains/bitcoin/rules/utxo.ts';
import { outpointText } from '#chains/bitcoin/rules/utxo.ts';
import type { NodePool, NodeProblem } from '#chains/rpc/node-pool.ts';
import { otherNodes } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';
import type { UtxoParent } from '#domain/transaction/transaction.ts';

/**
 * The number of blocks until a miner's reward can be spent, including its own block (Bitcoin Core:
 * COINBASE_MATURITY).
 */
const MATURITY = 100;

/**
 * The maximum number of UTXOs that one quote verifies. A server that lists more without proof is
 * called again by the next quote. Ours.
 */
const MAX_JUDGED = 100;

/** The servers that prove the UTXOs of a payment. */
export interface ProofServers {
  /** The server that listed the UTXOs. */
  readonly node: RpcNode;
  /** Returns the other servers of the network. It is called only when a UTXO needs proof. */
  readonly others: () => Promise<readonly RpcNode[]>;
}

/** What the selection of UTXOs is verified against. */
interface Claim {
  /** The UTXOs that the server lists and that are not part of an attempt already. */
  readonly utxos: readonly UnspentOutput[];
  /** Script of the wallet. */
  readonly own: Uint8Array;
  readonly chain: Pick<Chain, 'confirmations'>;
  /** The newest height. */
  readonly tip: bigint;
  /** True when neither a previous attempt nor a parent determines which UTXO is the first. */
  readonly isOrderFree: boolean;
}

interface ProvenTerms {
  readonly terms: SpendPlan;
  readonly parents: readonly UtxoParent[];
}

/** Returns a server and the other servers of its node pool. */
export function proofServers(pool: NodePool, node: RpcNode): ProofServers {
  return { node, others: () => otherNodes(pool, node) };
}

/**
 * Returns the terms of a selection among only those UTXOs that exist. A transaction that spends a
 * UTXO which does not exist is never included, and its other UTXOs stay locked with it. So the
 * server that lists a UTXO must show the transaction that made it, by bytes whose hash is its name.
 * One of the other servers that answer must have that transaction in a block, and one of them must
 * have the UTXO unspent: the list of a cache names UTXOs that the wallet has spent since. A UTXO
 * that is not shown, differs from the list, or is an immature miner's reward is left out, and the
 * selection is repeated. Returns null when too little is left.
 *
 * @param choose selects without these UTXOs; null when the others do not suffice
 */
export async function chooseProven(
  servers: ProofServers,
  claim: Claim,
  choose: (unproven: ReadonlySet<string>) => SpendPlan | null,
): Promise<Result<ProvenTerms | null, NodeProblem>> {
  const listed = new Map(claim.utxos.map((utxo) => [outpointText(utxo), utxo]));
  const parents = new Map<string, RawTransaction>();
  const unproven = new Set<string>();
  let others: readonly RpcNode[] | null = null;
  for (;;) {
    const terms = choose(unproven);
    if (terms === null || terms.utxos.some((utxo) => unproven.has(outpointText(utxo)))) return accepted(null);
    const chosen = terms.utxos.flatMap((utxo) => listed.get(outpointText(utxo)) ?? []);
    const open = chosen.filter((utxo) => !parents.has(outpointText(utxo)));
    if (open.length === 0) return accepted(await settled({ servers, claim }, { terms, chosen, parents }));
    if (parents.size + unproven.size + open.length > MAX_JUDGED) return accepted(null);
    others ??= await servers.others();
    const request = { node: servers.node, others };
    for (const { utxo, parent } of await Promise.all(open.map((one) => judged(request, claim, one)))) {
      if (!parent.ok) return parent;
      if (parent.value === null) unproven.add(outpointText(utxo));
      else parents.set(outpointText(utxo), parent.value);
    }
  }
}

interface Conclusion {
  readonly terms: SpendPlan;
  readonly chosen: readonly UnspentOutput[];
  /** By the name of the UTXO. */
  readonly parents: ReadonlyMap<string, RawTransaction>;
}

async function settled(
  { servers, claim }: { readonly servers: ProofServers; readonly claim: Claim },
  { terms, chosen, parents }: Conclusion,
): Promise<ProvenTerms> {
  const made = chosen.flatMap((utxo) => {
    const parent = parents.get(outpointText(utxo));
    return parent === undefined ? [] : [{ parent, block: utxo.block }];
  });
  const utxos = claim.isOrderFree ? oldestFirst(chosen) : terms.utxos;
  return { terms: { ...terms, utxos }, parents: await ancestorsOf(servers.node, claim, made) };
}

/**
 * Puts the oldest UTXO first. All attempts share the first UTXO, and co-signers require it in each
 * of them. The oldest is the last one that a reorg removes.
 */
function oldestFirst(chosen: readonly UnspentOutput[]): readonly Utxo[] {
  const isOlder = (one: UnspentOutput, other: UnspentOutput | undefined) =>
    other === undefined || other.block === null || (one.block !== null && one.block.height < other.block.height);
  let oldest: UnspentOutput | undefined;
  for (const utxo of chosen) if (isOlder(utxo, oldest)) oldest = utxo;
  const ordered = oldest === undefined ? [] : [oldest, ...chosen.filter((utxo) => utxo !== oldest)];
  return ordered.map(({ txid, vout, amount }) => ({ txid, vout, amount }));
}

interface ProofRequest {
  readonly node: RpcNode;
  readonly others: readonly RpcNode[];
}

async function judged(request: ProofRequest, claim: Claim, utxo: UnspentOutput) {
  return { utxo, parent: await parentOf(request, claim, utxo) };
}

/**
 * Returns the transaction that made a UTXO; null when it is not shown, differs from the list, or
 * cannot be spent yet.
 */
async function parentOf(
  { node, others }: ProofRequest,
  { own, chain, tip }: Claim,
  { txid, vout, amount, block }: UnspentOutput,
): Promise<Result<RawTransaction | null, NodeProblem>> {
  const proven = await getProvenTransaction(node, txid);
  if (!proven.ok) return proven;
  const parent = proven.value;
  const output = parent?.outputs[vout];
  if (parent === null || output === undefined) return accepted(null);
  if (output.amount !== amount || !equalBytes(output.script, own)) return accepted(null);
  if (block === null) return accepted(parent.isCoinbase ? null : parent);
  const [shown, spends] = await Promise.all([
    Promise.all(others.map((other) => other.request(getTransaction(txid)))),
    Promise.all(others.map((other) => other.request(getOutspend({ txid, vout })))),
  ]);
  // An unconfirmed spend may never be mined, and the claims of the wallet cover its own.
  const spent = spends.flatMap((answer) => (answer.ok ? [answer.value !== null && answer.value.block !== null] : []));
  if (spent.length > 0 && !spent.includes(false)) return accepted(null);
  const heights = shown.flatMap((answer) => (answer.ok ? [answer.value?.block?.height ?? null] : []));
  const seen = heights.filter((height) => height !== null);
  if (heights.length > 0 && seen.length === 0) return accepted(null);
  // The highest reported height counts: waiting costs less than a refusal.
  const height = [...seen, block.height].reduce((highest, one) => (one > highest ? one : highest));
  const isMature = depthOf({ ...block, height }, tip, chain).confirmations >= MATURITY;
  return accepted(parent.isCoinbase && !isMature ? null : parent);
}
