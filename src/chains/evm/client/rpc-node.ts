import { createClient, http, rpcSchema } from 'viem';
import { parseHexBytes } from '#chains/evm/rules/hex.ts';
import { isObject } from '#chains/rpc/is-object.ts';
import type { NodeFault, RpcNode } from '#chains/rpc/json-rpc.ts';
import { MAX_RESPONSE_BYTES, noAnswer, readAnswer, TIMEOUT_MS } from '#chains/rpc/json-rpc.ts';
import { redacted, secretsOf } from '#chains/rpc/redact.ts';
import { accepted, refused } from '#domain/result.ts';

type AnyMethod = [{ Method: string; Parameters: readonly unknown[]; ReturnType: unknown }];

/**
 * Returns an RPC node whose requests viem sends. Its own retries are off (a retried send turns a
 * lost reply into a false 'already known'), and its error classes are unused (`raw`), because it
 * maps 'already known' to NonceTooLow. viem's time-out ends with the headers; the signal here also
 * ends a body that never arrives. Redirects are not followed, so only configured addresses are
 * called.
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

/**
 * Returns the fault with its revert data. Most RPC nodes put the data into `data`; some wrap it in
 * an object, and Nethermind writes `Reverted 0x…`.
 */
function withRevertData(fault: NodeFault): NodeFault {
  if (fault.kind === 'no-answer') return fault;
  const { data } = fault;
  if (typeof data === 'string') return { ...fault, data: parseHexBytes(data.replace(/^Reverted /, '')) };
  return { ...fault, data: isObject(data) ? parseHexBytes(data['data']) : null };
}

/**
 * Returns the detail of an error, and never its `message`, because viem writes the URL and the
 * whole request into it.
 */
function detailOf(error: unknown): string {
  if (!isObject(error)) return 'No response.';
  if (error['name'] === 'TimeoutError') return 'No response in time.';
  const { details, status } = error;
  const words = typeof details === 'string' && details !== '' ? details : 'No usable response.';
  return typeof status === 'number' ? `HTTP ${status}: ${words}` : words;
}
