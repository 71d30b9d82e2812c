import { expect, test } from 'vitest';
import { base64Of, envelopeOf, Malformed, textOf } from '#cosigner/request-parser.ts';

test('an envelope of any length is decoded to the bytes that were encoded', () => {
  for (let length = 0; length < 200; length++) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 31 + length) & 0xff);
    expect(envelopeOf(base64Of(bytes))).toEqual(bytes);
    // A subarray of a longer buffer is encoded without the rest of the buffer.
    expect(base64Of(Uint8Array.of(9, ...bytes, 9).subarray(1, length + 1))).toBe(base64Of(bytes));
  }
});

test.each([
  ['no text', 7],
  ['a character of no alphabet', 'AAA!'],
  ['a space in the middle', 'AAAA AAA'],
  ['a line break at the end', 'AAAA\n'],
  ['a group that is not whole', 'AAAAA'],
  ['padding in the middle', 'AA==AAAA'],
  ['nothing but padding', '===='],
  ['three paddings', 'A==='],
  ['no padding where it belongs', 'AA'],
  ['more than any envelope has', 'A'.repeat(1_000_004)],
  ['more bytes than any envelope has', new Uint8Array(750_001)],
])('%s is not accepted as an envelope', (_name, value) => {
  expect(() => envelopeOf(value)).toThrow(Malformed);
});

test('text with a lone surrogate is malformed, and text with a surrogate pair is accepted', () => {
  for (const text of ['\uD800', 'Rent \uDFFF', '\uDE00\uD83D']) expect(() => textOf(text)).toThrow(Malformed);
  for (const text of ['', '\uFFFD', '\u{1F600}']) expect(textOf(text)).toBe(text);
});
