import { expect, test } from 'vitest';
import { randomBytes } from '@noble/hashes/utils.js';
import {
  decodeRoundAnswer,
  decodeRoundRequest,
  encodeRoundAnswer,
  encodeRoundRequest,
} from '#domain/access/round-body.ts';

const sid = randomBytes(32);
const round = 2;

test.each([
  ['no envelope', {}],
  ['one envelope', { 3: randomBytes(54_000) }],
  ['an empty envelope', { 1: new Uint8Array() }],
  ['four envelopes', { 1: randomBytes(5), 2: randomBytes(65_536), 4: randomBytes(1), 5: randomBytes(300) }],
])('a round with %s has the same content after its bytes were read', (_name, envelopes) => {
  expect(decodeRoundRequest(encodeRoundRequest({ sid, round, envelopes }))).toEqual({ sid, round, envelopes });
  expect(decodeRoundAnswer(encodeRoundAnswer({ sid, envelopes }))).toEqual({ sid, envelopes });
});

test('bytes that end in an envelope, or in a field before it, are no round', () => {
  const request = encodeRoundRequest({ sid, round, envelopes: { 1: randomBytes(3) } });
  const answer = encodeRoundAnswer({ sid, envelopes: { 1: randomBytes(3) } });
  for (let length = 0; length < request.length; length++) {
    const isWhole = length === sid.length + 1;
    expect([length, decodeRoundRequest(request.subarray(0, length)) !== null]).toEqual([length, isWhole]);
  }
  for (let length = 0; length < answer.length; length++) {
    const isWhole = length === sid.length;
    expect([length, decodeRoundAnswer(answer.subarray(0, length)) !== null]).toEqual([length, isWhole]);
  }
});

test('a round with two envelopes of one co-signer, or with a byte after the last one, is refused', () => {
  const one = encodeRoundAnswer({ sid, envelopes: { 1: Uint8Array.of(7) } });
  const twice = Uint8Array.of(...one, ...one.subarray(sid.length));
  expect([decodeRoundAnswer(twice), decodeRoundAnswer(Uint8Array.of(...one, 0))]).toEqual([null, null]);
});
