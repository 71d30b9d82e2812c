import { expect, test } from 'vitest';
import { plainText } from '#http/encode/plain-text.ts';

/** Covers which texts of names and notes are refused because they read as other texts. */

const accepts = (text: string) => plainText(500).safeParse(text).success;

test.each([
  ['a zero-width space', 'alice\u200B'],
  ['a word joiner', 'alice\u2060'],
  ['a joiner between Latin letters', 'ali\u200Dce'],
  ['a soft hyphen', 'ali\u00ADce'],
  ['a tag character', 'alice\u{E0041}'],
  ['a Hangul filler', 'alice\u3164'],
  ['a variation selector', 'alice\uFE0F'],
  ['a blank Braille pattern', 'alice\u2800'],
  ['a private character', 'alice\uE000'],
  ['an unassigned character', 'alice\u0378'],
  ['a stack of marks', `a${'\u0301'.repeat(300)}`],
  ['a mark of direction', 'alice\u202E'],
  ['a control character', 'alice\u0000'],
])('%s is refused', (_name, text) => {
  expect([accepts('alice'), accepts(text)]).toEqual([true, false]);
});

test.each([
  ['an emoji with a variation selector', 'rent \u2764\uFE0F'],
  ['a sequence of emoji', 'team \u{1F469}\u200D\u{1F4BB}'],
  ['a flag of a region', '\u{1F3F4}\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}'],
  ['a Persian word', '\u0645\u06CC\u200C\u062E\u0648\u0627\u0647\u0645'],
  ['a Hindi word', '\u0915\u094D\u200D\u0937'],
  ['a Vietnamese name', 'Vi\u1EC7t Nam'],
])('%s is accepted', (_name, text) => {
  expect(accepts(text)).toBe(true);
});
