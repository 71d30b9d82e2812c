import { isObject } from '#chains/rpc/is-object.ts';
import { redacted } from '#chains/rpc/redact.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/** A JSON-RPC call together with the only shape of answer that is believed. `read` gives undefined for any other. */
export interface RpcCall<T> {
  readonly method: string;
  readonly params: readonly unknown[];
  /** The words of an error that stands for null; absent where no error does. */
  readonly nullWords?: RegExp;
  read(answer: unknown): T | undefined;
}

/**
 * `no-answer`: nothing usable came back, and what was asked may have happened. `error-answer`: the node said no; what it adds to that in
 * `data` may be anything.
 */
export type NodeFault =
  | { readonly kind: 'no-answer'; readonly detail: string }
  | { readonly kind: 'error-answer'; readonly code: number; readonly detail: string; readonly data: unknown };

/** One JSON-RPC node of the operator. */
export interface RpcNode {
  request<T>(call: RpcCall<T>): Promise<Result<T, NodeFault>>;
}

/** Beyond this a node is as good as away; the next one is asked. */
export const TIMEOUT_MS = 10_000;

/** The longest honest answer is a block with its hashes, some 100 kilobytes. What is far beyond would only fill the memory. */
export const MAX_RESPONSE_BYTES = 4_000_000;

/** Codes by which providers say 'too many requests' in a 200: -32005 EIP-1474, -32007 QuickNode, 429 Alchemy and Helius. */
const RATE_LIMITED = new Set([-32005, -32007, 429]);

/** The body of a JSON-RPC answer, parsed: `{ error, result }`. */
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
