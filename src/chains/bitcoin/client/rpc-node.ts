import { parseJsonWithBigInts } from '@solana/rpc-spec-types';
import type { NoAnswer } from '#chains/rpc/bounded-fetch.ts';
import { boundedFetch } from '#chains/rpc/bounded-fetch.ts';
import type { NodeFault, RpcNode } from '#chains/rpc/json-rpc.ts';
import { noAnswer, TIMEOUT_MS } from '#chains/rpc/json-rpc.ts';
import { redacted, secretsOf } from '#chains/rpc/redact.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';

/** The one path that is sent by POST; all others are GET requests. */
export const SEND = 'tx';

const MISSING = 404;
const TOO_MANY = 429;

/**
 * Returns one Esplora server of the operator. A call's method is the path, with its parameters in
 * it. Whole numbers are read as BigInt. A server refuses with a status and a text, which become the
 * code and the detail. A 404 becomes null.
 */
export function connect(url: string, timeoutMs: number = TIMEOUT_MS): RpcNode {
  const secrets = secretsOf(url);
  const base = url.endsWith('/') ? url.slice(0, -1) : url;
  return {
    host: new URL(url).host,
    async request(call) {
      const { method: path, params, pruning } = call;
      const request = path === SEND ? { method: 'POST', body: String(params[0]) } : { method: 'GET' };
      const response = await boundedFetch(`${base}/${path}`, request, { timeoutMs, pruning });
      if ('fault' in response) return unanswered(path, response);
      const answer = bodyOf(response, secrets);
      if (!answer.ok) return answer;
      const value = call.read(answer.value);
      return value === undefined ? noAnswer(`${path}: The response of the RPC node is malformed.`) : accepted(value);
    },
  };
}

function unanswered(path: string, { fault, isTooLong }: NoAnswer): Result<never, NodeFault> {
  const detail = `${path}: ${fault}`;
  return isTooLong === true ? refused({ kind: 'no-answer', detail, because: 'too-long' }) : noAnswer(detail);
}

/** Returns the body as JSON, or else as text, because hashes arrive unquoted. */
function bodyOf(
  { status, text }: { readonly status: number; readonly text: string },
  secrets: readonly string[],
): Result<unknown, NodeFault> {
  if (status >= 500 || status === TOO_MANY) return noAnswer(`HTTP ${status}`);
  if (status === MISSING) return accepted(null);
  if (status !== 200)
    return refused({ kind: 'error-answer', code: status, detail: redacted(text, secrets), data: null });
  if (/^[0-9a-f]{64}$/.test(text)) return accepted(text);
  try {
    return accepted(parseJsonWithBigInts(text));
  } catch {
    return accepted(text);
  }
}
