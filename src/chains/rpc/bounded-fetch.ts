import { MAX_RESPONSE_BYTES } from '#chains/rpc/json-rpc.ts';

/**
 * An RPC node's answer with any status; or a text, without the URL, that explains why there is
 * none.
 */
export type BoundedAnswer = { readonly status: number; readonly text: string } | { readonly fault: string };

/** The network itself, when no other fetcher is given. */
const NETWORK: Pick<Fetcher, 'fetch'> = { fetch: (input: RequestInfo | URL, init?: RequestInit) => fetch(input, init) };

/**
 * Sends one request. It follows no redirects, does not retry, and limits the length of the answer.
 */
export async function boundedFetch(
  url: string,
  request: RequestInit,
  { timeoutMs, fetcher = NETWORK }: { readonly timeoutMs: number; readonly fetcher?: Pick<Fetcher, 'fetch'> },
): Promise<BoundedAnswer> {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetcher.fetch(url, { ...request, redirect: 'manual', signal });
    const text = await textOf(response);
    return text === null ? { fault: 'The response is too long.' } : { status: response.status, text };
  } catch (error) {
    // Never the message: it may contain the URL, which contains a key.
    return { fault: error instanceof Error && error.name === 'TimeoutError' ? 'No response in time.' : 'No response.' };
  }
}

/**
 * Iterating over a body returns four kilobytes at a time, which for the rounds of a signature takes
 * longer than all their processing.
 */
const READ_AT_ONCE_BYTES = 65_536;

/** Returns null for a body beyond the limit. */
async function textOf({ body }: Response): Promise<string | null> {
  if (body === null) return '';
  const reader = body.getReader({ mode: 'byob' });
  const decoder = new TextDecoder();
  let [text, bytes] = ['', 0];
  let room = new ArrayBuffer(READ_AT_ONCE_BYTES);
  for (;;) {
    const { done, value } = await reader.read(new Uint8Array(room));
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > MAX_RESPONSE_BYTES) {
      await reader.cancel();
      return null;
    }
    text += decoder.decode(value, { stream: true });
    room = value.buffer;
  }
}
