import { getAddress } from 'viem/utils';
import { callOf } from '#chains/evm/rules/call.ts';
import {
  logMovements,
  NATIVE_LOG_ADDRESS,
  SIMULATED_LOG_ADDRESS,
  tokenMovements,
} from '#chains/evm/watch/movements.ts';
import { callFault } from '#chains/evm/client/dry-run.ts';
import type { Log } from '#chains/evm/client/rpc-calls.ts';
import { ethSimulate } from '#chains/evm/client/rpc-calls.ts';
import { APPROVAL, APPROVAL_FOR_ALL } from '#chains/evm/rules/transfer-topics.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import type { NodeFault, RpcNode } from '#chains/rpc/json-rpc.ts';
import type { Allowance, Simulation } from '#chains/chain-client.ts';
import type { Chain } from '#domain/asset/chain.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { OnChainIntent } from '#domain/transaction/intent.ts';
import type { ChainMovement } from '#domain/asset/movement.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/**
 * Simulates the very call that would be signed on the newest block, and returns all movements, by
 * contracts and of tokens alike, and the allowances that it sets. Refuses for an RPC node that does
 * not simulate.
 */
export async function simulateCall(
  node: RpcNode,
  intent: OnChainIntent,
  chain: Pick<Chain, 'tokens' | 'nativeSymbol'>,
): Promise<Result<Simulation, NodeProblem>> {
  const call = callOf(intent);
  if (call === null) throw new Error('a stored intent is not in canonical form');
  const answer = await node.request(ethSimulate(intent.from, call));
  if (!answer.ok) return failed(answer.refusal);
  const { fault, logs } = answer.value;
  if (fault !== null) return failed(fault);
  return accepted({
    outcome: 'succeeds',
    movements: [...nativeMovements(logs), ...tokenMovements(logs, chain)],
    allowances: newest(logs.flatMap((log) => allowancesOf(intent.from, log))),
  });
}

/** A fault of the RPC node, or a node that does not simulate, says nothing about the call. */
function failed(fault: NodeFault): Result<Simulation, NodeProblem> {
  const why = callFault(fault);
  return why.kind === 'permanent' ? accepted({ outcome: 'fails', detail: why.detail ?? why.reason }) : refused(why);
}

/** A chain with ERC-7708 logs each payment itself: then its logs count, and each payment once. */
function nativeMovements(logs: readonly Log[]): readonly ChainMovement[] {
  const own = logs.filter(({ address }) => address === NATIVE_LOG_ADDRESS);
  const reported = own.length > 0 ? own : logs.filter(({ address }) => address === SIMULATED_LOG_ADDRESS);
  return reported.flatMap(logMovements).map((moved) => ({ ...moved, kind: 'native', tokenAddress: null }) as const);
}

/** Returns only the owner's allowances; those between other accounts are irrelevant. */
function allowancesOf(owner: string, { address, topics, data }: Log): readonly Allowance[] {
  const [topic, by, to, id] = topics;
  if (by === undefined || to === undefined || addressIn(by) !== owner) return [];
  const [tokenAddress, spender] = [getAddress(address), addressIn(to)];
  if (topic === APPROVAL && id !== undefined) {
    return [{ tokenAddress, tokenId: BigInt(id).toString(), spender, amount: amountOf(1n) }];
  }
  if (data.length !== 66) return [];
  const value = BigInt(data);
  if (topic === APPROVAL) return [{ tokenAddress, tokenId: null, spender, amount: amountOf(value) }];
  if (topic !== APPROVAL_FOR_ALL) return [];
  return [{ tokenAddress, tokenId: null, spender, amount: value === 0n ? amountOf(0n) : null }];
}

function addressIn(topic: string): string {
  return getAddress(`0x${topic.slice(-40)}`);
}

/** Returns the last state of each allowance. */
function newest(allowances: readonly Allowance[]): readonly Allowance[] {
  const nameOf = ({ tokenAddress, tokenId, spender }: Allowance) => [tokenAddress, tokenId ?? '', spender].join();
  return [...new Map(allowances.map((one) => [nameOf(one), one])).values()];
}
