import type { Hex } from 'viem';
import { canonicalAddress } from '#chains/evm/rules/address.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import type { PermanentFault } from '#chains/permanent-fault.ts';
import { permanent, shortOf } from '#chains/permanent-fault.ts';
import { word } from '#chains/evm/rules/hex.ts';
import type { NodeFault, RpcNode } from '#chains/rpc/json-rpc.ts';
import type { BlockTag } from '#chains/evm/client/rpc-calls.ts';
import { ethCall, getCode } from '#chains/evm/client/rpc-calls.ts';
import { revertReason } from '#chains/evm/client/revert.ts';
import type { Call } from '#chains/evm/rules/call.ts';
import { BALANCE_OF_SELECTOR, callOf } from '#chains/evm/rules/call.ts';
import { tokenTransferIn } from '#chains/inspect/spending.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { AssetAmount } from '#domain/asset/exposure.ts';
import type {
  ContractInteractionIntent,
  Erc20ApproveIntent,
  OnChainIntent,
  TransferIntent,
} from '#domain/transaction/intent.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/** First four bytes of keccak256('allowance(address,address)'). */
const ALLOWANCE_SELECTOR = '0xdd62ed3e';

/**
 * Returns the wallet's balance of the token that an intent pays, in the state after a block; null
 * when it pays none. Refuses, in order: SIMULATION_REVERTED for an address without code (a call to
 * it succeeds and does nothing), a contract that returns no balance, or an approval on a contract
 * without allowances; INSUFFICIENT_FUNDS.
 */
export async function tokensHeld(
  node: RpcNode,
  intent: OnChainIntent,
  { call, tag }: { readonly call: Call; readonly tag: BlockTag },
): Promise<Result<AssetAmount | null, PermanentFault | NodeProblem>> {
  if (intent.kind === 'transfer' && intent.tokenAddress === null) return accepted(null);
  const [code, holding] = await Promise.all([
    node.request(getCode(call.to)),
    intent.kind === 'contract-interaction'
      ? heldForCall(node, intent, tag)
      : readHolding(node, intent, { token: call.to, tag }),
  ]);
  if (!code.ok) return code;
  if (code.value === '0x') return refused(permanent('SIMULATION_REVERTED', 'There is no contract at this address.'));
  if (holding === null) return accepted(null);
  if (!holding.ok) return holding;
  const tokenAddress = call.to;
  if (intent.kind === 'transfer' && holding.value < BigInt(intent.amount)) {
    const detail = `The wallet holds ${holding.value} token units. The transaction requires ${intent.amount}.`;
    return refused(shortOf(tokenAddress, BigInt(intent.amount) - holding.value, detail));
  }
  return accepted(intent.kind === 'erc20-approve' ? null : { tokenAddress, amount: amountOf(holding.value) });
}

/**
 * Returns the balance for a call that is a token's `transfer`. Returns null for every other call,
 * and for a contract that returns no such balance: the contract decides what the call does, and the
 * dry run shows whether it succeeds.
 */
async function heldForCall(
  node: RpcNode,
  intent: ContractInteractionIntent,
  tag: BlockTag,
): Promise<Result<bigint, NodeProblem> | null> {
  const moved = tokenTransferIn(intent);
  if (moved === null) return null;
  const held = await readUnits(node, intent.from, { token: intent.to, owner: intent.from, tag });
  if (held.ok) return held.value < BigInt(moved.amount) ? null : held;
  const { refusal } = held;
  return refusal.kind === 'permanent' ? null : refused(refusal);
}

/**
 * Returns the wallet's token balance, or the spender's current allowance. `approve` of an ERC-721
 * is the same call with an id for an amount, and id 0 would look like a revoked allowance; but no
 * ERC-721 has the `allowance` function.
 */
async function readHolding(
  node: RpcNode,
  intent: TransferIntent | Erc20ApproveIntent,
  { token, tag }: { readonly token: string; readonly tag: BlockTag },
): Promise<Result<bigint, PermanentFault | NodeProblem>> {
  const owner = intent.from;
  if (intent.kind === 'transfer') return readUnits(node, owner, { token, owner, tag });
  const response = await readUnits(node, owner, { token, owner, spender: intent.spender });
  if (response.ok || response.refusal.kind !== 'permanent') return response;
  return refused(permanent('SIMULATION_REVERTED', 'The contract is not an ERC-20 token: it has no allowances.'));
}

/**
 * Runs the very call that would be signed. Returns SIMULATION_REVERTED when it reverts or when a
 * token returns anything but true. A token that returns nothing at all (USDT) is accepted; one that
 * returns false has moved nothing. Returns ALLOWANCE_NOT_ZERO when a token refuses a new allowance
 * only because an allowance exists.
 */
export async function dryRunFault(
  node: RpcNode,
  intent: OnChainIntent,
  call: Call,
): Promise<PermanentFault | NodeProblem | null> {
  const answer = await node.request(ethCall(intent.from, call, 'latest'));
  const fault = answer.ok ? answerFault(intent, call, answer.value) : callFault(answer.refusal);
  const mayBeAllowance = intent.kind === 'erc20-approve' && fault?.kind === 'permanent' && intent.amount !== '0';
  return mayBeAllowance ? ((await allowanceFault(node, intent)) ?? fault) : fault;
}

/** Only the return values of tokens have a known format. */
function answerFault(intent: OnChainIntent, call: Call, answer: Hex): PermanentFault | null {
  if (intent.kind === 'contract-interaction' || call.data === '0x' || answer === '0x') return null;
  if (answer.length < 66) return permanent('SIMULATION_REVERTED', 'The token returned a malformed result.');
  return BigInt(answer.slice(0, 66)) === 0n ? permanent('SIMULATION_REVERTED', 'The token returned false.') : null;
}

/**
 * Returns the fault of USDT and similar tokens, whose allowance must be 0 before it changes to
 * another amount; null when that is not the cause.
 */
async function allowanceFault(node: RpcNode, intent: Erc20ApproveIntent): Promise<PermanentFault | null> {
  const { from, tokenAddress: token, spender } = intent;
  const reset = callOf({ ...intent, amount: amountOf(0n) });
  if (reset === null) return null;
  const [allowance, dryRun] = await Promise.all([
    readUnits(node, from, { token, owner: from, spender }),
    node.request(ethCall(from, reset, 'latest')),
  ]);
  const resets = dryRun.ok && answerFault(intent, reset, dryRun.value) === null;
  if (!allowance.ok || allowance.value === 0n || !resets) return null;
  const detail = `The allowance is ${allowance.value}. This token requires a reset to 0 before a new allowance.`;
  return permanent('ALLOWANCE_NOT_ZERO', detail);
}

interface Holding {
  readonly token: string;
  readonly owner: string;
  /** For an allowance; absent for a balance. */
  readonly spender?: string;
  /** The newest block when absent. */
  readonly tag?: BlockTag;
}

/** Returns `balanceOf(owner)` or `allowance(owner, spender)`. */
async function readUnits(
  node: RpcNode,
  from: string,
  { token, owner, spender, tag = 'latest' }: Holding,
): Promise<Result<bigint, PermanentFault | NodeProblem>> {
  const selector = spender === undefined ? BALANCE_OF_SELECTOR : ALLOWANCE_SELECTOR;
  const accounts = [owner, ...(spender === undefined ? [] : [spender])].map((account) => word(BigInt(account)));
  const to = canonicalAddress(token);
  if (to === null) throw new Error('a stored intent is not in canonical form');
  const answer = await node.request(ethCall(from, { to, value: 0n, data: `${selector}${accounts.join('')}` }, tag));
  if (!answer.ok) return refused(callFault(answer.refusal));
  if (answer.value.length < 66)
    return refused(permanent('SIMULATION_REVERTED', 'The contract did not return an amount.'));
  return accepted(BigInt(answer.value.slice(0, 66)));
}

/**
 * Classifies why an RPC node did not run a call: the call is invalid, the wallet lacks funds for
 * it, or the node is faulty.
 */
export function callFault(fault: NodeFault): PermanentFault | NodeFault {
  const reason = revertReason(fault);
  if (reason !== null) return permanent('SIMULATION_REVERTED', reason);
  const poor = fault.kind === 'error-answer' && /insufficient (?:funds|balance)/i.test(fault.detail);
  return poor ? permanent('INSUFFICIENT_FUNDS', fault.detail) : fault;
}
