import { parseJsonWithBigInts } from '@solana/rpc-spec-types';
import type { RpcNode } from '#chains/json-rpc.ts';
import { LARGEST_ANSWER_BYTES, noAnswer, readAnswer, TIMEOUT_MS } from '#chains/json-rpc.ts';
import { secretsOf } from '#chains/readable.ts';
import { accepted } from '#domain/result.ts';

/**
 * One node of the operator. Its whole numbers are read as BigInt: lamports are JSON numbers there, and a double ends at nine million SOL.
 * Redirects are not followed, nothing is tried again, and an answer may be so long and no longer.
 */
export function connect(url: string, timeoutMs: number = TIMEOUT_MS): RpcNode {
  const secrets = secretsOf(url);
  return {
    async ask(question) {
      const { method, params } = question;
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
      const told = await post(url, body, timeoutMs);
      if ('fault' in told) return noAnswer(`${method}: ${told.fault}`);
      const answer = readAnswer(told.answer, secrets);
      if (!answer.ok) return answer;
      const value = question.read(answer.value);
      return value === undefined ? noAnswer(`${method}: the node's answer has the wrong shape`) : accepted(value);
    },
  };
}

async function post(
  url: string,
  body: string,
  timeoutMs: number,
): Promise<{ readonly answer: unknown } | { readonly fault: string }> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    const text = await textOf(response);
    if (text === null) return { fault: 'an answer that is too long' };
    // Nodes put JSON-RPC errors into answers of any status.
    const answer = parsed(text);
    return answer === null ? { fault: `HTTP ${response.status}: no usable answer` } : { answer };
  } catch (error) {
    // Never the message: it may name the address, and that carries a key.
    return { fault: error instanceof Error && error.name === 'TimeoutError' ? 'no answer in time' : 'no answer' };
  }
}

/** Null for what goes on beyond the limit. */
async function textOf(response: Response): Promise<string | null> {
  const decoder = new TextDecoder();
  let [text, bytes] = ['', 0];
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > LARGEST_ANSWER_BYTES) return null;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function parsed(text: string): unknown {
  try {
    return parseJsonWithBigInts(text);
  } catch {
    return null;
  }
}
