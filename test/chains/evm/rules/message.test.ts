import fc from 'fast-check';
import { hashMessage, hashTypedData, hexToBytes, keccak256 } from 'viem';
import { expect, test } from 'vitest';
import { composeMessage } from '#chains/evm/rules/compose.ts';
import { assembleMessage, messagePreimage, readMessage } from '#chains/evm/rules/message.ts';
import { inspectPayload } from '#chains/inspect/payload.ts';
import type { MessageIntent } from '#domain/transaction/intent.ts';
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
  [JSON.stringify({ ...PERMIT, domain: { chainId: 1 } }), 'the id of this chain'],
  [JSON.stringify({ ...PERMIT, domain: { chainId: '0x1' } }), 'the id of this chain'],
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
