import { LARGEST_ANSWER_BYTES } from '#chains/json-rpc.ts';

/** What a node answered, whatever its status; or, in words without its address, why there is nothing. */
export type BoundedAnswer = { readonly status: number; readonly text: string } | { readonly fault: string };

/** The network itself, where nobody else is to fetch. */
const NETWORK: Pick<Fetcher, 'fetch'> = { fetch: (input: RequestInfo | URL, init?: RequestInit) => fetch(input, init) };

/** One request: redirects are not followed, nothing is tried again, and an answer may be so long and no longer. */
export async function boundedFetch(
  url: string,
  request: RequestInit,
  { timeoutMs, fetcher = NETWORK }: { readonly timeoutMs: number; readonly fetcher?: Pick<Fetcher, 'fetch'> },
): Promise<BoundedAnswer> {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const response = await fetcher.fetch(url, { ...request, redirect: 'manual', signal });
    const text = await textOf(response);
    return text === null ? { fault: 'an answer that is too long' } : { status: response.status, text };
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
