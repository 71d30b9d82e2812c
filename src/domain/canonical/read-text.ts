import type { CanonicalField } from '#domain/canonical/bytes.ts';

/** The parsed form of hashed bytes: the inverse of `canonicalBytes`. */
export interface CanonicalText {
  readonly domain: string;
  readonly fields: readonly CanonicalField[];
}

const ABSENT = 0;
const PRESENT = 1;
const LENGTH_BYTES = 4;

/**
 * Returns the parsed bytes. Throws for bytes in another form: no bytes may be left over, and every
 * text must be UTF-8.
 */
export function readCanonical(bytes: Uint8Array): CanonicalText {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let offset = 0;
  const text = () => {
    const start = offset + LENGTH_BYTES;
    const end = start + view.getUint32(offset);
    if (end > bytes.length) throw new RangeError('The bytes end too early.');
    offset = end;
    return decoder.decode(bytes.subarray(start, end));
  };
  const domain = text();
  const fields: CanonicalField[] = [];
  while (offset < bytes.length) {
    const name = text();
    const mark = bytes[offset];
    offset += 1;
    if (mark !== ABSENT && mark !== PRESENT) throw new RangeError('A field has no valid presence mark.');
    fields.push([name, mark === ABSENT ? null : text()]);
  }
  return { domain, fields };
}
