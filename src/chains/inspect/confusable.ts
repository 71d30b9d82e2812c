import { CONFUSABLE_LETTERS } from '#chains/inspect/confusable-letters.ts';

let targets: ReadonlyMap<string, string> | undefined;

/** Read when the first name is compared: a page that compares none does not wait for the table. */
function targetsOfLetters(): ReadonlyMap<string, string> {
  targets ??= new Map(
    CONFUSABLE_LETTERS.flatMap((line) => line.split(' ')).flatMap((entry) => {
      const [target = '', letters = ''] = entry.split(':');
      return [...letters].map((letter): [string, string] => [letter, target]);
    }),
  );
  return targets;
}

/**
 * Returns what two texts have in common that people read as the same. Look-alike letters are equal
 * (Unicode TS 39), also fullwidth and accented ones. Capitals, spaces, punctuation and invisible
 * characters are ignored. A text of nothing else, such as an emoji, stays as it is.
 */
export function skeletonOf(text: string): string {
  const plain = text
    .normalize('NFKD')
    .replaceAll(/[\p{M}\p{Cf}]/gu, '')
    .toUpperCase();
  const ofLetters = targetsOfLetters();
  const skeleton = [...plain].map((letter) => ofLetters.get(letter) ?? letter).join('');
  const letters = skeleton.replaceAll(/[^\p{L}\p{N}]/gu, '');
  return letters === '' ? text.normalize('NFKC') : letters;
}

/**
 * Returns two different texts of a list that look alike, the one that comes first first; null when
 * there are none.
 */
export function confusables(texts: readonly string[]): readonly [known: string, twin: string] | null {
  const bySkeleton = new Map<string, string>();
  for (const text of texts) {
    const skeleton = skeletonOf(text);
    const known = bySkeleton.get(skeleton);
    if (known !== undefined && known !== text) return [known, text];
    bySkeleton.set(skeleton, text);
  }
  return null;
}
