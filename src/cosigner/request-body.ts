/** Chunks of a request body are read with room for as much as this: an iteration would give four kilobytes a turn. */
const READ_AT_ONCE_BYTES = 65_536;

/**
 * Returns the body of a request, or null where it is longer than `maxBytes`. Reading stops at the first byte beyond: the stream is cancelled,
 * and memory never holds more than the limit and one chunk, whatever the sender claims about the length. Each chunk is copied: what the
 * stream gives is a view of the whole read buffer, so a sender of single bytes would hold 64 kilobytes with each.
 */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array<ArrayBuffer> | null> {
  const { body } = request;
  if (body === null) return new Uint8Array();
  const reader = body.getReader({ mode: 'byob' });
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read(new Uint8Array(READ_AT_ONCE_BYTES));
    if (done) return joined(chunks, length);
    length += value.length;
    if (length > maxBytes) {
      // Nobody waits for the sender to notice: it may never.
      reader.cancel().catch(() => {});
      return null;
    }
    chunks.push(value.slice());
  }
}

/** Reports whether the length that a request claims for its body is within `maxBytes`. A chunked body claims none. */
export function declaresAtMost({ headers }: Request, maxBytes: number): boolean {
  const claimed = headers.get('content-length');
  if (claimed === null) return true;
  return /^[0-9]{1,15}$/.test(claimed) && Number.parseInt(claimed, 10) <= maxBytes;
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
