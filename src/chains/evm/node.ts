import type { Hex } from 'viem';
import { createClient, http, rpcSchema } from 'viem';
import { parseHexBytes } from '#chains/evm/hex.ts';
import { isObject } from '#chains/evm/json.ts';
import type { Question } from '#chains/evm/question.ts';
import { readable, secretsOf } from '#chains/evm/readable.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/** `no-answer`: nothing usable came back, and what was asked may have happened. `error-answer`: the node said no. */
export type NodeFault =
  | { readonly kind: 'no-answer'; readonly detail: string }
  | { readonly kind: 'error-answer'; readonly code: number; readonly detail: string; readonly data: Hex | null };

/** One JSON-RPC node of the operator. */
export interface EvmNode {
  ask<T>(question: Question<T>): Promise<Result<T, NodeFault>>;
}

/** Beyond this a node is as good as away; the next one is asked. */
const TIMEOUT_MS = 10_000;

/** The longest honest answer is a block with its hashes, some 100 kilobytes. What is far beyond would only fill the memory. */
const LARGEST_ANSWER_BYTES = 4_000_000;

/** Codes by which providers say 'too many requests' in a 200: -32005 EIP-1474, -32007 QuickNode, 429 Alchemy. */
const RATE_LIMITED = new Set([-32005, -32007, 429]);

type AnyMethod = [{ Method: string; Parameters: readonly unknown[]; ReturnType: unknown }];

/**
 * viem carries the request, with its own retries off (a retried send turns a lost reply into a false 'already known') and its
 * error classes unused (`raw`): it maps 'already known' to NonceTooLow. The time-out of viem ends with the headers; the signal
 * here also ends a body that never comes. Redirects are not followed: only configured addresses are talked to.
 */
export function connect(url: string, timeoutMs: number = TIMEOUT_MS): EvmNode {
  const secrets = secretsOf(url);
  const transport = http(url, {
    raw: true,
    retryCount: 0,
    timeout: timeoutMs,
    maxResponseBodySize: LARGEST_ANSWER_BYTES,
    fetchFn: (input, init) => fetch(input, { ...init, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) }),
  });
  const client = createClient({ transport, rpcSchema: rpcSchema<AnyMethod>() });
  return {
    async ask(question) {
      const { method, params } = question;
      const answer = await client.request({ method, params }, { retryCount: 0 }).then(
        (value: unknown) => readAnswer(value, secrets),
        (error: unknown) => noAnswer(`${method}: ${readable(detailOf(error), secrets)}`),
      );
      if (!answer.ok) return answer;
      const value = question.read(answer.value);
      return value === undefined ? noAnswer(`${method}: the node's answer has the wrong shape`) : accepted(value);
    },
  };
}

/** A JSON-RPC answer, as viem hands it over with `raw`: `{ error, result }`. */
function readAnswer(answer: unknown, secrets: readonly string[]): Result<unknown, NodeFault> {
  if (!isObject(answer)) return noAnswer('no JSON-RPC answer');
  const { error, result } = answer;
  if (error === undefined || error === null) return accepted(result);
  const { code, message, data } = isObject(error) ? error : {};
  const detail = readable(typeof message === 'string' ? message : 'an error without words', secrets);
  if (typeof code !== 'number' || RATE_LIMITED.has(code)) return noAnswer(detail);
  return refused({ kind: 'error-answer', code, detail, data: revertData(data) });
}

/** Most nodes put the revert data into `data`; some wrap it in an object, Nethermind writes `Reverted 0x…`. */
function revertData(data: unknown): Hex | null {
  if (typeof data === 'string') return parseHexBytes(data.replace(/^Reverted /, ''));
  return isObject(data) ? parseHexBytes(data['data']) : null;
}

/** Never `message`: viem writes the URL and the whole request into it. */
function detailOf(error: unknown): string {
  if (!isObject(error)) return 'no answer';
  if (error['name'] === 'TimeoutError') return 'no answer in time';
  const { details, status } = error;
  const words = typeof details === 'string' && details !== '' ? details : 'no usable answer';
  return typeof status === 'number' ? `HTTP ${status}: ${words}` : words;
}

function noAnswer(detail: string): { readonly ok: false; readonly refusal: NodeFault } {
  return refused({ kind: 'no-answer', detail });
}
