import { createClient, http, rpcSchema } from 'viem';
import { parseHexBytes } from '#chains/evm/rules/hex.ts';
import { isObject } from '#chains/rpc/is-object.ts';
import type { NodeFault, RpcNode } from '#chains/rpc/json-rpc.ts';
import { MAX_RESPONSE_BYTES, noAnswer, readAnswer, TIMEOUT_MS } from '#chains/rpc/json-rpc.ts';
import { redacted, secretsOf } from '#chains/rpc/redact.ts';
import { accepted, refused } from '#domain/result.ts';

type AnyMethod = [{ Method: string; Parameters: readonly unknown[]; ReturnType: unknown }];

/**
 * viem carries the request, with its own retries off (a retried send turns a lost reply into a false 'already known') and its
 * error classes unused (`raw`): it maps 'already known' to NonceTooLow. The time-out of viem ends with the headers; the signal
 * here also ends a body that never comes. Redirects are not followed: only configured addresses are talked to.
 */
export function connect(url: string, timeoutMs: number = TIMEOUT_MS): RpcNode {
  const secrets = secretsOf(url);
  const transport = http(url, {
    raw: true,
    retryCount: 0,
    timeout: timeoutMs,
    maxResponseBodySize: MAX_RESPONSE_BYTES,
    fetchFn: (input, init) => fetch(input, { ...init, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) }),
  });
  const client = createClient({ transport, rpcSchema: rpcSchema<AnyMethod>() });
  return {
    async request(call) {
      const { method, params } = call;
      const answer = await client.request({ method, params }, { retryCount: 0 }).then(
        (value: unknown) => readAnswer(value, secrets),
        (error: unknown) => noAnswer(`${method}: ${redacted(detailOf(error), secrets)}`),
      );
      if (!answer.ok) return refused(withRevertData(answer.refusal));
      const value = call.read(answer.value);
      return value === undefined ? noAnswer(`${method}: The response of the RPC node is malformed.`) : accepted(value);
    },
  };
}

/** Most nodes put the revert data into `data`; some wrap it in an object, Nethermind writes `Reverted 0x…`. */
function withRevertData(fault: NodeFault): NodeFault {
  if (fault.kind === 'no-answer') return fault;
  const { data } = fault;
  if (typeof data === 'string') return { ...fault, data: parseHexBytes(data.replace(/^Reverted /, '')) };
  return { ...fault, data: isObject(data) ? parseHexBytes(data['data']) : null };
}

/** Never `message`: viem writes the URL and the whole request into it. */
function detailOf(error: unknown): string {
  if (!isObject(error)) return 'No response.';
  if (error['name'] === 'TimeoutError') return 'No response in time.';
  const { details, status } = error;
  const words = typeof details === 'string' && details !== '' ? details : 'No usable response.';
  return typeof status === 'number' ? `HTTP ${status}: ${words}` : words;
}
