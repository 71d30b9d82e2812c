/** Long enough for every sign-in text and typed order; signers must read it. */
const MAX_MESSAGE_BYTES = 16 * 1024;

/** Returns what is wrong with the text of a message on any chain; null for a valid text. */
export function plainTextFault(text: string): string | null {
  return text.length === 0 ? 'Must not be empty.' : encodingFault(text);
}

/**
 * Returns what is wrong with the text under a standard that allows the empty message; null for a
 * valid text.
 */
export function encodingFault(text: string): string | null {
  if (!text.isWellFormed()) return 'Must be well-formed Unicode.';
  const bytes = new TextEncoder().encode(text).length;
  return bytes > MAX_MESSAGE_BYTES ? `Must have at most ${MAX_MESSAGE_BYTES} bytes in UTF-8.` : null;
}
