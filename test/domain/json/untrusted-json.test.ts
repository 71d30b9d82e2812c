import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isJsonObject, jsonIn } from '#domain/json/untrusted-json.ts';

test.each([
  ['an empty text', ''],
  ['spaces', ' \n'],
  ['a word', 'undefined'],
  ['a part of an object', '{"a":1'],
  ['two values', '{} {}'],
  ['a trailing comma', '[1,]'],
  ['a name without quotation marks', '{a:1}'],
  ['single quotation marks', "'a'"],
  ['a comment', '{} // a'],
  ['NaN', 'NaN'],
  ['a leading zero', '01'],
  ['hex', '0x10'],
  ['a line break in a text', '"a\nb"'],
  ['a byte order mark', '\uFEFF{}'],
])('%s is not JSON and has no value', (_name, text) => {
  expect(jsonIn(text)).toBeUndefined();
});

test.each([
  ['null', 'null', null],
  ['false', 'false', false],
  ['zero', '0', 0],
  ['an empty text in quotation marks', '""', ''],
  ['an empty list', '[]', []],
  ['an object with spaces around it', ' {"a":{"b":[1,null]}}\r\n', { a: { b: [1, null] } }],
  ['a lone surrogate', String.raw`"\ud800"`, '\uD800'],
  ['a name that occurs twice', '{"a":1,"a":2}', { a: 2 }],
  ['names of the same letters, one of them escaped', String.raw`{"a":1,"\u0061":2}`, { a: 2 }],
  ['a number that no double has', '9007199254740993', 9007199254740992],
  ['a number beyond all doubles', '1e400', Number.POSITIVE_INFINITY],
])('%s is JSON', (_name, text, value) => {
  expect(jsonIn(text)).toStrictEqual(value);
});

test('every JSON text has its value, and no text throws', () => {
  fc.assert(
    fc.property(fc.json(), fc.string(), (text, other) => {
      expect(JSON.stringify(jsonIn(text))).toBe(JSON.stringify(JSON.parse(text)));
      jsonIn(other);
    }),
  );
});

test.each([
  ['closed', 100_000],
  ['open', 0],
])('brackets that are deeper than a stack and stay %s do not throw', (_name, closed) => {
  expect(Array.isArray(jsonIn('['.repeat(100_000) + ']'.repeat(closed)))).toBe(closed > 0);
});

test('a field with the name __proto__ changes no prototype', () => {
  const value = jsonIn('{"__proto__":{"isAdmin":true}}');
  expect(isJsonObject(value) && Object.keys(value)).toEqual(['__proto__']);
  expect(isJsonObject(value) && value['isAdmin']).toBeUndefined();
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
});

test.each(['{}', '{"a":1}', '{"length":0}', '{"0":"a"}', '{"__proto__":null}'])('%s is an object', (text) => {
  expect(isJsonObject(jsonIn(text))).toBe(true);
});

test.each(['null', '[]', '[{}]', 'true', '1', '"{}"', '""', 'no JSON'])('%s is no object', (text) => {
  expect(isJsonObject(jsonIn(text))).toBe(false);
});
