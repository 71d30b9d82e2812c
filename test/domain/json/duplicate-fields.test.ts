import fc from 'fast-check';
import { expect, test } from 'vitest';
import { duplicateFields } from '#domain/json/duplicate-fields.ts';

const pointersIn = (body: string) => duplicateFields(body).map(({ pointer }) => pointer);

test.each<[string, string, readonly string[]]>([
  ['a field', '{"note":"a","note":"b"}', ['/note']],
  ['an equal value', '{"a":1,"a":1}', ['/a']],
  ['a field that occurs three times', '{"a":1,"a":2,"a":3}', ['/a']],
  ['a name in escapes', String.raw`{"a":1,"\u0061":2}`, ['/a']],
  ['a name with a quotation mark', String.raw`{"\"":1,"\u0022":2}`, ['/"']],
  ['a name that ends with a backslash', String.raw`{"a\\":1,"a\\":2}`, ['/a\\']],
  ['the empty name', '{"":1,"":2}', ['/']],
  ['__proto__', '{"__proto__":1,"__proto__":2}', ['/__proto__']],
  ['a field of an object in a list', '[{"a":1},{"a":[7,{"b":1,"b":2}]}]', ['/1/a/1/b']],
  ['a field after an object', '{"a":{"b":1},"c":[{"d":2}],"a":3}', ['/a']],
  ['spaces around the name', '{ "a" : 1 ,\n\t"a" : 2 }', ['/a']],
  ['two fields, in their order', '{"a":1,"b":1,"b":2,"a":2}', ['/b', '/a']],
])('the pointer of the fault is that of %s', (_name, body, pointers) => {
  expect(pointersIn(body)).toEqual(pointers);
  expect(duplicateFields(body).every(({ code }) => code === 'duplicate-field')).toBe(true);
});

test.each([
  ['the same name in two objects', '{"a":{"a":1},"b":[{"a":1},{"a":2}]}'],
  ['a name that is also a value', '{"a":"a","b":["a","a"]}'],
  ['names in other spellings', '{"a":1,"A":2," a":3}'],
  ['a text with brackets and names', String.raw`{"a":"{\"a\":1,\"a\":2}","b":"]}\\"}`],
  ['names of surrogates', String.raw`{"\ud800":1,"\ud801":2}`],
  ['no JSON, which another check refuses', '{"a":1,"a":2'],
  ['no JSON with a bad escape', String.raw`{"\x":1,"\x":2}`],
  ['no JSON with commas and brackets', ',,]}"'],
  ['nothing', ''],
])('the check accepts %s', (_name, body) => {
  expect(duplicateFields(body)).toEqual([]);
});

test('a body of 30,000 nested brackets is read without recursion, and its pointer has a maximum length', () => {
  const lists = `${'['.repeat(30_000)}{"a":1,"a":2}${']'.repeat(30_000)}`;
  expect(pointersIn(lists)).toEqual(['/0'.repeat(32)]);
  const objects = `${'{"a":'.repeat(10_000)}{"b":1,"b":2}${'}'.repeat(10_000)}`;
  expect(pointersIn(objects)).toEqual(['/a'.repeat(32)]);
});

test('the response names ten faults at most', () => {
  const names = Array.from({ length: 30 }, (_, i) => `"${i}":1,"${i}":2`);
  expect(duplicateFields(`{${names.join()}}`)).toHaveLength(10);
});

/** A JSON value as it is written: an object is a list of fields, so a name can occur twice. */
type Written =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly Written[] }
  | { readonly kind: 'object'; readonly fields: readonly (readonly [string, Written])[] };

/** Writes each text with some characters in escapes, and with spaces. */
function bodyOf(value: Written, isEscaped: () => boolean): string {
  const quoted = (text: string) =>
    isEscaped()
      ? `"${[...text].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`
      : JSON.stringify(text);
  if (value.kind === 'text') return ` ${quoted(value.text)}`;
  if (value.kind === 'list') return `[ ${value.items.map((item) => bodyOf(item, isEscaped)).join(' ,')}]`;
  return `{${value.fields.map(([name, inner]) => `${quoted(name)}: ${bodyOf(inner, isEscaped)}`).join(', ')}\n}`;
}

function referenceOf(value: Written, path: string): readonly string[] {
  if (value.kind === 'text') return [];
  if (value.kind === 'list') return value.items.flatMap((item, i) => referenceOf(item, `${path}/${i}`));
  return value.fields.flatMap(([name, inner], i) => {
    const pointer = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const isRepeated = value.fields.slice(0, i).some(([earlier]) => earlier === name);
    return [...(isRepeated ? [pointer] : []), ...referenceOf(inner, pointer)];
  });
}

test('the faults are those of a recursive reference, for any texts and escapes', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', '"', '\\', '{', '}', '[', ',', ':', '/', '~', 'é'),
    maxLength: 2,
  });
  const { any } = fc.letrec<{ any: Written }>((tie) => ({
    any: fc.oneof(
      { depthSize: 'small' },
      text.map((one): Written => ({ kind: 'text', text: one })),
      fc.array(tie('any'), { maxLength: 3 }).map((items): Written => ({ kind: 'list', items })),
      fc.array(fc.tuple(text, tie('any')), { maxLength: 4 }).map((fields): Written => ({ kind: 'object', fields })),
    ),
  }));
  const escapes = fc.infiniteStream(fc.boolean());
  fc.assert(
    fc.property(any, escapes, (value, isEscaped) => {
      const body = bodyOf(value, () => isEscaped.next().value);
      JSON.parse(body);
      expect(pointersIn(body)).toEqual([...new Set(referenceOf(value, ''))].slice(0, 10));
    }),
    { numRuns: 500 },
  );
});
