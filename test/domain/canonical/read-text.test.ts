import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import { readCanonical } from '#domain/canonical/read-text.ts';

const text = fc.string({ unit: 'binary', maxLength: 20 }).map((one) => one.toWellFormed());
const anyFields = fc.array(fc.tuple(text, fc.option(text)), { maxLength: 8 });

test('a hashed value is read back as the same value and type', () => {
  fc.assert(
    fc.property(text, anyFields, (domain, fields) => {
      const bytes = canonicalBytes(domain, fields);
      expect(readCanonical(bytes)).toEqual({ domain, fields });
      if (fields.length > 0) expect(() => readCanonical(bytes.slice(0, -1))).toThrow();
      expect(() => readCanonical(new Uint8Array([...bytes, 0]))).toThrow();
    }),
  );
});

const unit = fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code));
const anyText = fc.string({ unit, maxLength: 6 });
const anyList = fc.array(fc.tuple(anyText, fc.option(anyText)), { maxLength: 4 });

test('a list of fields has bytes exactly when its text is well-formed, and the bytes are read back as the same list', () => {
  fc.assert(
    fc.property(anyText, anyList, (domain, fields) => {
      const isWellFormed = [domain, ...fields.flat()].every((one) => one === null || one.isWellFormed());
      if (isWellFormed) expect(readCanonical(canonicalBytes(domain, fields))).toEqual({ domain, fields });
      else expect(() => canonicalBytes(domain, fields)).toThrow('well-formed');
    }),
    { numRuns: 1000 },
  );
});

test.each(['\uD800', '\uDFFF', 'a\uD83D', '\uDE00\uD83D'])('the text %j has no bytes in any position', (bad) => {
  const lists = [
    [bad, []],
    ['domain', [[bad, null]]],
    ['domain', [['name', bad]]],
  ] as const;
  for (const [domain, fields] of lists) expect(() => canonicalBytes(domain, fields)).toThrow('well-formed');
});

test('bytes that contain a lone surrogate are refused', () => {
  const bytes = canonicalBytes('abc', []);
  bytes.set([0xed, 0xa0, 0x80], 4);
  expect(() => readCanonical(bytes)).toThrow();
});

test('a third presence mark is invalid, and so is text that is not UTF-8', () => {
  const bytes = canonicalBytes('a', [['b', 'c']]);
  const marked = Uint8Array.from(bytes);
  marked[10] = 2;
  expect(() => readCanonical(marked)).toThrow('presence mark');
  const broken = Uint8Array.from(bytes);
  broken[4] = 0xff;
  expect(() => readCanonical(broken)).toThrow();
});

test('a text may begin with a byte order mark', () => {
  const fields = [['\uFEFFname', '\uFEFF']] as const;
  expect(readCanonical(canonicalBytes('\uFEFF', fields))).toEqual({ domain: '\uFEFF', fields });
});

test('truncated bytes are reported as truncated', () => {
  expect(() => readCanonical(canonicalBytes('abc', []).slice(0, 5))).toThrow('end too early');
});
