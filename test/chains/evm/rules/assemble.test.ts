import { secp256k1 } from '@noble/curves/secp256k1.js';
import fc from 'fast-check';
import type { Hex } from 'viem';
import { hexToBytes, keccak256, parseTransaction } from 'viem';
import { expect, test } from 'vitest';
import type { EcdsaSignatureParts } from '#chains/chain-rules.ts';
import { assembleTransaction, readSigned } from '#chains/evm/rules/assemble.ts';
import type { TransferIntent } from '#domain/transaction/intent.ts';
import { MALLORY, NATIVE, amount, attemptFor, present } from '../cast.ts';

/**
 * A transaction that anvil's first account signed: 1 wei to its second, nonce 0, at most 2 gwei, 1
 * wei of tip, 21,000 gas.
 */
const RAW: Hex =
  '0x02f868827a69800184773594008252089470997970c51812dc3a010c7d01b50e0d17dc79c80180c001a0a47eb869be1e4a07b681e7063df0270355cb7c5a899b179a80cb601de381a8f3a044967264754ab0d27600532eb0049fc2d29d8b11f8ec1ce53d2d30b481e53d69';

const INTENT: TransferIntent = {
  ...NATIVE,
  from: '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  to: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  amount: amount('1'),
};

const ATTEMPT = attemptFor(
  INTENT,
  { gasLimit: '21000', maxFeePerGas: '2000000000', maxPriorityFeePerGas: '1', maxFee: amount('42000000000000') },
  0n,
);

const parsed = parseTransaction(RAW);
const SIGNATURE: EcdsaSignatureParts = {
  r: hexToBytes(present(parsed.r)),
  s: hexToBytes(present(parsed.s)),
  yParity: 1,
};

function scalar(value: bigint): Uint8Array {
  return secp256k1.Point.Fn.toBytes(value);
}

const { ORDER } = secp256k1.Point.Fn;
const valueOf = (bytes: Uint8Array) => BigInt(`0x${Buffer.from(bytes).toString('hex')}`);

test('the bytes and the signature give exactly the transaction that anvil signed', () => {
  expect(assembleTransaction(INTENT, ATTEMPT, [SIGNATURE])).toEqual({
    ok: true,
    value: { raw: RAW, hash: keccak256(RAW) },
  });
});

test.each<[string, Partial<EcdsaSignatureParts>, string]>([
  ['the other parity', { yParity: 0 }, 'another wallet'],
  ['high s', { s: scalar(ORDER - valueOf(SIGNATURE.s)), yParity: 0 }, 'low-s'],
  ['another r', { r: scalar(valueOf(SIGNATURE.r) + 2n) }, ''],
  ['another s', { s: scalar(valueOf(SIGNATURE.s) + 1n) }, 'another wallet'],
  ['r of zero', { r: new Uint8Array(32) }, 'low-s'],
  ['s of zero', { s: new Uint8Array(32) }, 'low-s'],
  ['r beyond the order', { r: new Uint8Array(32).fill(255) }, 'low-s'],
  ['r and s changed round', { r: SIGNATURE.s, s: SIGNATURE.r }, ''],
  ['a short r', { r: SIGNATURE.r.subarray(1) }, '32 bytes'],
  ['a long s', { s: new Uint8Array(33) }, '32 bytes'],
  ['nothing', { r: new Uint8Array(), s: new Uint8Array() }, '32 bytes'],
])('a signature with %s is refused', (_name, change, words) => {
  const assembled = assembleTransaction(INTENT, ATTEMPT, [{ ...SIGNATURE, ...change }]);
  expect(assembled.ok ? 'assembled' : assembled.refusal.detail).toContain(words);
  expect(assembled.ok).toBe(false);
});

test.each<[string, Partial<TransferIntent>]>([
  ['another payer', { from: MALLORY }],
  ['another recipient', { to: MALLORY }],
  ['another amount', { amount: amount('2') }],
  ['a token', { tokenAddress: MALLORY }],
  ['another chain', { chain: 'eip155:1' }],
  ['a lower cap', { maxFee: amount('41999999999999') }],
])('a valid signature is refused for an intent with %s', (_name, change) => {
  expect(assembleTransaction({ ...INTENT, ...change }, ATTEMPT, [SIGNATURE]).ok).toBe(false);
});

test.each([
  ['digest', { signingDigest: `0x${'00'.repeat(32)}` }],
  ['nonce', { nonce: '1' }],
  ['fee', { maxFee: amount('1') }],
  ['payload', { payload: '0x02' }],
])('an attempt whose %s is not that of its bytes is refused', (_name, change) => {
  expect(assembleTransaction(INTENT, { ...ATTEMPT, ...change }, [SIGNATURE]).ok).toBe(false);
});

test('signed bytes are parsed into their signer and their unsigned part', () => {
  expect(readSigned(RAW)).toMatchObject({ ok: true, value: { from: INTENT.from, payload: ATTEMPT.payload } });
});

test('any other encoding of signed bytes is refused without an exception', () => {
  expect(readSigned(RAW.toUpperCase().replace('0X', '0x')).ok).toBe(false);
  expect(readSigned(`${RAW}00`).ok).toBe(false);
  expect(readSigned(ATTEMPT.payload).ok).toBe(false);
  // The parity as 2, and as 27. EIP-1559 allows only 0 and 1.
  expect(readSigned(RAW.replace('c001a0', 'c002a0')).ok).toBe(false);
  expect(readSigned(RAW.replace('c001a0', 'c01ba0')).ok).toBe(false);
  fc.assert(
    fc.property(fc.nat(RAW.length / 2 - 2), fc.integer({ min: 1, max: 255 }), (at, flip) => {
      const bytes = hexToBytes(RAW);
      bytes[at] = (bytes[at] ?? 0) ^ flip;
      const read = readSigned(`0x${Buffer.from(bytes).toString('hex')}`);
      // Changed bytes that still parse are a transaction of another account.
      if (read.ok) expect(read.value.from).not.toBe(INTENT.from);
    }),
    { numRuns: 300 },
  );
});
