import type { PreparationFault } from '#chains/chain-adapter.ts';
import type { Trouble } from '#chains/evm/fleet.ts';
import { word } from '#chains/evm/hex.ts';
import type { EvmNode, NodeFault } from '#chains/evm/node.ts';
import { askCall, askCode } from '#chains/evm/question.ts';
import { revertReason } from '#chains/evm/revert.ts';
import type { Call } from '#chains/evm/transfer-call.ts';
import type { FailureReason } from '#domain/event.ts';
import type { TransferIntent } from '#domain/intent.ts';

export type PermanentFault = Extract<PreparationFault, { kind: 'permanent' }>;

/** First four bytes of keccak256('balanceOf(address)'). */
const BALANCE_OF_SELECTOR = '0x70a08231';

/**
 * Whether the wallet has the tokens. Refuses, in order: SIMULATION_REVERTED for an address without code (a call to it succeeds
 * and moves nothing) or a contract that tells no balance; INSUFFICIENT_FUNDS.
 */
export async function tokenFault(
  node: EvmNode,
  intent: TransferIntent,
  call: Call,
): Promise<PermanentFault | Trouble | null> {
  if (intent.tokenAddress === null) return null;
  const question: Call = { to: call.to, value: 0n, data: `${BALANCE_OF_SELECTOR}${word(BigInt(intent.from))}` };
  const [code, balance] = await Promise.all([
    node.ask(askCode(call.to)),
    node.ask(askCall(intent.from, question, 'latest')),
  ]);
  if (!code.ok) return code.refusal;
  if (code.value === '0x') return permanent('SIMULATION_REVERTED', 'there is no contract at the token address');
  if (!balance.ok) return callFault(balance.refusal);
  if (balance.value.length < 66) return permanent('SIMULATION_REVERTED', 'the token tells no balance');
  const held = BigInt(balance.value.slice(0, 66));
  const wanted = BigInt(intent.amount);
  return held < wanted ? permanent('INSUFFICIENT_FUNDS', `the wallet holds ${held} of ${wanted} token units`) : null;
}

/**
 * Runs the very call that would be signed. SIMULATION_REVERTED when it reverts, and when a token answers anything but true: a
 * token that answers nothing at all (USDT) is fine, one that says false has moved nothing (chains.md 4.7).
 */
export async function dryRunFault(node: EvmNode, from: string, call: Call): Promise<PermanentFault | Trouble | null> {
  const answer = await node.ask(askCall(from, call, 'latest'));
  if (!answer.ok) return callFault(answer.refusal);
  if (call.data === '0x' || answer.value === '0x') return null;
  if (answer.value.length < 66) return permanent('SIMULATION_REVERTED', 'the token gives a malformed answer');
  return BigInt(answer.value.slice(0, 66)) === 0n ? permanent('SIMULATION_REVERTED', 'the token answers false') : null;
}

/** What it means that a node did not run a call: the call is bad, or the wallet too poor for it, or the node in trouble. */
export function callFault(fault: NodeFault): PermanentFault | NodeFault {
  const reason = revertReason(fault);
  if (reason !== null) return permanent('SIMULATION_REVERTED', reason);
  const poor = fault.kind === 'error-answer' && /insufficient (?:funds|balance)/i.test(fault.detail);
  return poor ? permanent('INSUFFICIENT_FUNDS', fault.detail) : fault;
}

export function permanent(reason: FailureReason, detail: string): PermanentFault {
  return { kind: 'permanent', reason, detail };
}
