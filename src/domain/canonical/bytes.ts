/**
 * One named value of something that is hashed. `null` means absent, which differs from the empty
 * text.
 */
export type CanonicalField = readonly [name: string, value: string | null];

/**
 * Returns the one encoding of everything that Conclave hashes and signs. Each string is preceded by
 * its length in bytes, so no two different lists of fields share an encoding (the ambiguous
 * concatenation that broke several threshold-signing systems). The domain prevents an approval from
 * being read as a policy or the other way round.
 *
 * Throws for a string with a lone surrogate. UTF-8 has no bytes for it, and `TextEncoder` writes
 * U+FFFD in its place, so two different strings would share an encoding. Each boundary refuses such
 * text first: HTTP bodies in `http/edge/body/well-formed-body.ts`, requests to co-signers in
 * `textOf` of `cosigner/request-parser.ts`.
 *
 *     text(domain) || for each field: text(name) || 0x00            when absent
 *                                     text(name) || 0x01 || text(value)
 *     text(s) = uint32be(length of UTF-8(s)) || UTF-8(s)
 */
export function canonicalBytes(domain: string, fields: readonly CanonicalField[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(largestSize(domain, fields));
  const view = new DataView(bytes.buffer);
  let offset = 0;
  const text = (value: string) => {
    if (!value.isWellFormed()) throw new Error('canonical text is not well-formed Unicode');
    const { written } = ENCODER.encodeInto(value, bytes.subarray(offset + LENGTH_BYTES));
    view.setUint32(offset, written);
    offset += LENGTH_BYTES + written;
  };
  text(domain);
  for (const [name, value] of fields) {
    text(name);
    bytes[offset] = value === null ? 0 : 1;
    offset += 1;
    if (value !== null) text(value);
  }
  return bytes.slice(0, offset);
}

const ENCODER = new TextEncoder();
const LENGTH_BYTES = 4;
/** UTF-8 takes at most three bytes for each UTF-16 code unit. */
const BYTES_PER_UNIT = 3;

function largestSize(domain: string, fields: readonly CanonicalField[]): number {
  let units = domain.length;
  for (const [name, value] of fields) units += name.length + (value?.length ?? 0);
  return units * BYTES_PER_UNIT + LENGTH_BYTES + fields.length * (2 * LENGTH_BYTES + 1);
}
