import { visibleText } from '#domain/visible-text.ts';
import type { Description } from '#review/describe-intent.ts';
import type { Fact } from '#review/fact.ts';

/** Ours: a line fits into a terminal of 80 columns, so no terminal breaks it at a chosen place. */
const MAX_COLUMNS = 72;

/**
 * Returns what the signer reads before the question, line by line: every fact, and below them the
 * essential facts again, with the warnings last. Each line begins with a prefix of this command, so
 * no text of an author looks like a line of it.
 */
export function reviewLines({ title, facts, essentials, warnings }: Description): readonly string[] {
  return [
    ...facts.flatMap(factLines),
    '',
    ...wrapped(title, ''),
    ...essentials.flatMap(factLines),
    ...warnings.flatMap((warning) => wrapped(warning, '! ')),
  ];
}

/** Returns the lines of one fact. */
export function factLines({ label, text, address, raw }: Fact): readonly string[] {
  return [
    ...wrapped(`${label}: ${text}`, '  '),
    ...(address === undefined ? [] : wrapped(address, '    ')),
    ...(raw === undefined ? [] : raw.split('\n').flatMap((line) => wrapped(line, '    | '))),
  ];
}

/** Breaks a text into lines with a prefix. A letter outside ASCII may take two columns. */
function wrapped(text: string, prefix: string): readonly string[] {
  const lines: string[] = [];
  let [line, columns] = ['', 0];
  for (const letter of visibleText(text)) {
    const width = letter < '\u0080' ? 1 : 2;
    if (columns + width > MAX_COLUMNS) {
      lines.push(line);
      [line, columns] = ['', 0];
    }
    line += letter;
    columns += width;
  }
  return [...lines, line].map((one) => `${prefix}${one}`);
}
