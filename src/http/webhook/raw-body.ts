/**
 * The limit of a delivery before and after decompression: its stored form has to fit into one row
 * of D1.
 */
export const MAX_DELIVERY_BYTES = 1024 * 1024;

/**
 * Returns the bytes that the signature covers, decompressed when the body is compressed. Returns
 * null for more than `MAX_DELIVERY_BYTES`, announced or measured, and for a body that is not valid
 * gzip although it declares gzip. A small body that decompresses to gigabytes is cut off at the
 * limit.
 */
export async function rawBody(request: Request): Promise<Uint8Array | null> {
  if (Number.parseInt(request.headers.get('content-length') ?? '0', 10) > MAX_DELIVERY_BYTES) return null;
  const { body } = request;
  if (body === null) return new Uint8Array();
  const encoding = (request.headers.get('content-encoding') ?? 'identity').toLowerCase();
  if (encoding === 'identity') return readWhole(body);
  if (encoding !== 'gzip') return null;
  try {
    return await readWhole(body.pipeThrough(new DecompressionStream('gzip')));
  } catch {
    return null;
  }
}

async function readWhole(stream: ReadableStream<Uint8Array>): Promise<Uint8Array | null> {
  const reader = stream.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > MAX_DELIVERY_BYTES) {
      await reader.cancel();
      return null;
    }
    chunks.push(value);
  }
  const whole = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    whole.set(chunk, offset);
    offset += chunk.length;
  }
  return whole;
}
