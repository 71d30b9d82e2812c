import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import unhomoglyph from 'unhomoglyph';

/**
 * `npm run confusable-letters`: writes the table of look-alike letters of `skeletonOf` from the
 * package `unhomoglyph`, which has the confusables of Unicode TS 39. The table has the rows that
 * change a skeleton. Two thirds of the package change none: a text is decomposed, stripped of marks
 * and capitalised before the look-up, and punctuation is removed after it.
 */

export const TABLE = resolve(import.meta.dirname, '../../../src/chains/inspect/confusable-letters.ts');

const MAX_ENTRY = 100;

/** Returns the skeleton of a text by the whole package. */
export function skeletonByPackage(text: string): string {
  const letters = lettersIn(unhomoglyph(plainOf(text)).normalize('NFKD').toUpperCase());
  return letters === '' ? text.normalize('NFKC') : letters;
}

/** Returns the source text of the table. */
export function confusableLetters(): string {
  const lines = packed([...lettersByTarget()].flatMap(([target, letters]) => entriesOf(target, letters)));
  return `/**
 * Look-alike letters of Unicode TS 39 by the letters that they look like, as \`target:letters\`.
 * \`npm run confusable-letters\` writes this file from unhomoglyph (MIT). Letters outside of ASCII
 * are escaped, because those of right-to-left scripts would change the order of a line.
 */
export const CONFUSABLE_LETTERS: readonly string[] = [
${lines.map((line) => `  '${line}',\n`).join('')}];
`;
}

/** Returns the letters of decomposed, capitalised texts that are replaced, by their targets. */
function lettersByTarget(): ReadonlyMap<string, ReadonlySet<string>> {
  const table = new Map<string, Set<string>>();
  for (let codePoint = 0; codePoint <= 0x10ffff; codePoint++) {
    for (const letter of plainOf(String.fromCodePoint(codePoint))) {
      const target = lettersIn(unhomoglyph(letter).normalize('NFKD').toUpperCase());
      if (target === lettersIn(letter)) continue;
      const letters = table.get(target) ?? new Set();
      table.set(target, letters.add(letter));
    }
  }
  return table;
}

function plainOf(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/[\p{M}\p{Cf}]/gu, '')
    .toUpperCase();
}

function lettersIn(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** Returns the entries of a target. A long one is divided, so that it fits a line. */
function entriesOf(target: string, letters: ReadonlySet<string>): readonly string[] {
  const entries: string[] = [];
  let entry = `${escaped(target)}:`;
  for (const letter of letters) {
    if (/[ :]/u.test(letter)) throw new Error(`'${letter}' separates entries and is not a letter of one`);
    if (entry.length + escaped(letter).length > MAX_ENTRY) {
      entries.push(entry);
      entry = `${escaped(target)}:`;
    }
    entry += escaped(letter);
  }
  return [...entries, entry];
}

/** Returns the entries in lines, divided by spaces. */
function packed(entries: readonly string[]): readonly string[] {
  const lines: string[] = [];
  for (const entry of entries) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + entry.length <= MAX_ENTRY) lines[lines.length - 1] = `${last} ${entry}`;
    else lines.push(entry);
  }
  return lines;
}

function escaped(text: string): string {
  return [...text].map((letter) => (/[!-&(-[\]-~]/u.test(letter) ? letter : escapedLetter(letter))).join('');
}

function escapedLetter(letter: string): string {
  const hex = (letter.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`;
}

if (import.meta.main) writeFileSync(TABLE, confusableLetters());
