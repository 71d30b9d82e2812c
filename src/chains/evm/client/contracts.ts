import { getCode } from '#chains/evm/client/rpc-calls.ts';
import type { NodeProblem } from '#chains/rpc/node-pool.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';

/**
 * EIP-7702: the code of an account that delegates to a contract. The key of the account still
 * counts.
 */
const DELEGATED = /^0xef0100[0-9a-f]{40}$/i;

/** Returns the addresses that have code of their own. */
export async function contractsAmong(
  node: RpcNode,
  addresses: readonly string[],
): Promise<Result<readonly string[], NodeProblem>> {
  const codes = await Promise.all(addresses.map((address) => node.request(getCode(address))));
  const contracts: string[] = [];
  for (const [i, code] of codes.entries()) {
    if (!code.ok) return code;
    const address = addresses[i];
    if (address !== undefined && code.value !== '0x' && !DELEGATED.test(code.value)) contracts.push(address);
  }
  return accepted(contracts);
}
