import fc from 'fast-check';
import { hashTypedData, keccak256 } from 'viem';
import { expect, test } from 'vitest';
import { isTypedData, readTypedData, typedDataText } from '#chains/evm/rules/typed-data.ts';
import { typedDataPreimage } from '#chains/evm/rules/typed-data-hash.ts';

/** The example of EIP-712. */
const MAIL = {
  types: {
    EIP712Domain: [
      { name: 'name', type: 'string' },
      { name: 'version', type: 'string' },
      { name: 'chainId', type: 'uint256' },
      { name: 'verifyingContract', type: 'address' },
    ],
    Person: [
      { name: 'name', type: 'string' },
      { name: 'wallet', type: 'address' },
    ],
    Mail: [
      { name: 'from', type: 'Person' },
      { name: 'to', type: 'Person' },
      { name: 'contents', type: 'string' },
    ],
  },
  primaryType: 'Mail',
  domain: {
    name: 'Ether Mail',
    version: '1',
    chainId: 1,
    verifyingContract: '0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC',
  },
  message: {
    from: { name: 'Cow', wallet: '0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826' },
    to: { name: 'Bob', wallet: '0xbBbBBBBbbBBBbbbBbbBbbbbBBbBbbbbBbBbbBBbB' },
    contents: 'Hello, Bob!',
  },
};

function hashOf(value: unknown): string {
  const read = readTypedData(value);
  if (!read.ok) throw new Error(read.refusal);
  return keccak256(typedDataPreimage(read.value));
}

test('the example of EIP-712 has the hash of the standard', () => {
  expect(isTypedData(MAIL)).toBe(true);
  expect(hashOf(MAIL)).toBe('0xbe609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2');
});

test('typed data without its domain type gives the same hash, as in other wallets', () => {
  const { EIP712Domain: _domain, ...types } = MAIL.types;
  expect(hashOf({ ...MAIL, types })).toBe(hashOf(MAIL));
});

test('the canonical form is parsed back to itself', () => {
  const { EIP712Domain: _domain, ...types } = MAIL.types;
  const read = readTypedData({ ...MAIL, types });
  if (!read.ok) throw new Error(read.refusal);
  const text = typedDataText(read.value);
  const again = readTypedData(JSON.parse(text));
  expect(again.ok && typedDataText(again.value)).toBe(text);
});

const simple = (type: string, value: unknown, more: Record<string, unknown> = {}) => ({
  types: { Thing: [{ name: 'it', type }], ...more },
  primaryType: 'Thing',
  domain: { name: 'x' },
  message: { it: value },
});

test('every value that fits its type gives the hash of other implementations', () => {
  const bits = fc.integer({ min: 1, max: 32 }).map((bytes) => bytes * 8);
  const unsigned = bits.chain((width) =>
    fc.tuple(fc.constant(`uint${width}`), fc.bigInt({ min: 0n, max: 2n ** BigInt(width) - 1n }).map(String)),
  );
  const signed = bits.chain((width) => {
    const half = 2n ** BigInt(width - 1);
    return fc.tuple(fc.constant(`int${width}`), fc.bigInt({ min: -half, max: half - 1n }).map(String));
  });
  const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`;
  const fixed = fc
    .integer({ min: 1, max: 32 })
    .chain((size) =>
      fc.tuple(fc.constant(`bytes${size}`), fc.uint8Array({ minLength: size, maxLength: size }).map(hex)),
    );
  const atom = fc.oneof(
    unsigned,
    signed,
    fixed,
    fc.tuple(fc.constant('bytes'), fc.uint8Array().map(hex)),
    fc.tuple(fc.constant('bool'), fc.boolean()),
    fc.tuple(fc.constant('string'), fc.string({ unit: 'grapheme' })),
    fc.tuple(fc.constant('address'), fc.uint8Array({ minLength: 20, maxLength: 20 }).map(hex)),
  );
  const list = atom.chain(([type, value]) =>
    fc.integer({ min: 0, max: 3 }).map((count) => [`${type}[]`, Array.from({ length: count }, () => value)] as const),
  );
  fc.assert(
    fc.property(fc.oneof(atom, list), ([type, value]) => {
      const data = simple('Part', { a: value, b: value }, { Part: ['a', 'b'].map((name) => ({ name, type })) });
      expect(hashOf(data)).toBe(hashTypedData(data as unknown as Parameters<typeof hashTypedData>[0]));
    }),
    { numRuns: 500 },
  );
});

test('nested lists may have fixed and dynamic lengths', () => {
  const data = simple('uint8[2][]', [
    [1, 2],
    [3, 4],
  ]);
  expect(hashOf(data)).toBe(hashTypedData(data as unknown as Parameters<typeof hashTypedData>[0]));
});

const NODE = { Node: [{ name: 'next', type: 'Node' }] };
const person = { Person: [{ name: 'name', type: 'string' }] };

test.each<[string, unknown]>([
  ['Typed data must have', []],
  ['Typed data must have', 'text'],
  ['domain and message must be objects.', { ...MAIL, domain: null }],
  ['domain and message must be objects.', { ...MAIL, message: [] }],
  ['types must be an object', { ...MAIL, types: [] }],
  ['is not a struct type', { ...MAIL, types: { ...MAIL.types, uint8: [] } }],
  ['is not a struct type', { ...MAIL, types: { ...MAIL.types, 'A B': [] } }],
  ['is not a struct type', { ...MAIL, types: { ...MAIL.types, A: {} } }],
  ['is not a struct type', simple('A', {}, { A: [{ name: 'x', type: 'bool', hidden: 1 }] })],
  [
    'is not a struct type',
    simple(
      'A',
      { x: 1 },
      {
        A: [
          { name: 'x', type: 'uint8' },
          { name: 'x', type: 'uint8' },
        ],
      },
    ),
  ],
  ['type uint is not known', simple('uint', 1)],
  ['type uint7 is not known', simple('uint7', 1)],
  ['type bytes33 is not known', simple('bytes33', '0x')],
  ['type toString is not known', simple('toString', {})],
  ['type Absent[] is not known', simple('Absent[]', [])],
  ['primaryType must be', { ...MAIL, primaryType: 'Nobody' }],
  ['primaryType must be', { ...MAIL, primaryType: 'toString' }],
  ['message.it.name is missing', simple('Person', {}, person)],
  ['message.it must be an object', simple('Person', null, person)],
  [
    'domain.chainId is not declared',
    {
      ...MAIL,
      types: { ...MAIL.types, EIP712Domain: [{ name: 'name', type: 'string' }] },
      domain: { name: 'x', chainId: 1 },
    },
  ],
  ['is not a struct type', { ...MAIL, types: { ...MAIL.types, ':A': [] } }],
  ['is not a struct type', simple('A', {}, { A: [{ name: 'x:y', type: 'bool' }] })],
  ['message.it[0] must be an object', simple('Node[]', [null], NODE)],
  ['message.it.next must be an object', simple('Node', { next: 1 }, NODE)],
  ['message.it is missing', { ...simple('Person', {}, person), message: {} }],
  ['domain.colour is not declared', { ...simple('bool', true), domain: { colour: 'red' } }],
  ['the fields of the standard', simple('bool', true, { EIP712Domain: [{ name: 'name', type: 'bytes' }] })],
  [
    'the fields of the standard',
    simple('bool', true, {
      EIP712Domain: [
        { name: 'version', type: 'string' },
        { name: 'name', type: 'string' },
      ],
    }),
  ],
  [
    'domain.name is missing',
    { ...simple('bool', true, { EIP712Domain: [{ name: 'name', type: 'string' }] }), domain: {} },
  ],
  ['message.it is not a valid uint256', simple('uint256', 2 ** 53)],
  ['message.it is not a valid uint256', simple('uint256', 1.5)],
  ['message.it is not a valid uint256', simple('uint256', -1)],
  ['message.it is not a valid uint256', simple('uint256', '01')],
  ['message.it is not a valid uint256', simple('uint256', '1e3')],
  ['message.it is not a valid uint256', simple('uint256', true)],
  ['message.it is not a valid uint256', simple('uint256', (2n ** 256n).toString())],
  ['message.it is not a valid uint8', simple('uint8', 256)],
  ['message.it is not a valid int8', simple('int8', 128)],
  ['message.it is not a valid int8', simple('int8', -129)],
  ['message.it is not a valid bool', simple('bool', 1)],
  ['message.it is not a valid string', simple('string', 1)],
  ['message.it is not a valid string', simple('string', '\uD800')],
  ['message.it is not a valid address', simple('address', '0x12')],
  ['message.it is not a valid address', simple('address', '0xcCCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC')],
  ['message.it is not a valid bytes', simple('bytes', '0x1')],
  ['message.it is not a valid bytes4', simple('bytes4', '0x010203')],
  ['message.it is not a valid uint8[2]', simple('uint8[2]', [1])],
  ['message.it is not a valid uint8[]', simple('uint8[]', { length: 0 })],
  ['message.it[1] is not a valid uint8', simple('uint8[]', [1, 'x'])],
])('%s', (words, value) => {
  expect(readTypedData(value)).toEqual({ ok: false, refusal: expect.stringContaining(words) });
});

test('excessive nesting is refused without a stack overflow', () => {
  let value: unknown = {};
  for (let i = 0; i < 3000; i++) value = { next: [value] };
  const data = { ...simple('bool', true), types: { Thing: [{ name: 'next', type: 'Thing[]' }] }, message: value };
  expect(readTypedData(data)).toEqual({ ok: false, refusal: expect.stringContaining('nested too deeply') });
});

test('a type with more dimensions than any value is refused without a stack overflow', () => {
  for (const count of [80, 20_000]) {
    const data = simple(`uint8${'[]'.repeat(count)}`, []);
    expect(readTypedData(data)).toEqual({ ok: false, refusal: expect.stringContaining('is not a struct type') });
  }
  const deepest = JSON.parse(`${'['.repeat(16)}${']'.repeat(16)}`);
  expect(readTypedData(simple(`uint8[]${'[1]'.repeat(15)}`, deepest)).ok).toBe(true);
  const longest = simple(`uint256${'[9999]'.repeat(16)}`, []);
  expect(readTypedData(longest)).toEqual({ ok: false, refusal: expect.stringContaining('is not a valid uint256') });
});

function normal(value: unknown) {
  const read = readTypedData(value);
  if (!read.ok) throw new Error(read.refusal);
  return { text: JSON.parse(typedDataText(read.value)), droppedKeys: read.value.droppedKeys };
}

test('keys that no type declares are dropped at every depth, and counted', () => {
  const given = simple('Person[]', [{ extra: { name: 'x' }, name: 'a' }, { name: 'b' }], person);
  const message = { ...given.message, type: 'Thing' };
  const { text, droppedKeys } = normal({ ...given, message, account: '0x' });
  expect(text.message).toEqual({ it: [{ name: 'a' }, { name: 'b' }] });
  expect(Object.keys(text)).toEqual(['types', 'primaryType', 'domain', 'message']);
  expect(droppedKeys).toBe(3);
  expect(normal(given).droppedKeys).toBe(1);
  expect(normal(MAIL).droppedKeys).toBe(0);
});

test('dropping keys leaves the order of the others, which an earlier release has stored', () => {
  const { to, from, contents } = MAIL.message;
  const { text } = normal({ ...MAIL, message: { contents, extra: 1, to, from } });
  expect(Object.keys(text.message)).toEqual(['contents', 'to', 'from']);
});

test('a missing end of a recursive struct is shown as null', () => {
  const given = { ...simple('bool', true), primaryType: 'Node', types: NODE };
  expect(normal({ ...given, message: { next: {} } }).text.message).toEqual({ next: { next: null } });
  expect(normal({ ...given, message: {} }).text.message).toEqual({ next: null });
});

test('a missing end whose name every object inherits is refused, because libraries hash what it inherits', () => {
  for (const name of ['__proto__', 'constructor', 'toString']) {
    const given = { ...simple('bool', true), primaryType: 'Odd', types: { Odd: [{ name, type: 'Odd' }] }, message: {} };
    expect(readTypedData(given)).toEqual({ ok: false, refusal: `message.${name} is missing.` });
    const ended = { ...given, message: JSON.parse(`{"${name}":null}`) };
    expect(readTypedData(ended).ok).toBe(true);
  }
});

test('of the domain alone, every key of the message is dropped', () => {
  const { text, droppedKeys } = normal({ ...MAIL, primaryType: 'EIP712Domain' });
  expect([text.message, droppedKeys]).toEqual([{}, 3]);
});
