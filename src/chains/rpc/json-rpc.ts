import { isObject } from '#chains/rpc/is-object.ts';
import { redacted } from '#chains/rpc/redact.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/**
 * A JSON-RPC call together with the only accepted shape of its answer. `read` returns undefined for
 * any other.
 */
export interface RpcCall<T> {
  readonly method: string;
  readonly params: readonly unknown[];
  /** Matches an error message that stands for null; absent when no error does. */
  readonly nullWords?: RegExp;
  read(answer: unknown): T | undefined;
}

/**
 * `no-answer`: no usable answer arrived, and the call may have had its effect. `error-answer`: the
 * RPC node refused; its `data` may be anything.
 */
export type NodeFault =
  | { readonly kind: 'no-answer'; readonly detail: string }
  | { readonly kind: 'error-answer'; readonly code: number; readonly detail: string; readonly data: unknown };

/** One JSON-RPC node of the operator. */
export interface RpcNode {
  request<T>(call: RpcCall<T>): Promise<Result<T, NodeFault>>;
}

/** After this time an RPC node counts as unreachable, and the next one is called. */
export const TIMEOUT_MS = 10_000;

/**
 * The longest valid answer is a block with its hashes, about 100 kilobytes. A much longer one would
 * only fill the memory.
 */
export const MAX_RESPONSE_BYTES = 4_000_000;

/**
 * Codes of providers for 'too many requests' in a 200: -32005 EIP-1474, -32007 QuickNode, 429
 * Alchemy and Helius.
 */
const RATE_LIMITED = new Set([-32005, -32007, 429]);

/** Reads the parsed body of a JSON-RPC answer: `{ error, result }`. */
export function readAnswer(
  answer: unknown,
  secrets: readonly string[],
  nullWords?: RegExp,
): Result<unknown, NodeFault> {
  if (!isObject(answer)) return noAnswer('The response is not JSON-RPC.');
  const { error, result } = answer;
  if (error === undefined || error === null) return accepted(result);
  const { code, message, data = null } = isObject(error) ? error : {};
  if (typeof message === 'string' && nullWords?.test(message) === true) return accepted(null);
  const detail = redacted(
    typeof message === 'string' ? message : 'The RPC node returned an error without a message.',
    secrets,
  );
  const number = typeof code === 'bigint' ? Number.parseInt(code.toString(), 10) : code;
  if (typeof number !== 'number' || RATE_LIMITED.has(number)) return noAnswer(detail);
  return refused({ kind: 'error-answer', code: number, detail, data });
}

export function noAnswer(detail: string): { readonly ok: false; readonly refusal: NodeFault } {
  return refused({ kind: 'no-answer', detail });
}
