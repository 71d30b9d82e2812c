import type { Hex } from 'viem';
import { parseAddressBytes, parseHash, parseQuantity } from '#chains/evm/rules/hex.ts';
import { ANSWER_FIELDS, tagOf } from '#chains/evm/client/rpc-calls.ts';
import type { RpcCall } from '#chains/rpc/json-rpc.ts';
import type { Pruning } from '#chains/rpc/pruned-answer.ts';
import { isJsonObject } from '#domain/json/untrusted-json.ts';

/** One call of a transaction from `callTracer`. */
export interface TraceCall {
  readonly from: Hex;
  /** Null for a contract creation that failed. */
  readonly to: Hex | null;
  readonly value: bigint;
  /** False for DELEGATECALL, CALLCODE and STATICCALL, which move no value themselves. */
  readonly isPayment: boolean;
  readonly failed: boolean;
  /** The calls that it made, by position; null for one that paid nothing. */
  readonly calls: readonly (TraceCall | null)[];
}

/** A transaction of a block with its calls. */
export interface TracedTransaction {
  /** Null for an RPC node that names no hashes (Erigon): the rows have the order of the block. */
  readonly hash: Hex | null;
  /** Null for a row that cannot be read. */
  readonly root: TraceCall | null;
}

/** Older clients call it SUICIDE. */
const SELFDESTRUCTS: ReadonlySet<unknown> = new Set(['SELFDESTRUCT', 'SUICIDE']);
const PAYMENTS: ReadonlySet<unknown> = new Set(['CALL', 'CREATE', 'CREATE2', ...SELFDESTRUCTS]);

/** The EVM's limit. */
const MAX_CALL_DEPTH = 1024;

/** The input of a call has nearly all of the bytes of a trace. */
const PRUNING: Pruning = {
  keeps: new Set([...ANSWER_FIELDS, 'txHash', 'type', 'from', 'to', 'value', 'calls']),
  keptItem: (item, list) => (list === 'calls' ? paymentsIn(item) : item),
  isOptional: true,
};

/**
 * Returns a call with the payments in it; null when there are none, so that only its position is
 * kept. A call that failed pays nothing, nor do the calls that it made.
 */
function paymentsIn(call: Readonly<Record<string, unknown>>): object | null {
  const { calls, ...own } = call;
  if (own['error'] != null) return null;
  if (Array.isArray(calls) && calls.some((one) => one !== null)) return call;
  return own['value'] == null || parseQuantity(own['value']) === 0n ? null : own;
}

export const traceTransaction = (hash: string): RpcCall<TraceCall> => ({
  method: 'debug_traceTransaction',
  params: [hash, { tracer: 'callTracer' }],
  pruning: PRUNING,
  read: (answer) => {
    // Some clients put the one call into a list.
    const root: unknown = Array.isArray(answer) && answer.length === 1 ? answer[0] : answer;
    return readTrace(root, null) ?? undefined;
  },
});

/** Returns every transaction of a block with its calls, in the order of the block. */
export const traceBlock = (number: bigint): RpcCall<readonly TracedTransaction[]> => ({
  method: 'debug_traceBlockByNumber',
  params: [tagOf(number), { tracer: 'callTracer' }],
  pruning: PRUNING,
  read: (answer) => {
    if (!Array.isArray(answer)) return undefined;
    const rows: readonly unknown[] = answer;
    return rows.map((row) => {
      if (!isJsonObject(row)) return { hash: null, root: null };
      // Some clients return the calls themselves, without rows around them.
      const root = row['result'] === undefined && row['type'] !== undefined ? row : row['result'];
      return { hash: parseHash(row['txHash']), root: readTrace(root, null) };
    });
  },
});

/** Returns null for a call, or a call in it, that cannot be read. */
function readTrace(answer: unknown, caller: Hex | null, depth = 0): TraceCall | null {
  if (!isJsonObject(answer) || depth > MAX_CALL_DEPTH) return null;
  const { type } = answer;
  // The contract that ends itself may be named by the call around it alone.
  const from = answer['from'] == null && SELFDESTRUCTS.has(type) ? caller : parseAddressBytes(answer['from']);
  const to = answer['to'] == null ? null : parseAddressBytes(answer['to']);
  const value = answer['value'] == null ? 0n : parseQuantity(answer['value']);
  const inner: unknown = answer['calls'] ?? [];
  if (from === null || value === null || !Array.isArray(inner)) return null;
  const calls: (TraceCall | null)[] = [];
  for (const one of inner) {
    const call = one === null ? null : readTrace(one, to, depth + 1);
    if (call === null && one !== null) return null;
    calls.push(call);
  }
  return { from, to, value, isPayment: PAYMENTS.has(type), failed: answer['error'] != null, calls };
}
