/**
 * The buffer size of a read. An iteration over the stream would return four kilobytes at a time.
 */
const READ_AT_ONCE_BYTES = 65_536;

/**
 * Returns the body of a request, or null when it is longer than `maxBytes`. Reading stops at the
 * first byte beyond the limit and cancels the stream, so memory never holds more than the limit and
 * one chunk, whatever length the sender declares. Each chunk is copied: the stream returns a view
 * of the whole read buffer, so a sender of single bytes would otherwise hold 64 kilobytes with each
 * byte.
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
      // The cancellation is not awaited, because the sender may never notice it.
      reader.cancel().catch(() => {});
      return null;
    }
    chunks.push(value.slice());
  }
}

/**
 * Reports whether the declared length of a body is within `maxBytes`. A chunked body declares none.
 */
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
