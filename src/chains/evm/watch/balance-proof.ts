import { getBlockPayments } from '#chains/evm/client/block-contents.ts';
import { getBalanceAt, getBlock } from '#chains/evm/client/rpc-calls.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { Claim } from '#chains/contents.ts';
import type { NodePool } from '#chains/rpc/node-pool.ts';
import type { ChainMovement } from '#domain/asset/movement.ts';
import { concerns } from '#domain/asset/movement.ts';
import { unitsOf } from '#domain/asset/amount.ts';

/** A mined transaction as two RPC nodes state it, and the payments that one of them adds. */
export interface ClaimedTransaction {
  readonly hash: string;
  readonly block: { readonly number: string; readonly hash: string };
  /** Null for a transaction that no key signed. */
  readonly signer: string | null;
  /** What the signer paid, in wei. */
  readonly fee: bigint;
  readonly movements: readonly ChainMovement[];
  readonly claim: Claim;
}

/**
 * Returns those payments by contracts of a wallet that the balances around the block prove. The RPC
 * node that states them is not read: another one must show that the balance of the wallet changed
 * in the block by exactly what the transaction moved, and that no other transaction of the block is
 * from or to the wallet. Otherwise, or without the state, nothing is proven, and the comparison of
 * balances finds the payments later. Two transactions of one block that each have such payments
 * look alike here: the vault believes one of them (`BALANCE_PROOF_TABLE`).
 */
export async function provenByBalances(
  pool: NodePool,
  transaction: ClaimedTransaction,
  wallet: string,
): Promise<readonly ChainMovement[]> {
  const { claim, block } = transaction;
  const claimed = claim.movements.filter((one) => concerns(wallet, one));
  if (claimed.length === 0) return [];
  const net = netOf(transaction, wallet);
  const others = pool.nodes.filter((_, i) => i !== claim.by);
  const proofs = await Promise.all(
    others.map(async (node) => {
      const isOfChain = (await pool.nodeProblem(node)) === null;
      return isOfChain && hasChangedBy(node, { wallet, block, net, hash: transaction.hash });
    }),
  );
  return proofs.includes(true) ? claimed : [];
}

function netOf({ signer, fee, movements, claim }: ClaimedTransaction, wallet: string): bigint {
  const native = [...movements, ...claim.movements].filter(({ tokenAddress }) => tokenAddress === null);
  const moved = native.reduce((sum, { from, to, amount }) => {
    return sum + (to === wallet ? unitsOf(amount) : 0n) - (from === wallet ? unitsOf(amount) : 0n);
  }, 0n);
  return signer === wallet ? moved - fee : moved;
}

interface BalanceQuery extends Pick<ClaimedTransaction, 'block' | 'hash'> {
  readonly wallet: string;
  readonly net: bigint;
}

async function hasChangedBy(node: RpcNode, { wallet, block, net, hash }: BalanceQuery): Promise<boolean> {
  const number = BigInt(block.number);
  const [before, after] = await Promise.all([
    node.request(getBalanceAt(wallet, number - 1n)),
    node.request(getBalanceAt(wallet, number)),
  ]);
  if (!before.ok || !after.ok || after.value - before.value !== net) return false;
  const payments = await node.request(getBlockPayments(number));
  if (!payments.ok || payments.value === null) return false;
  const own = wallet.toLowerCase();
  const touches = payments.value.some(
    (one) => one === null || (one.hash !== hash && (one.from === own || (one.to === own && one.value > 0n))),
  );
  if (touches) return false;
  // The state was read by the number of the block: a reorg may have replaced the block meanwhile.
  const shown = await node.request(getBlock(number));
  return shown.ok && shown.value?.hash === block.hash;
}
