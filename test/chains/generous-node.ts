/**
 * The answers of an RPC node of an EVM chain on which each wallet and each contract has enough, and
 * no call fails.
 */

const hex = (value: bigint) => `0x${value.toString(16)}`;
const wordOf = (value: bigint) => `0x${value.toString(16).padStart(64, '0')}`;

const GWEI = 1_000_000_000n;
/** More than any test pays. */
const PLENTY = 10n ** 30n;
/** What contracts return, by the first four bytes of the call. */
const RETURNED: Readonly<Record<string, bigint>> = {
  // balanceOf
  '0x70a08231': 2n ** 256n - 1n,
  // decimals
  '0x313ce567': 0n,
  // allowance
  '0xdd62ed3e': 0n,
  // transfer
  '0xa9059cbb': 1n,
  // approve
  '0x095ea7b3': 1n,
  // getL1Fee of a rollup
  '0x49948e0e': 1n,
};
const BLOCK = { number: '0x10', hash: `0x${'b'.repeat(64)}`, baseFeePerGas: hex(GWEI) };

const ANSWERS: Readonly<Record<string, (params: readonly unknown[]) => unknown>> = {
  eth_getBlockByNumber: () => BLOCK,
  eth_blockNumber: () => BLOCK.number,
  eth_getBalance: () => hex(PLENTY),
  eth_getTransactionCount: () => '0x0',
  eth_getCode: () => '0x60',
  eth_estimateGas: () => '0x5208',
  eth_maxPriorityFeePerGas: () => hex(GWEI),
  eth_feeHistory: () => ({ reward: [] }),
  eth_call: ([call]) => {
    const returned = RETURNED[(call as { readonly data: string }).data.slice(0, 10)];
    return returned === undefined ? '0x' : wordOf(returned);
  },
};

interface Generous {
  readonly result: unknown;
}

interface Refused {
  readonly error: { readonly code: number; readonly message: string };
}

/** Returns the reaction to one call. */
export function generousAnswer(method: string, params: readonly unknown[], chainId: bigint): Generous | Refused {
  const result = method === 'eth_chainId' ? hex(chainId) : ANSWERS[method]?.(params);
  return result === undefined ? { error: { code: -32601, message: 'the method is not available' } } : { result };
}

/** Returns the response to one request in JSON. */
export function answerOfGenerousNode(request: string, chainId: bigint): object {
  const { id, method, params } = JSON.parse(request) as {
    readonly id: number;
    readonly method: string;
    readonly params: readonly unknown[];
  };
  return { jsonrpc: '2.0', id, ...generousAnswer(method, params, chainId) };
}
