import { declaredLength, readAtMost } from '#domain/bounded-read.ts';

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
export async function rawBody(request: Request): Promise<Uint8Array<ArrayBuffer> | null> {
  const declared = declaredLength(request);
  if (declared !== null && declared > MAX_DELIVERY_BYTES) return null;
  const { body } = request;
  const encoding = (request.headers.get('content-encoding') ?? 'identity').toLowerCase();
  if (body === null || encoding === 'identity') {
    // HTTP ends a body at its declared length.
    return declared === null ? readAtMost(body, MAX_DELIVERY_BYTES) : new Uint8Array(await request.arrayBuffer());
  }
  if (encoding !== 'gzip') return null;
  try {
    return await readAtMost(body.pipeThrough(new DecompressionStream('gzip')), MAX_DELIVERY_BYTES);
  } catch {
    return null;
  }
}
