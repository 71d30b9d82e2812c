import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isDeceptive, visibleText } from '#domain/visible-text.ts';

const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}\p{Variation_Selector}]/u;

test('text of any kind is shown without a control or invisible character, and a shown text stays as it is', () => {
  const anyText = fc.array(fc.oneof(fc.nat(0x10ffff), fc.constantFrom(0x9b, 0x1b, 0xa, 0x202e, 0xfe0f, 0x34f)));
  fc.assert(
    fc.property(anyText, (points) => {
      const shown = visibleText(String.fromCodePoint(...points));
      expect(INVISIBLE.test(shown)).toBe(false);
      expect(visibleText(shown)).toBe(shown);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  ['an escape sequence', '\u001B[2K', '⟨U+1B⟩[2K'],
  ['a control sequence introducer of one character', '\u009B2K', '⟨U+9B⟩2K'],
  ['a variation selector', 'a\uFE0F', 'a⟨U+FE0F⟩'],
  ['a grapheme joiner', 'a\u034Fb', 'a⟨U+34F⟩b'],
  ['a Hangul filler', '\u3164', '⟨U+3164⟩'],
  ['a blank Braille pattern', '\u2800', '⟨U+2800⟩'],
  ['a lone surrogate', '\uD800', '⟨U+D800⟩'],
  ['a stack of marks', 'a\u0301\u0301\u0301\u0301', 'a\u0301\u0301\u0301⟨U+301⟩'],
])('%s is shown as its code point', (_name, text, shown) => {
  expect(visibleText(text)).toBe(shown);
});

test.each(['São Paulo', 'Việt Nam', '東京', 'שָׁלוֹם', 'नमस्ते', 'Δίκτυο', '💸'])(
  'the name %s is shown unchanged',
  (name) => {
    expect(visibleText(name)).toBe(name);
    expect(isDeceptive(name)).toBe(false);
  },
);

test('a line break stays only in a text that has a block of its own', () => {
  expect([visibleText('a\nb'), visibleText('a\nb', { linesStay: true })]).toEqual(['a⟨U+A⟩b', 'a\nb']);
});

test.each(['\u0000', '\n', '\u009B', '\u202E', '\u2028', '\uDC00'])('a text with %j is deceptive', (character) => {
  expect(isDeceptive(`rent${character}`)).toBe(true);
});
