import { parseSync } from 'oxc-parser';
import type { SourceFile } from './house.ts';
import { textsIn } from './source-texts.ts';

type Term = readonly [word: RegExp, term: string];

/** Words that are forbidden in comments and in user-facing texts, each with its replacement. */
const TERMS: readonly Term[] = [
  [/\b(?:nobody|somebody|anybody|whoever|nobody's|somebody's|someone|anyone's)\b/i, 'the role of the party'],
  [/\b(?:tells?|told|telling)\b/i, 'report, state or notify'],
  [/\b(?:voices?)\b/i, 'approval or device signature'],
  [/\b(?:owes?|owed|owing)\b/i, 'enqueue or pending job'],
  [/\b(?:wish|wishes|wished)\b/i, 'request or option'],
  [/\b(?:fleet|errands?|desks?|news)\b/i, 'node pool, task, commands or event'],
  [/\b(?:hasten|hurry|take back|takes back|taken back)\b/i, 'speed up or cancel'],
  [/\b(?:bears? witness|testif(?:y|ies)|unheard)\b/i, 'attest'],
  [/\bcan not\b/i, 'cannot'],
  [/\bby the word of\b|\bfor good\b|\bon (?:its|their) way\b/i, 'a plain phrase'],
];

/**
 * Words that are forbidden only in comments. User-facing texts may use them, because a text may ask
 * a person.
 */
const TERMS_OF_COMMENTS: readonly Term[] = [[/\b(?:asks?|asked|asking)\b/i, 'request, call or require']];

/**
 * Quotations, in which the words are allowed: messages of clients, and method names of other
 * programs.
 */
const QUOTED = /`[^`]*`|'[^']*'|"[^"]*"|“[^”]*”/gu;

/** Returns a fault for each comment and each user-facing text with a forbidden word. */
export function privateProse({ path, text }: SourceFile): readonly string[] {
  const { program, comments } = parseSync(path, text);
  const commented = comments.map(({ value }) => value.replaceAll(QUOTED, ''));
  return [
    ...commented.flatMap((one) => faultsIn(one, [...TERMS, ...TERMS_OF_COMMENTS])),
    ...sentencesIn(program).flatMap((one) => faultsIn(one, TERMS)),
  ];
}

function faultsIn(text: string, terms: readonly Term[]): readonly string[] {
  return terms.flatMap(([word, term]) => {
    const found = word.exec(text)?.[0];
    if (found === undefined) return [];
    return [`'${found}': write ${term}: ${text.replaceAll(/\s+/gu, ' ').trim().slice(0, 80)}`];
  });
}

/** Returns the string literals that contain a space. Codes, names and paths contain none. */
function sentencesIn(program: unknown): readonly string[] {
  return textsIn(program).flatMap(({ text }) => (text.trim().includes(' ') ? [text] : []));
}
