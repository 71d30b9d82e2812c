import fc from 'fast-check';
import { expect, test } from 'vitest';
import { illFormedTexts } from '#http/edge/body/well-formed-body.ts';

test.each<[string, unknown, readonly string[]]>([
  ['a text in the body itself', '\uD800', ['/']],
  ['a field', { note: 'Rent \uDFFF' }, ['/note']],
  ['a text in a list', { names: ['a', '\uD83D'] }, ['/names/1']],
  ['a text deep inside', { rules: { addressBook: [{ name: '\uDE00\uD83D' }] } }, ['/rules/addressBook/0/name']],
  ['the name of a field', { 'a\uD800': 1 }, ['/a\uFFFD']],
  ['a name with a slash and a tilde', { 'a/b~c': '\uD800' }, ['/a~1b~0c']],
  ['two fields, in their order', { a: '\uD800', b: 'b', c: '\uDC00' }, ['/a', '/c']],
])('the pointer of the fault is %s', (_name, body, pointers) => {
  const faults = illFormedTexts(JSON.stringify(body));
  expect(faults.map(({ pointer }) => pointer)).toEqual(pointers);
  expect(faults.every(({ code }) => code === 'ill-formed-text')).toBe(true);
});

test.each([
  ['a surrogate pair as it is', '{"note":"\u{1F600}"}'],
  ['a surrogate pair in escapes', String.raw`{"note":"\ud83d\uDE00"}`],
  ['an escaped backslash before an apparent escape', String.raw`{"note":"\\ud800"}`],
  ['the replacement character', String.raw`{"note":"\ufffd"}`],
  ['no JSON, which another check refuses', String.raw`{"note":"\ud800"`],
  ['nothing', ''],
])('the check accepts %s', (_name, body) => {
  expect(illFormedTexts(body)).toEqual([]);
});

test('a body of 30,000 nested brackets is read without recursion, and its pointer has a maximum length', () => {
  const deep = `${'['.repeat(30_000)}"\\ud800"${']'.repeat(30_000)}`;
  expect(illFormedTexts(deep).map(({ pointer }) => pointer)).toEqual(['/0'.repeat(32)]);
});

test('the response names ten faults at most', () => {
  const names = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`${i}\uD800`, '\uD800']));
  expect(illFormedTexts(JSON.stringify(names))).toHaveLength(10);
});

test('a value has a fault exactly when some text or name inside is ill-formed', () => {
  const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 5 }), fc.string({ unit: anyUnit, maxLength: 5 }));
  const value = fc.letrec((tie) => ({
    any: fc.oneof({ depthSize: 'small' }, text, fc.integer(), fc.constant(null), tie('list'), tie('object')),
    list: fc.array(tie('any'), { maxLength: 4 }),
    object: fc.dictionary(text, tie('any'), { maxKeys: 4 }),
  })).any;
  fc.assert(
    fc.property(value, (body) => {
      expect(illFormedTexts(JSON.stringify(body)).length > 0).toBe(textsOf(body).some((one) => !one.isWellFormed()));
    }),
  );
});

const anyUnit = fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit));

function textsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...textsOf(inner)]);
}
