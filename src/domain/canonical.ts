/** One named value of something that is hashed. `null` is 'absent', which differs from the empty text. */
export type CanonicalField = readonly [name: string, value: string | null];

/**
 * The one encoding of everything that Conclave hashes and signs. Each string is preceded by its length in bytes, so no two
 * different lists of fields share an encoding (the ambiguous concatenation that broke several threshold-signing systems),
 * and the domain keeps an approval from being read as a policy or the other way round.
 *
 *     text(domain) || for each field: text(name) || 0x00            when absent
 *                                     text(name) || 0x01 || text(value)
 *     text(s) = uint32be(length of UTF-8(s)) || UTF-8(s)
 */
export function canonicalBytes(domain: string, fields: readonly CanonicalField[]): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  const chunks: Uint8Array[] = [];
  const text = (value: string) => {
    const bytes = encoder.encode(value);
    const length = new Uint8Array(4);
    new DataView(length.buffer).setUint32(0, bytes.length);
    chunks.push(length, bytes);
  };
  text(domain);
  for (const [name, value] of fields) {
    text(name);
    chunks.push(Uint8Array.of(value === null ? 0 : 1));
    if (value !== null) text(value);
  }
  const joined = new Uint8Array(chunks.reduce((total, chunk) => total + chunk.length, 0));
  let offset = 0;
  for (const chunk of chunks) {
    joined.set(chunk, offset);
    offset += chunk.length;
  }
  return joined;
}
