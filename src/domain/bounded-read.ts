import { joinedBytes } from '#domain/joined-bytes.ts';

/**
 * The number of bytes that a read of a stream waits for, unless the stream or the limit ends
 * before.
 */
const READ_AT_ONCE_BYTES = 65_536;

/** A reader with the option `min` of the Streams standard, which the types of Workers lack. */
interface MinimumReader {
  read(
    view: Uint8Array<ArrayBuffer>,
    options: { readonly min: number },
  ): Promise<{ readonly done: boolean; readonly value?: Uint8Array<ArrayBuffer> | undefined }>;
  cancel(): Promise<void>;
}

/** Returns the declared length of a body in bytes, or null for a body in chunks. */
export function declaredLength({ headers }: Pick<Request, 'headers'>): number | null {
  const text = headers.get('content-length');
  if (text === null || headers.has('transfer-encoding')) return null;
  return /^[0-9]{1,15}$/.test(text) ? Number.parseInt(text, 10) : Number.MAX_SAFE_INTEGER;
}

/**
 * Returns the bytes of a body that declares this length. One read takes them, whatever the sender
 * sends after them. Fewer bytes are returned when the body ends before.
 */
export async function readDeclared(
  stream: ReadableStream<Uint8Array> | null,
  length: number,
): Promise<Uint8Array<ArrayBuffer>> {
  if (stream === null || length === 0) return new Uint8Array();
  const reader: MinimumReader = stream.getReader({ mode: 'byob' });
  const { value } = await reader.read(new Uint8Array(length), { min: length });
  return value ?? new Uint8Array();
}

/**
 * Returns the bytes of a body, or null for more than `maxBytes`. Reading stops at the first byte
 * beyond the limit and cancels the stream, so memory never holds more than the limit and one chunk,
 * whatever length the sender declares. Throws when the stream fails.
 *
 * Each read waits for 64 kB: a sender of chunks of one byte would otherwise cause a read for each,
 * and 300 kB of them would cost six seconds.
 *
 * @param atLeast the bytes that a read waits for instead
 */
export async function readAtMost(
  stream: ReadableStream<Uint8Array> | null,
  maxBytes: number,
  atLeast = READ_AT_ONCE_BYTES,
): Promise<Uint8Array<ArrayBuffer> | null> {
  if (stream === null) return new Uint8Array();
  const reader: MinimumReader = stream.getReader({ mode: 'byob' });
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const size = Math.min(READ_AT_ONCE_BYTES, maxBytes + 1 - length);
    const min = Math.min(atLeast, size);
    const { done, value = new Uint8Array() } = await reader.read(new Uint8Array(size), { min });
    length += value.length;
    if (length > maxBytes) {
      // The cancellation is not awaited, because the sender may never notice it.
      reader.cancel().catch(() => {});
      return null;
    }
    chunks.push(value);
    if (done) return joinedBytes(chunks);
  }
}
