import type { Hex } from 'viem';
import { getAddress } from 'viem/utils';
import type { TokenPayment } from '#chains/chain-client.ts';
import { UNLOGGED_UID } from '#chains/contents.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { Log, Receipt } from '#chains/evm/client/rpc-calls.ts';
import { ethCall, getBlock } from '#chains/evm/client/rpc-calls.ts';
import { BALANCE_OF_SELECTOR, TRANSFER_SELECTOR } from '#chains/evm/rules/call.ts';
import { word } from '#chains/evm/rules/hex.ts';
import { TRANSFER } from '#chains/evm/rules/transfer-topics.ts';
import type { ChainMovement } from '#domain/asset/movement.ts';
import { unitsOf } from '#domain/asset/amount.ts';
import type { TokenTransfer } from '#domain/transaction/transaction.ts';

/** The effect of a mined token payment, according to one RPC node. */
export interface TransferEvidence {
  /** Null when the token's log shows the transfer. */
  readonly transfer: TokenTransfer | null;
  /**
   * The payment that no log shows. Empty unless the wallet's balance fell by exactly its amount.
   */
  readonly unlogged: readonly ChainMovement[];
}

/** The effect of a transaction that the log or the receipt alone describes. */
export const DESCRIBED: TransferEvidence = { transfer: null, unlogged: [] };

/** Only the balances decide, and they are not available. */
const UNPROVEN: TransferEvidence = { transfer: 'unproven', unlogged: [] };

/** What the token and its balances state of a payment, from the state around its block. */
interface Balances {
  /** Of the wallet, before the block and in it. */
  readonly held: bigint;
  readonly has: bigint;
  /** Of the recipient. */
  readonly had: bigint;
  readonly received: bigint;
  /** The token returns false for the same call before the block. */
  readonly isRefused: boolean;
}

/**
 * Returns whether a token payment with status 1 moved the token. The log of ERC-20 proves it. Its
 * absence proves nothing: some tokens log a burn and a mint (Compound III), or an event of their
 * own (ERC-404), and others return false and move nothing. There the balances of wallet and
 * recipient before and after the block decide. An RPC node without this state proves nothing.
 *
 * Other transactions of the block move the token, too, and the recipient can choose them: so the
 * token moved only when the wallet lost at least the amount and the recipient has more, and it did
 * not move only when no balance changed, the token logged nothing, and it refuses the call.
 */
export async function transferEvidence(
  node: RpcNode,
  wallet: string,
  { payment, receipt }: { readonly payment: TokenPayment; readonly receipt: Receipt },
): Promise<TransferEvidence> {
  const { tokenAddress, amount } = payment;
  if (receipt.logs.some((log) => isTransferOf(log, wallet, payment))) return DESCRIBED;
  const balances = await balancesAround(node, wallet, { payment, receipt });
  if (balances === null) return UNPROVEN;
  const { held, has, had, received, isRefused } = balances;
  const isSilent = !receipt.hasUnreadLogs && !receipt.logs.some((log) => isOfToken(log, tokenAddress));
  if (held === has && had === received) return isSilent && isRefused ? { transfer: 'unmoved', unlogged: [] } : UNPROVEN;
  if (held - has < unitsOf(amount) || received <= had) return UNPROVEN;
  const isExact = held - has === unitsOf(amount) && !receipt.logs.some((log) => isMovementOf(log, wallet, payment));
  return { transfer: 'moved', unlogged: isExact ? [movementOf(wallet, payment)] : [] };
}

/** Returns null when the RPC node lacks a part, or has another block by now. */
async function balancesAround(
  node: RpcNode,
  wallet: string,
  { payment, receipt }: { readonly payment: TokenPayment; readonly receipt: Receipt },
): Promise<Balances | null> {
  const { to, amount } = payment;
  const { blockNumber, blockHash } = receipt;
  const token = getAddress(payment.tokenAddress);
  const callAt = async (data: Hex, block: bigint) => {
    const answer = await node.request(ethCall(wallet, { to: token, value: 0n, data }, block));
    return answer.ok && answer.value.length === 2 + 64 ? BigInt(answer.value) : null;
  };
  const balanceOf = (owner: string, block: bigint) => callAt(`${BALANCE_OF_SELECTOR}${wordOf(owner)}`, block);
  const call: Hex = `${TRANSFER_SELECTOR}${wordOf(to)}${word(unitsOf(amount))}`;
  const [held, has, had, received, returned] = await Promise.all([
    balanceOf(wallet, blockNumber - 1n),
    balanceOf(wallet, blockNumber),
    balanceOf(to, blockNumber - 1n),
    balanceOf(to, blockNumber),
    callAt(call, blockNumber - 1n),
  ]);
  if (held === null || has === null || had === null || received === null) return null;
  // The state was read by the number of the block: a reorg may have replaced the block meanwhile.
  const block = await node.request(getBlock(blockNumber));
  if (!block.ok || block.value?.hash !== blockHash) return null;
  return { held, has, had, received, isRefused: returned === 0n };
}

function movementOf(wallet: string, { tokenAddress, to, amount }: TokenPayment): ChainMovement {
  return { uid: UNLOGGED_UID, kind: 'erc20', from: wallet, to, tokenAddress, tokenId: null, amount };
}

/**
 * Reports whether a log is the transfer of the payment. Sender and recipient may be topics, as the
 * standard requires, or data, as in some old tokens: both have the same words. The amount is not
 * compared, because a token may deduct its fee from it.
 */
function isTransferOf(log: Log, wallet: string, { tokenAddress, to }: TokenPayment): boolean {
  const [topic, ...indexed] = log.topics;
  const words = `${indexed.map((value) => value.slice(2)).join('')}${log.data.slice(2)}`;
  return isOfToken(log, tokenAddress) && topic === TRANSFER && words.startsWith(`${wordOf(wallet)}${wordOf(to)}`);
}

/** Reports whether a log moves the token from or to the wallet, so that it is in the record. */
function isMovementOf(log: Log, wallet: string, { tokenAddress }: TokenPayment): boolean {
  const [topic, from, to] = log.topics;
  return (
    isOfToken(log, tokenAddress) && topic === TRANSFER && [from, to].some((one) => one?.slice(2) === wordOf(wallet))
  );
}

function isOfToken({ address }: Log, tokenAddress: string): boolean {
  return address === tokenAddress.toLowerCase();
}

function wordOf(address: string): string {
  return word(BigInt(address));
}
