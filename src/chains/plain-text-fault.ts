/** Long enough for every sign-in text and typed order; people have to read it. */
const MOST_MESSAGE_BYTES = 16 * 1024;

/** What is wrong with the text of a message, in words, on whichever chain; null when nothing is. */
export function plainTextFault(text: string): string | null {
  if (text.length === 0) return 'is empty';
  if (!text.isWellFormed()) return 'is not well-formed Unicode';
  const bytes = new TextEncoder().encode(text).length;
  return bytes > MOST_MESSAGE_BYTES ? `has at most ${MOST_MESSAGE_BYTES} bytes in UTF-8` : null;
}
