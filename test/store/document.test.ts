import { expect, test } from 'vitest';
import * as z from 'zod';
import { parseUserId } from '#domain/id.ts';
import { documentCodec, exactly, parsed, remembering } from '#store/document.ts';
import { UnreadableState } from '#store/object-schema.ts';
import { alice } from '../domain/cast.ts';

/** Covers the text of stored documents, with a letter of a person. */

interface Letter {
  readonly from: string;
  readonly pages: number;
  readonly stamp?: 'blue';
}

const codec = documentCodec<Letter>(
  'letter',
  exactly<Letter>()({ from: parsed(parseUserId), pages: z.int(), stamp: z.literal('blue').exactOptional() }),
  2,
);
const letter: Letter = { from: alice.userId, pages: 3 };

test('a document is stored with its version and read back', () => {
  const text = codec.encode(letter);
  expect(JSON.parse(text)).toEqual({ v: 2, ...letter });
  expect(codec.decode(text)).toEqual(letter);
  expect(codec.decode(codec.encode({ ...letter, stamp: 'blue' }))).toEqual({ ...letter, stamp: 'blue' });
});

test.each<[string, string, string]>([
  ['no JSON', '{"v":2,', 'a stored letter is damaged'],
  ['a list', '[]', 'a stored letter is damaged'],
  [
    'no version',
    JSON.stringify(letter),
    'a stored letter has version undefined; this release cannot read it, only version 2',
  ],
  [
    'an older version',
    JSON.stringify({ v: 1, ...letter }),
    'a stored letter has version 1; this release cannot read it, only version 2',
  ],
  ['a missing field', JSON.stringify({ v: 2, from: alice.userId }), 'a stored letter is damaged at pages'],
  [
    'an id that does not parse',
    JSON.stringify({ v: 2, ...letter, from: 'secret' }),
    'a stored letter is damaged at from',
  ],
  [
    'an absent value in an optional field',
    JSON.stringify({ v: 2, ...letter, stamp: null }),
    'a stored letter is damaged at stamp',
  ],
])('a text with %s is refused without a value of it', (_name, text, message) => {
  expect(() => codec.decode(text)).toThrow(new UnreadableState(message));
});

test('a remembering codec decodes a text that it has met once, and keeps the last ones only', () => {
  const decoded: string[] = [];
  const counted = {
    encode: codec.encode,
    decode: (text: string) => {
      decoded.push(text);
      return codec.decode(text);
    },
  };
  const remembered = remembering(counted, 10_000);
  const [written, stored] = [remembered.encode(letter), codec.encode({ ...letter, pages: 4 })];
  for (const text of [written, stored, written, stored]) expect(remembered.decode(text)).toEqual(codec.decode(text));
  expect(decoded).toEqual([stored]);
  for (let pages = 100; pages < 300; pages++) remembered.encode({ ...letter, pages });
  expect(remembered.decode(written)).toEqual(letter);
  expect(decoded).toEqual([stored, written]);
});
