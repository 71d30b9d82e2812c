import { MAX_RESPONSE_BYTES } from '#chains/rpc/json-rpc.ts';
import type { Pruning } from '#chains/rpc/pruned-answer.ts';
import { prunedResponse } from '#chains/rpc/pruned-answer.ts';
import { declaredLength, readAtMost, readDeclared } from '#domain/bounded-read.ts';

/** A text, without the URL, that explains why there is no answer. */
export interface NoAnswer {
  readonly fault: string;
  /** A smaller query may have an answer. */
  readonly isTooLong?: true;
}

const TOO_LONG: NoAnswer = { fault: 'The response is too long.', isTooLong: true };

/** An answer with any status. */
export type BoundedAnswer = { readonly status: number; readonly text: string } | NoAnswer;

/** The network itself, when no other fetcher is given. */
const NETWORK: Pick<Fetcher, 'fetch'> = { fetch: (input: RequestInfo | URL, init?: RequestInit) => fetch(input, init) };

interface Bounds {
  readonly timeoutMs: number;
  /** What to keep of a long answer; absent for one that is never long. */
  readonly pruning?: Pruning | undefined;
  readonly maxBytes?: number | undefined;
  readonly fetcher?: Pick<Fetcher, 'fetch'>;
}

/** Like `boundedBytes`, for an answer in UTF-8. */
export async function boundedFetch(url: string, request: RequestInit, bounds: Bounds): Promise<BoundedAnswer> {
  const answer = await boundedBytes(url, request, bounds);
  return 'fault' in answer ? answer : { status: answer.status, text: new TextDecoder().decode(answer.bytes) };
}

/**
 * Sends one request. It follows no redirects, does not retry, and limits the length of the answer.
 */
export async function boundedBytes(
  url: string,
  request: RequestInit,
  { timeoutMs, pruning, maxBytes = MAX_RESPONSE_BYTES, fetcher = NETWORK }: Bounds,
): Promise<{ readonly status: number; readonly type: string | null; readonly bytes: Uint8Array } | NoAnswer> {
  try {
    const signal = AbortSignal.timeout(timeoutMs);
    const whole = await fetcher.fetch(url, { ...request, redirect: 'manual', signal });
    const response = pruning === undefined ? whole : await prunedResponse(whole, pruning);
    const bytes = await bytesOf(response, maxBytes);
    if (bytes === null) return TOO_LONG;
    return { status: response.status, type: response.headers.get('content-type'), bytes };
  } catch (error) {
    if (error instanceof Error && error.name === 'AnswerTooLong') return TOO_LONG;
    // Never the message: it may contain the URL, which contains a key.
    return { fault: error instanceof Error && error.name === 'TimeoutError' ? 'No response in time.' : 'No response.' };
  }
}

/** Returns null for a body beyond the limit. */
async function bytesOf(response: Response, maxBytes: number): Promise<Uint8Array | null> {
  // A compressed body declares its compressed length.
  const declared = response.headers.has('content-encoding') ? null : declaredLength(response);
  // A node may send its answer in parts: each is read when it comes.
  if (declared === null) return readAtMost(response.body, maxBytes, 1);
  return declared > maxBytes ? null : readDeclared(response.body, declared);
}
