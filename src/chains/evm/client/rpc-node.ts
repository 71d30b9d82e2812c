import { createClient, http, rpcSchema } from 'viem';
import { parseHexBytes } from '#chains/evm/rules/hex.ts';
import type { NodeFault, RpcNode } from '#chains/rpc/json-rpc.ts';
import { MAX_RESPONSE_BYTES, noAnswer, readAnswer, TIMEOUT_MS } from '#chains/rpc/json-rpc.ts';
import type { ParsingBudget, Pruning } from '#chains/rpc/pruned-answer.ts';
import { optionalBudget, prunedResponse } from '#chains/rpc/pruned-answer.ts';
import { redacted, secretsOf } from '#chains/rpc/redact.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import { isJsonObject } from '#domain/json/untrusted-json.ts';

type AnyMethod = [{ Method: string; Parameters: readonly unknown[]; ReturnType: unknown }];

/** An RPC node may work for seconds on a long answer, and then sends it for as long. */
const LONG_ANSWER_TIMES = 3;

/**
 * Returns an RPC node whose requests viem sends. Its own retries are off (a retried send turns a
 * lost reply into a false 'already known'), and its error classes are unused (`raw`), because it
 * maps 'already known' to NonceTooLow.
 */
export function connect(url: string, timeoutMs: number = TIMEOUT_MS): RpcNode {
  const secrets = secretsOf(url);
  const client = clientOf(url, timeoutMs);
  const optional = optionalBudget();
  return {
    host: new URL(url).host,
    async request(call) {
      const { method, params, pruning } = call;
      const sender =
        pruning === undefined ? client : clientOf(url, LONG_ANSWER_TIMES * timeoutMs, { pruning, optional });
      const answer = await sender.request({ method, params }, { retryCount: 0 }).then(
        (value: unknown) => readAnswer(value, secrets, call),
        (error: unknown) => unanswered(`${method}: ${redacted(detailOf(error), secrets)}`, error),
      );
      if (!answer.ok) return refused(withRevertData(answer.refusal));
      const value = call.read(answer.value);
      return value === undefined ? noAnswer(`${method}: The response of the RPC node is malformed.`) : accepted(value);
    },
  };
}

/**
 * viem's time-out ends with the headers; the signal here also ends a body that never arrives.
 * Redirects are not followed, so only configured addresses are called.
 */
function clientOf(
  url: string,
  timeoutMs: number,
  long?: { readonly pruning: Pruning; readonly optional: ParsingBudget },
) {
  const transport = http(url, {
    raw: true,
    retryCount: 0,
    timeout: timeoutMs,
    maxResponseBodySize: MAX_RESPONSE_BYTES,
    fetchFn: async (input, init) => {
      const response = await fetch(input, { ...init, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) });
      return long === undefined ? response : prunedResponse(response, long.pruning, long.optional);
    },
  });
  return createClient({ transport, rpcSchema: rpcSchema<AnyMethod>() });
}

/** Returns the fault of an answer that did not arrive, or is too long to be read. */
function unanswered(detail: string, error: unknown): Result<never, NodeFault> {
  const cause = error instanceof Error ? error.cause : null;
  const names = [error, cause].map((one) => (one instanceof Error ? one.name : null));
  if (names.includes('ResponseBodyTooLargeError') || names.includes('AnswerTooLong'))
    return refused({ kind: 'no-answer', detail, because: 'too-long' });
  return names.includes('TimeoutError')
    ? refused({ kind: 'no-answer', detail, because: 'time-out' })
    : noAnswer(detail);
}

/**
 * Returns the fault with its revert data. Most RPC nodes put the data into `data`; some wrap it in
 * an object, and Nethermind writes `Reverted 0x…`.
 */
function withRevertData(fault: NodeFault): NodeFault {
  if (fault.kind === 'no-answer') return fault;
  const { data } = fault;
  if (typeof data === 'string') return { ...fault, data: parseHexBytes(data.replace(/^Reverted /, '')) };
  return { ...fault, data: isJsonObject(data) ? parseHexBytes(data['data']) : null };
}

/**
 * Returns the detail of an error, and never its `message`, because viem writes the URL and the
 * whole request into it.
 */
function detailOf(error: unknown): string {
  if (!(error instanceof Error)) return 'No response.';
  if (error.name === 'TimeoutError') return 'No response in time.';
  const { details, status } = error as Error & { readonly details?: unknown; readonly status?: unknown };
  const words = typeof details === 'string' && details !== '' ? details : 'No usable response.';
  return typeof status === 'number' ? `HTTP ${status}: ${words}` : words;
}
