import { MAX_RESPONSE_BYTES } from '#chains/rpc/json-rpc.ts';

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
    return text === null ? { fault: 'The response is too long.' } : { status: response.status, text };
  } catch (error) {
    // Never the message: it may name the address, and that carries a key.
    return { fault: error instanceof Error && error.name === 'TimeoutError' ? 'No response in time.' : 'No response.' };
  }
}

/** An iteration over a body gives four kilobytes a turn, which for the rounds of a signature takes longer than all that is done with them. */
const READ_AT_ONCE_BYTES = 65_536;

/** Null for what goes on beyond the limit. */
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
