import * as z from 'zod';
import { isDeceptive } from '#domain/visible-text.ts';

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
