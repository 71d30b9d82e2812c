/**
 * Characters that are invisible, or that change the text around them on a screen: controls,
 * surrogates, unassigned and private ones, separators of lines, marks of direction, and everything
 * that Unicode lets a font ignore (variation selectors, fillers, U+034F). U+2800 is a blank letter.
 */
const UNSEEN = String.raw`[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}\u2800]`;

/**
 * Ours: the most marks above and below one letter that stay as they are. No written language needs
 * more; a stack of marks is painted over the lines around it.
 */
const MAX_MARKS = 3;
const ESCAPED = new RegExp(`${UNSEEN}|(?<=\\p{M}{${MAX_MARKS}})\\p{M}`, 'gu');

/** Characters that no note, name or memo needs: controls, line separators, marks of direction. */
const DECEPTIVE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

/**
 * Returns text of an unknown author with every character made visible, so that it cannot change
 * what a person reads around it. An invisible character becomes its code point: `⟨U+202E⟩`.
 *
 * @param linesStay true where the text is shown in full, in a block of its own
 */
export function visibleText(text: string, { linesStay = false } = {}): string {
  return text.replaceAll(ESCAPED, (letter) =>
    linesStay && letter === '\n' ? letter : `⟨U+${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase()}⟩`,
  );
}

/**
 * Reports whether text has characters by which it reads as something else. Names, notes and memos
 * with them are refused before anything is signed.
 */
export function isDeceptive(text: string): boolean {
  return DECEPTIVE.test(text);
}
