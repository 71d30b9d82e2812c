import { parseJsonWithBigInts } from '@solana/rpc-spec-types';
import { boundedFetch } from '#chains/rpc/bounded-fetch.ts';
import type { RpcNode } from '#chains/rpc/json-rpc.ts';
import { noAnswer, readAnswer, TIMEOUT_MS } from '#chains/rpc/json-rpc.ts';
import { secretsOf } from '#chains/rpc/redact.ts';
import { accepted } from '#domain/result.ts';

/**
 * Returns one RPC node of the operator. Whole numbers are read as BigInt: lamports are JSON numbers
 * there, and a double is exact only up to nine million SOL.
 */
export function connect(url: string, timeoutMs: number = TIMEOUT_MS): RpcNode {
  const secrets = secretsOf(url);
  return {
    host: new URL(url).host,
    async request(call) {
      const { method, params, maxBytes } = call;
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
      const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
      const response = await boundedFetch(url, request, { timeoutMs, maxBytes });
      if ('fault' in response) return noAnswer(`${method}: ${response.fault}`);
      // RPC nodes return JSON-RPC errors with any status.
      const parsed = parsedOf(response.text, maxBytes === undefined ? parseJsonWithBigInts : JSON.parse);
      if (parsed === null) return noAnswer(`${method}: HTTP ${response.status}: No usable response.`);
      const answer = readAnswer(parsed, secrets, call);
      if (!answer.ok) return answer;
      const value = call.read(answer.value);
      return value === undefined ? noAnswer(`${method}: The response of the RPC node is malformed.`) : accepted(value);
    },
  };
}

/** A long list takes seconds with BigInt: it has no amounts but in the bytes of accounts. */
function parsedOf(text: string, parse: (text: string) => unknown): unknown {
  try {
    return parse(text);
  } catch {
    return null;
  }
}
