import type { Pruning } from '#chains/rpc/pruned-answer.ts';
import { redacted } from '#chains/rpc/redact.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import { isJsonObject } from '#domain/json/untrusted-json.ts';

/**
 * A JSON-RPC call together with the only accepted shape of its answer. `read` returns undefined for
 * any other.
 */
export interface RpcCall<T> {
  readonly method: string;
  readonly params: readonly unknown[];
  /** Matches an error message that stands for null; absent when no error does. */
  readonly nullWords?: RegExp;
  /**
   * Reports whether an error with the code of a rate limit refuses the size of the query instead.
   * Absent when the code decides.
   */
  readonly requestsLess?: (message: string) => boolean;
  /** What to keep of a long answer; absent for an answer that is never long. */
  readonly pruning?: Pruning;
  /** The length up to which the answer is read as a whole; `MAX_RESPONSE_BYTES` when absent. */
  readonly maxBytes?: number;
  read(answer: unknown): T | undefined;
}

/**
 * `no-answer`: no usable answer arrived, and the call may have had its effect. `error-answer`: the
 * RPC node refused; its `data` may be anything.
 */
export type NodeFault =
  | {
      readonly kind: 'no-answer';
      readonly detail: string;
      /** Set when a smaller query may have an answer: it was too long, or took too long. */
      readonly because?: 'too-long' | 'time-out';
    }
  | { readonly kind: 'error-answer'; readonly code: number; readonly detail: string; readonly data: unknown };

/** One JSON-RPC node of the operator. */
export interface RpcNode {
  /** Host and port, for operators; without the keys that a URL may have. */
  readonly host: string;
  request<T>(call: RpcCall<T>): Promise<Result<T, NodeFault>>;
}

/** After this time an RPC node counts as unreachable, and the next one is called. */
export const TIMEOUT_MS = 10_000;

/** The length of an answer that is read as a whole. A longer one would only fill the memory. */
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
  { nullWords, requestsLess }: Pick<RpcCall<unknown>, 'nullWords' | 'requestsLess'> = {},
): Result<unknown, NodeFault> {
  if (typeof answer !== 'object' || answer === null) return noAnswer('The response is not JSON-RPC.');
  const { error, result }: { readonly error?: unknown; readonly result?: unknown } = answer;
  if (error === undefined || error === null) return accepted(result);
  const { code, message, data = null } = isJsonObject(error) ? error : {};
  if (typeof message === 'string' && nullWords?.test(message) === true) return accepted(null);
  const detail = redacted(
    typeof message === 'string' ? message : 'The RPC node returned an error without a message.',
    secrets,
  );
  const number = typeof code === 'bigint' ? Number.parseInt(code.toString(), 10) : code;
  const isForLess = typeof message === 'string' && requestsLess?.(message) === true;
  if (typeof number !== 'number' || (RATE_LIMITED.has(number) && !isForLess)) return noAnswer(detail);
  return refused({ kind: 'error-answer', code: number, detail, data });
}

export function noAnswer(detail: string): { readonly ok: false; readonly refusal: NodeFault } {
  return refused({ kind: 'no-answer', detail });
}
