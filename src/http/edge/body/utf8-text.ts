/**
 * Returns the text of bytes in UTF-8, or null for bytes that are not valid UTF-8. A lenient decoder
 * writes U+FFFD for them, so two different bodies would become equal, and a body would grow to
 * three times its length. A byte order mark at the start is omitted, as `Request.text()` does it.
 */
export function utf8TextOf(bytes: ArrayBuffer | Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    return null;
  }
}
