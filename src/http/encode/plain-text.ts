import * as z from 'zod';
import { visibleText } from '#domain/visible-text.ts';

/**
 * Emoji, and the joiners between letters of the scripts that write with them. They have parts that
 * are invisible alone.
 */
const WRITTEN_WITH_JOINERS = String.raw`[\p{sc=Arabic}\p{sc=Devanagari}\p{sc=Bengali}\p{sc=Tamil}\p{sc=Malayalam}\p{sc=Sinhala}]`;
const SEEN = new RegExp(
  String.raw`\p{RGI_Emoji}|(?<=${WRITTEN_WITH_JOINERS})[\u200C\u200D](?=${WRITTEN_WITH_JOINERS})`,
  'gv',
);

/**
 * Returns the schema of a text that people read before they approve. The length counts characters,
 * not bytes.
 */
export function plainText(longest: number) {
  return z
    .string()
    .refine((text) => [...text].length <= longest, `Must have at most ${longest} characters.`)
    .refine(
      (text) => !hasUnseen(text),
      'Must not contain invisible characters, marks that change the direction of text, or stacks of marks.',
    );
}

/** Reports whether a part of a text is invisible, so that it reads as another text. */
function hasUnseen(text: string): boolean {
  const rest = text.replaceAll(SEEN, ' ');
  return visibleText(rest) !== rest;
}
