/**
 * The number of bytes that a read of a stream waits for, unless the stream or the limit of the body
 * ends before.
 */
const READ_AT_ONCE_BYTES = 65_536;

/** A reader with the option `min` of the Streams standard, which the types of Workers lack. */
interface MinimumReader {
  read(
    view: Uint8Array<ArrayBuffer>,
    options: { readonly min: number },
  ): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/** Returns the declared length of a body in bytes, or null for a body in chunks. */
export function declaredLength({ headers }: Request): number | null {
  const text = headers.get('content-length');
  if (text === null || headers.has('transfer-encoding')) return null;
  return /^[0-9]{1,15}$/.test(text) ? Number.parseInt(text, 10) : Number.MAX_SAFE_INTEGER;
}

/**
 * Returns the bytes of a stream, or null for more than `maxBytes`. Each read waits for 64 kB: a
 * sender of chunks of one byte would otherwise cause a read for each, and 300 kB of them would cost
 * six seconds. Throws when the stream fails.
 */
export async function readAtMost(
  stream: ReadableStream<Uint8Array> | null,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer> | null> {
  if (stream === null) return new Uint8Array();
  const reader: MinimumReader = stream.getReader({ mode: 'byob' });
  const whole = new Uint8Array(maxBytes);
  let length = 0;
  for (;;) {
    const min = Math.min(READ_AT_ONCE_BYTES, maxBytes + 1 - length);
    const { done, value } = await reader.read(new Uint8Array(min), { min });
    const chunk = value ?? new Uint8Array();
    if (length + chunk.length > maxBytes) {
      // The cancellation is not awaited, because the sender may never notice it.
      reader.cancel().catch(() => {});
      return null;
    }
    whole.set(chunk, length);
    length += chunk.length;
    if (done) return whole.subarray(0, length);
  }
}
