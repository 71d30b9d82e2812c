import fc from 'fast-check';
import { hashMessage, hashTypedData, hexToBytes, keccak256 } from 'viem';
import { expect, test } from 'vitest';
import { composeMessage } from '#chains/evm/rules/compose.ts';
import { assembleMessage, messagePreimage, readMessage, readRawMessage } from '#chains/evm/rules/message.ts';
import { inspectPayload } from '#chains/inspect/payload.ts';
import type { MessageIntent } from '#domain/transaction/intent.ts';
import cases from './message-cases.json' with { type: 'json' };
import { ANVIL, NATIVE, TREASURY } from '../cast.ts';

const { to: _to, tokenAddress: _token, amount: _amount, maxFee: _maxFee, ...frame } = NATIVE;

function said(text: string): MessageIntent {
  const read = readMessage(ANVIL, text);
  if (!read.ok) throw new Error(read.refusal);
  return { ...frame, kind: 'message', ...read.value };
}

const PERMIT = {
  types: {
    Permit: [
      { name: 'owner', type: 'address' },
      { name: 'value', type: 'uint256' },
    ],
  },
  primaryType: 'Permit',
  domain: { name: 'Dollar', chainId: 31337 },
  message: { owner: TREASURY, value: '115792089237316195423570985008687907853269984665640564039457584007913129639935' },
};

test('every text is hashed by EIP-191', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (text) => {
      expect(keccak256(messagePreimage(said(text)) ?? '0x')).toBe(hashMessage(text));
    }),
  );
});

test('JSON with the four parts of typed data is typed data, and any other JSON is text', () => {
  expect(said(JSON.stringify(PERMIT)).format).toBe('eip712');
  expect(said(JSON.stringify(PERMIT, null, 2)).message).toBe(said(JSON.stringify(PERMIT)).message);
  for (const words of ['{}', '{"types":{}}', '[]', '1', 'null', '{"types":{},"primaryType":"A","domain":{}}', '{']) {
    expect(said(words)).toMatchObject({ format: 'eip191', message: words });
  }
});

test('typed data is hashed by EIP-712', () => {
  const preimage = messagePreimage(said(JSON.stringify(PERMIT)));
  expect(keccak256(preimage ?? '0x')).toBe(hashTypedData(PERMIT as unknown as Parameters<typeof hashTypedData>[0]));
});

test.each([
  ['', 'Must not be empty.'],
  ['\uD800', 'well-formed'],
  ['x'.repeat(16_385), 'at most 16384 bytes'],
  ['é'.repeat(8_193), 'at most 16384 bytes'],
  [JSON.stringify({ ...PERMIT, domain: { chainId: 1 } }), 'set acceptForeignChainId to "1"'],
  [JSON.stringify({ ...PERMIT, domain: { chainId: '0x1' } }), 'set acceptForeignChainId to "1"'],
  [JSON.stringify({ ...PERMIT, message: {} }), 'message.owner is missing'],
])('the message %.20j gives %s', (text, words) => {
  expect(readMessage(ANVIL, text)).toEqual({ ok: false, refusal: expect.stringContaining(words) });
});

test('a duplicate JSON field is displayed with the value that is signed', () => {
  const text = JSON.stringify(PERMIT).replace('"value":"', '"value":"1","value":"');
  expect(said(text).message).toBe(said(JSON.stringify(PERMIT)).message);
});

test('the inspection accepts only the bytes of the message', () => {
  const intent = said('hello');
  const { payload, signingDigest } = composeMessage(intent);
  const hashed = hexToBytes(hashMessage('hello'));
  expect(inspectPayload(intent, payload)).toEqual({
    ok: true,
    value: { kind: 'message', signingDigest: hashed, signedMessages: [hashed] },
  });
  expect(signingDigest).toBe(hashMessage('hello'));
  const wrong = { ok: false, refusal: 'wrong-message' };
  for (const bytes of ['', '0x', `${payload}00`, payload.slice(0, -2), payload.toUpperCase(), '0x02c0']) {
    expect(inspectPayload(intent, bytes)).toEqual(wrong);
  }
});

test.each<[string, Partial<Record<keyof MessageIntent, unknown>>]>([
  ['another format', { format: 'eip712' }],
  ['a format that there is not', { format: 'raw' }],
  ['no text', { message: null }],
  ['a list', { message: ['hello'] }],
  ['an empty text', { message: '' }],
  ['half a character', { message: '\uDC00' }],
  ['typed data as words', { message: JSON.stringify(PERMIT) }],
  ['another spelling of typed data', { format: 'eip712', message: JSON.stringify(PERMIT, null, 1) }],
  ['a foreign chain id although it names no chain', { foreignChainId: '1' }],
  ['dropped keys although it is a text', { droppedKeys: 1 }],
  ['a text in place of bytes', { format: 'eip191-hex' }],
  ['bytes in upper case', { format: 'eip191-hex', message: '0xAB' }],
  ['half a byte', { format: 'eip191-hex', message: '0xa' }],
  ['no bytes', { format: 'eip191-hex', message: '0x' }],
  ['bytes for a foreign chain', { format: 'eip191-hex', message: '0xab', foreignChainId: '1' }],
  ['an invalid wallet', { from: 'treasury' }],
  ['a wallet in lower case', { from: TREASURY.toLowerCase() }],
  ['an invalid chain', { chain: 'eip155:' }],
])('an intent with %s has no bytes', (_name, change) => {
  const intent: MessageIntent = Object.assign({}, said('hello'), change);
  const { payload } = composeMessage(said('hello'));
  expect(inspectPayload(intent, payload).ok).toBe(false);
  expect(inspectPayload(intent, messagePreimage(intent) ?? '0x').ok).toBe(false);
});

test('the bytes of a message never begin like a transaction', () => {
  for (const intent of [said('\u0002'), said(JSON.stringify(PERMIT)), said('0x02f86f')]) {
    expect(messagePreimage(intent)).toMatch(/^0x19/);
  }
});

test('a signature that is not by the wallet is not returned', () => {
  const r = new Uint8Array(32).fill(1);
  for (const parts of [
    { r, s: r, yParity: 0 },
    { r: new Uint8Array(32), s: r, yParity: 0 },
    { r: r.slice(1), s: r, yParity: 1 },
  ] as const) {
    expect(assembleMessage(said('hello'), parts).ok).toBe(false);
  }
});

const FOREIGN = JSON.stringify({ ...PERMIT, domain: { name: 'Dollar', chainId: '0x1' } });

function foreign(): MessageIntent {
  const read = readMessage(ANVIL, FOREIGN, { acceptForeignChainId: '1' });
  if (!read.ok) throw new Error(read.refusal);
  return { ...frame, kind: 'message', ...read.value };
}

test('typed data for another chain id is signed when its creator names this id', () => {
  const intent = foreign();
  expect([intent.format, intent.foreignChainId]).toEqual(['eip712', '1']);
  expect(keccak256(messagePreimage(intent) ?? '0x')).toBe(hashTypedData(JSON.parse(intent.message)));
  for (const acceptForeignChainId of [undefined, '', '31337', '2', '0x1', '01']) {
    const fault = expect.stringContaining('domain.chainId is 1 and not the id of this chain, 31337.');
    expect(readMessage(ANVIL, FOREIGN, { acceptForeignChainId })).toEqual({ ok: false, refusal: fault });
  }
});

test('an acknowledgement of a foreign chain id is dropped where the message needs none', () => {
  for (const text of ['hello', JSON.stringify(PERMIT)]) {
    expect(readMessage(ANVIL, text, { acceptForeignChainId: '1' })).toEqual(readMessage(ANVIL, text));
  }
});

test.each<[string, MessageIntent]>([
  ['without the acknowledgement', omitting(foreign(), 'foreignChainId')],
  ['with the acknowledgement of another id', { ...foreign(), foreignChainId: '2' }],
  ['with another spelling of the id', { ...foreign(), foreignChainId: '0x1' }],
  ['of the own chain with an acknowledgement', { ...said(JSON.stringify(PERMIT)), foreignChainId: '31337' }],
  ['with no dropped keys', { ...foreign(), droppedKeys: 0 }],
  ['with a number of dropped keys that is a text', Object.assign(foreign(), { droppedKeys: '1' })],
])('a co-signer refuses typed data %s', (_name, intent) => {
  expect(messagePreimage(intent)).toBeNull();
  expect(inspectPayload(intent, messagePreimage(foreign()) ?? '0x')).toEqual({
    ok: false,
    refusal: 'intent-not-canonical',
  });
});

function omitting(intent: MessageIntent, field: 'foreignChainId'): MessageIntent {
  const { [field]: _omitted, ...rest } = intent;
  return rest;
}

test('typed data with undeclared keys is stored without them, and refused where it is stored with them', () => {
  const given = JSON.stringify({ ...PERMIT, message: { ...PERMIT.message, type: 'x' } });
  const intent = said(given);
  expect([intent.message, intent.droppedKeys]).toEqual([said(JSON.stringify(PERMIT)).message, 1]);
  expect(messagePreimage(intent)).toBe(messagePreimage(said(JSON.stringify(PERMIT))));
  const stored = { ...intent, message: intent.message.replace('"value":', '"type":"x","value":') };
  expect(messagePreimage(stored)).toBeNull();
});

test('typed data whose canonical text is too long is refused, because no co-signer would sign it', () => {
  const message = { owner: TREASURY, value: '1' };
  const types = { Permit: [...PERMIT.types.Permit, { name: 'text', type: 'string' }] };
  const bare = { ...PERMIT, types, message: { ...message, text: '' } };
  const text = 'x'.repeat(16_384 - JSON.stringify(bare).length);
  const given = JSON.stringify({ ...bare, message: { ...message, text } });
  expect(given).toHaveLength(16_384);
  expect(readMessage(ANVIL, given)).toEqual({ ok: false, refusal: expect.stringContaining('at most 16384 bytes') });
});

test('bytes are signed as bytes, and the same hex without the encoding as a text', () => {
  for (const { message, digestOfText, digestOfBytes } of cases.bytes.messages) {
    const raw = readRawMessage(message.replace('deadbeef', 'DEADbeef'));
    if (!raw.ok) throw new Error(raw.refusal);
    expect(raw.value).toEqual({ format: 'eip191-hex', message });
    const preimage = messagePreimage({ ...frame, ...raw.value }) ?? '0x';
    expect([keccak256(preimage), hashMessage({ raw: message as `0x${string}` })]).toEqual([
      digestOfBytes,
      digestOfBytes,
    ]);
    expect(keccak256(messagePreimage(said(message)) ?? '0x')).toBe(digestOfText);
  }
});

test.each(['', '0x', '0x1', 'deadbeef', '0Xab', '0xzz', 'hello', ` 0xab`, `0x${'ab'.repeat(8192)}`])(
  'the bytes %.20j are refused',
  (text) => {
    expect(readRawMessage(text)).toMatchObject({ ok: false });
  },
);

for (const { name, chain, typedData } of cases.typedData) {
  test(`the case ${name} can be created and signed`, () => {
    const caip2 = { hyperevm: 'eip155:999', ethereum: 'eip155:1', anvil: ANVIL }[chain] ?? '';
    const isForeign = name === 'foreign-chain';
    expect(readMessage(caip2, JSON.stringify(typedData)).ok).toBe(!isForeign);
    const read = readMessage(caip2, JSON.stringify(typedData), { acceptForeignChainId: '1337' });
    if (!read.ok) throw new Error(read.refusal);
    const { foreignChainId, droppedKeys } = read.value;
    expect([foreignChainId, droppedKeys]).toEqual([
      isForeign ? '1337' : undefined,
      name === 'undeclared-key' ? 1 : undefined,
    ]);
    expect(messagePreimage({ ...frame, chain: caip2, ...read.value })).not.toBeNull();
  });
}
