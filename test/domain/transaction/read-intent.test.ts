import { expect, test } from 'vitest';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import type { CanonicalField } from '#domain/canonical/bytes.ts';
import { InvalidDocument } from '#domain/canonical/field-reader.ts';
import { readIntent } from '#domain/transaction/read-intent.ts';
import { readCanonical } from '#domain/canonical/read-text.ts';
import { intentBytes } from '#domain/transaction/intent.ts';
import { messageIntent } from '../cast.ts';

/** Covers the optional fields of a message; test/approval-page/ covers the other kinds. */

const typed = { ...messageIntent(), format: 'eip712' as const, message: '{}' };

/** The bytes of a message with these fields after its text. */
function withExtras(extras: readonly CanonicalField[]): Uint8Array {
  const { domain, fields } = readCanonical(intentBytes(typed));
  return canonicalBytes(
    domain,
    fields.flatMap((field) => (field[0] === 'message' ? [field, ...extras] : [field])),
  );
}

test('a foreign chain id and a number of dropped keys are read from the bytes of a message', () => {
  for (const extras of [{}, { foreignChainId: '1337' }, { droppedKeys: 2 }, { foreignChainId: '0', droppedKeys: 1 }]) {
    const intent = { ...typed, ...extras };
    expect(readIntent(intentBytes(intent))).toEqual(intent);
  }
  expect(readIntent(intentBytes({ ...typed, format: 'eip191-hex', message: '0xab' })).kind).toBe('message');
});

test.each<[string, readonly CanonicalField[]]>([
  ['a foreign chain id in hex', [['foreignChainId', '0x1']]],
  ['a foreign chain id with a leading zero', [['foreignChainId', '01']]],
  ['an empty foreign chain id', [['foreignChainId', null]]],
  ['a number of dropped keys that is no number', [['droppedKeys', 'many']]],
  [
    'dropped keys before the foreign chain id',
    [
      ['droppedKeys', '1'],
      ['foreignChainId', '1337'],
    ],
  ],
  ['a memo', [['memo', 'x']]],
])('a message with %s is not read', (_name, extras) => {
  expect(() => readIntent(withExtras(extras))).toThrow(InvalidDocument);
});
