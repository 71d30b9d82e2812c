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
      const { method, params } = call;
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
      const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
      const response = await boundedFetch(url, request, { timeoutMs });
      if ('fault' in response) return noAnswer(`${method}: ${response.fault}`);
      // RPC nodes return JSON-RPC errors with any status.
      const parsed = parsedOf(response.text);
      if (parsed === null) return noAnswer(`${method}: HTTP ${response.status}: No usable response.`);
      const answer = readAnswer(parsed, secrets, call);
      if (!answer.ok) return answer;
      const value = call.read(answer.value);
      return value === undefined ? noAnswer(`${method}: The response of the RPC node is malformed.`) : accepted(value);
    },
  };
}

function parsedOf(text: string): unknown {
  try {
    return parseJsonWithBigInts(text);
  } catch {
    return null;
  }
}
