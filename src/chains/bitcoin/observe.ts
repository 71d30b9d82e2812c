import { hexToBytes } from '@noble/hashes/utils.js';
import { absenceOf } from '#chains/absence.ts';
import { depthOf } from '#chains/bitcoin/depth.ts';
import { movementsIn } from '#chains/bitcoin/movements.ts';
import type { ChainTransfer } from '#chains/bitcoin/question.ts';
import { askSpend, askTip, askTransaction, BLOCKS } from '#chains/bitcoin/question.ts';
import { coinsIn } from '#chains/bitcoin/transaction.ts';
import type { Observation, Watched } from '#chains/chain-adapter.ts';
import type { Trouble } from '#chains/fleet.ts';
import { unfit } from '#chains/fleet.ts';
import type { RpcNode } from '#chains/json-rpc.ts';
import { amountOf } from '#domain/amount.ts';
import type { Chain } from '#domain/chain.ts';
import { movementsOf } from '#domain/movement.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';

/**
 * Where the attempts of a transaction are: in a block, waiting, or nowhere. `absent` with the nonce taken when another transaction has spent
 * one of their coins, in a block that is beyond any reorganisation.
 */
export async function observeTransaction(
  node: RpcNode,
  chain: Chain,
  watched: Watched,
): Promise<Result<Observation, Trouble>> {
  const { from, hashes } = watched;
  let inMempool = false;
  for (const hash of hashes) {
    const transfer = await node.ask(askTransaction(hash));
    if (!transfer.ok) return transfer;
    if (transfer.value === null) continue;
    if (transfer.value.hash !== hash) return unfit('the node answers about another transaction');
    if (transfer.value.block !== null) return included(node, chain, { ...transfer.value, from });
    inMempool = true;
  }
  const gone = await absenceOf(node, watched, BLOCKS);
  if (!gone.ok) return gone;
  if (inMempool) return accepted({ type: 'absent', inMempool, nonceTaken: false });
  const spent = await spenderOf(node, chain, watched);
  if (!spent.ok) return spent;
  if (spent.value === 'unexplained') return accepted(UNEXPLAINED);
  const isOrphan = spent.value === 'final' ? accepted(true) : await isWithoutParent(node, watched);
  return isOrphan.ok ? accepted({ type: 'absent', inMempool, nonceTaken: isOrphan.value }) : isOrphan;
}

const UNEXPLAINED: Observation = { type: 'absent', inMempool: false, nonceTaken: false, isUnexplained: true };

/**
 * Whether nobody knows (any more) what a child was to pay for: so it can not be included. Should the parent come back there can be another
 * child; this one pays nobody, so nothing is paid twice by being given up early, which of a payment would not be true.
 */
async function isWithoutParent(node: RpcNode, { parent }: Watched): Promise<Result<boolean, Trouble>> {
  if (parent === null) return accepted(false);
  const told = await node.ask(askTransaction(parent));
  return told.ok ? accepted(told.value === null) : told;
}

async function included(
  node: RpcNode,
  chain: Chain,
  { from, ...transfer }: ChainTransfer & { readonly from: string },
): Promise<Result<Observation, Trouble>> {
  const tip = await node.ask(askTip);
  if (!tip.ok) return tip;
  const { hash, fee, block } = transfer;
  if (block === null) return unfit('the block of the transaction is gone again');
  const { number, hash: blockHash, confirmations, isFinal } = depthOf(block, tip.value, chain);
  return accepted({
    type: 'included',
    inclusion: {
      hash,
      blockNumber: number,
      blockHash,
      succeeded: true,
      feePaid: amountOf(fee),
      confirmations,
      finalized: isFinal,
      failure: null,
      ...movementsOf(from, movementsIn(transfer), chain),
    },
  });
}

/**
 * What became of the coins. `final`: a transaction that is none of the attempts, and that the server shows, has spent one of them, beyond
 * any reorganisation. `unexplained`: one is spent, and the server has an attempt, or nothing at all, under the name of what spent it. `open`:
 * neither, so that the attempts may still be mined.
 */
type CoinUse = 'open' | 'final' | 'unexplained';

/** Every attempt spends the coins of the one before, so those of the newest are all that there are. */
async function spenderOf(node: RpcNode, chain: Chain, { hashes, newest }: Watched): Promise<Result<CoinUse, Trouble>> {
  let use: CoinUse = 'open';
  for (const coin of coinsIn(hexToBytes(newest.payload.slice(2)))) {
    const spend = await node.ask(askSpend(coin));
    if (!spend.ok) return spend;
    if (spend.value === null || spend.value.block === null) continue;
    const spender = await node.ask(askTransaction(spend.value.hash));
    if (!spender.ok) return spender;
    const isOwn = hashes.includes(spend.value.hash);
    if (isOwn && spender.value !== null) return unfit('the transaction came only now');
    const tip = await node.ask(askTip);
    if (!tip.ok) return tip;
    if (isOwn || spender.value?.block?.hash !== spend.value.block.hash) use = 'unexplained';
    else if (depthOf(spend.value.block, tip.value, chain).isFinal) return accepted('final');
  }
  return accepted(use);
}
