import * as z from 'zod';

/**
 * Control characters, and the marks that reverse the direction of text: they make a note read as
 * something else.
 */
const DECEPTIVE = /[\p{Cc}\p{Cs}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u;

export function isDeceptive(text: string): boolean {
  return DECEPTIVE.test(text);
}

/**
 * Returns the schema of a text that people read before they approve. The length counts characters,
 * not bytes.
 */
export function plainText(longest: number) {
  return z
    .string()
    .refine((text) => [...text].length <= longest, `Must have at most ${longest} characters.`)
    .refine(
      (text) => !isDeceptive(text),
      'Must not contain control characters or marks that change the direction of text.',
    );
}
