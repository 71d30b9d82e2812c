import fc from 'fast-check';
import type { Hex } from 'viem';
import { encodeFunctionData, erc20Abi, keccak256, parseTransaction, serializeTransaction, toBytes, toRlp } from 'viem';
import { expect, test } from 'vitest';
import { composeTransaction } from '#chains/evm/rules/compose.ts';
import { inspectPayload } from '#chains/inspect/payload.ts';
import { UINT256_MAX, amountOf } from '#domain/asset/amount.ts';
import type { TransferIntent } from '#domain/transaction/intent.ts';
import { ANVIL, BOB, DOLLAR, MALLORY, NATIVE, QUOTE, TOKEN, TREASURY, amount, attemptFor } from '../cast.ts';

const transferData = (to: Hex, value: bigint) =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, value] });

/** The fields of an honest payload, in order; each test replaces one. */
const nativeFields = {
  chainId: '0x7a69',
  nonce: '0x04',
  tip: '0x0f4240',
  fee: '0x77359400',
  gas: '0xea60',
  to: BOB.toLowerCase(),
  value: '0x03e8',
  data: '0x',
};
const tokenFields = { ...nativeFields, to: DOLLAR.toLowerCase(), value: '0x', data: transferData(BOB, 25_000_000n) };

type Fields = typeof nativeFields;
type Item = Hex | Item[];

function bytesOf(fields: Partial<Fields>, base: Fields = nativeFields, ...more: Item[]): Hex {
  const list = [...Object.values({ ...base, ...fields }).map(hex), [], ...more];
  return `0x02${toRlp(list).slice(2)}`;
}

function hex(text: string): Hex {
  return `0x${text.slice(2)}`;
}

test('an honest payment passes, and its fields are those that viem reads', () => {
  const { payload, signingDigest, maxFee } = attemptFor(NATIVE);
  expect(payload).toBe(bytesOf({}));
  expect(inspectPayload(NATIVE, payload)).toEqual({
    ok: true,
    value: {
      kind: 'transaction',
      signingDigest: toBytes(keccak256(hex(payload))),
      signedMessages: [toBytes(keccak256(hex(payload)))],
      maxFee: 120_000_000_000_000n,
      bid: { nonce: 4n, maxFee: 2_000_000_000n, maxTip: 1_000_000n, minRisePercent: 110n },
    },
  });
  expect(signingDigest).toBe(keccak256(hex(payload)));
  expect(maxFee).toBe('120000000000000');
  expect(parseTransaction(hex(payload))).toMatchObject({ type: 'eip1559', chainId: 31337, nonce: 4, value: 1000n });
});

test('an honest token transfer is the call of the ERC-20 standard, with no value', () => {
  const { payload } = attemptFor(TOKEN);
  expect(payload).toBe(bytesOf({}, tokenFields));
  expect(inspectPayload(TOKEN, payload).ok).toBe(true);
  expect(parseTransaction(hex(payload))).toMatchObject({
    to: DOLLAR.toLowerCase(),
    data: transferData(BOB, 25_000_000n),
  });
});

test('composed bytes equal those of viem, for every amount and nonce', () => {
  const any = fc.record({
    units: fc.bigInt({ min: 0n, max: UINT256_MAX }),
    nonce: fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
    token: fc.boolean(),
    gasLimit: fc.bigInt({ min: 21_000n, max: 2n ** 24n }),
    tip: fc.bigInt({ min: 0n, max: 10n ** 12n }),
    base: fc.bigInt({ min: 0n, max: 10n ** 12n }),
  });
  fc.assert(
    fc.property(any, ({ units, nonce, token, gasLimit, tip, base }) => {
      const fee = tip + 2n * base;
      const intent = { ...(token ? TOKEN : NATIVE), amount: amountOf(units), maxFee: amountOf(gasLimit * fee) };
      const quote = {
        gasLimit: `${gasLimit}`,
        maxFeePerGas: `${fee}`,
        maxPriorityFeePerGas: `${tip}`,
        maxFee: intent.maxFee,
      };
      const composed = composeTransaction(intent, quote, BigInt(nonce));
      const call = token ? { to: hex(DOLLAR), data: transferData(BOB, units) } : { to: hex(BOB), value: units };
      const fees = { maxFeePerGas: fee, maxPriorityFeePerGas: tip, gas: gasLimit };
      expect(composed.payload).toBe(serializeTransaction({ type: 'eip1559', chainId: 31337, nonce, ...fees, ...call }));
      const inspected = inspectPayload(intent, composed.payload);
      expect(inspected).toMatchObject({ ok: true, value: { kind: 'transaction', bid: { nonce: BigInt(nonce) } } });
    }),
  );
});

test.each<[string, Partial<Fields>, string]>([
  ['another chain', { chainId: '0x01' }, 'wrong-chain'],
  ['no chain', { chainId: '0x' }, 'wrong-chain'],
  ['another recipient', { to: MALLORY.toLowerCase() }, 'wrong-recipient'],
  ['one bit of the recipient', { to: '0xfb6916095ca1df60bb79ce92ce3ea74c37c5d358' }, 'wrong-recipient'],
  ['the token instead of the recipient', { to: DOLLAR.toLowerCase() }, 'wrong-recipient'],
  ['one wei more', { value: '0x03e9' }, 'wrong-value'],
  ['one wei less', { value: '0x03e7' }, 'wrong-value'],
  ['no value', { value: '0x' }, 'wrong-value'],
  ['calldata on a payment', { data: '0x00' }, 'wrong-data'],
  ['a nonce that no account can have', { nonce: '0xffffffffffffffff' }, 'nonce-out-of-range'],
  ['no gas', { gas: '0x' }, 'gas-out-of-range'],
  ['gas that no node can hold', { gas: '0x010000000000000000', fee: '0x', tip: '0x' }, 'gas-out-of-range'],
  ['a tip above the fee', { tip: '0x77359401' }, 'tip-above-fee'],
  ['one wei over the cap', { gas: '0x01', fee: '0x016345785d8a0001' }, 'fee-above-cap'],
  ['no recipient: a contract would be created', { to: '0x' }, 'malformed'],
  ['a short recipient', { to: '0xfb6916095ca1df60bb79ce92ce3ea74c37c5d3' }, 'malformed'],
  ['a long recipient', { to: '0x00fb6916095ca1df60bb79ce92ce3ea74c37c5d359' }, 'malformed'],
  ['a number of 33 bytes', { value: `0x01${'00'.repeat(32)}` }, 'malformed'],
  ['a padded number', { value: '0x0003e8' }, 'not-canonical'],
  ['a zero that is written out', { nonce: '0x00' }, 'not-canonical'],
])('a payment with %s is refused', (_name, fields, fault) => {
  expect(inspectPayload(NATIVE, bytesOf(fields))).toEqual({ ok: false, refusal: fault });
});

test.each<[string, Partial<Fields>, string]>([
  ['the recipient instead of the token', { to: BOB.toLowerCase() }, 'wrong-recipient'],
  ['native value beside the call', { value: '0x01' }, 'wrong-value'],
  ['another recipient in the call', { data: transferData(MALLORY, 25_000_000n) }, 'wrong-data'],
  ['another amount in the call', { data: transferData(BOB, 25_000_001n) }, 'wrong-data'],
  ['a byte behind the call', { data: `${tokenFields.data}00` }, 'wrong-data'],
  ['a byte less', { data: tokenFields.data.slice(0, -2) }, 'wrong-data'],
  ['no call', { data: '0x' }, 'wrong-data'],
  ['approve instead of transfer', { data: `0x095ea7b3${tokenFields.data.slice(10)}` }, 'wrong-data'],
  ['dirty bytes above the address', { data: tokenFields.data.replace('a9059cbb00', 'a9059cbb01') }, 'wrong-data'],
])('a token transfer with %s is refused', (_name, fields, fault) => {
  expect(inspectPayload(TOKEN, bytesOf(fields, tokenFields))).toEqual({ ok: false, refusal: fault });
});

const honest = bytesOf({});

test.each<[string, string, string]>([
  ['nothing', '', 'malformed'],
  ['0x alone', '0x', 'unsupported-type'],
  ['the type alone', '0x02', 'malformed'],
  ['no 0x', honest.slice(2), 'malformed'],
  ['upper-case hex', honest.toUpperCase().replace('0X', '0x'), 'malformed'],
  ['half a byte', `${honest}0`, 'malformed'],
  ['a byte behind', `${honest}00`, 'malformed'],
  ['a byte less', honest.slice(0, -2), 'malformed'],
  ['type 0: the list alone', `0x${honest.slice(4)}`, 'unsupported-type'],
  ['type 1', honest.replace('0x02', '0x01'), 'unsupported-type'],
  ['type 3, blobs', honest.replace('0x02', '0x03'), 'unsupported-type'],
  ['type 4, set code', honest.replace('0x02', '0x04'), 'unsupported-type'],
  ['a tenth field', bytesOf({}, nativeFields, '0x01'), 'malformed'],
  ['a signed transaction', bytesOf({}, nativeFields, '0x01', '0x01', '0x01'), 'malformed'],
  ['eight fields', `0x02${toRlp(Object.values(nativeFields).map(hex)).slice(2)}`, 'malformed'],
  [
    'an access list',
    `0x02${toRlp([...Object.values(nativeFields).map(hex), [[hex(BOB), []]]]).slice(2)}`,
    'access-list',
  ],
  [
    'text instead of the access list',
    `0x02${toRlp([...Object.values(nativeFields).map(hex), '0x']).slice(2)}`,
    'access-list',
  ],
  [
    'a list instead of a number',
    `0x02${toRlp([[], ...Object.values(nativeFields).slice(1).map(hex), []]).slice(2)}`,
    'malformed',
  ],
  ['a text instead of the list', `0x02${toRlp(hex(honest)).slice(2)}`, 'malformed'],
  ['a long length where a short one does', honest.replace('0x02ea', '0x02f82a'), 'not-canonical'],
  ['a byte with a length of its own', honest.replace('827a6904', '827a698104'), 'malformed'],
  ['a length that lies about the list', honest.replace(/^0x02../, '0x02c0'), 'malformed'],
  ['a length of 2^32', '0x02fbffffffff', 'malformed'],
  ['a length of 2^64', '0x02ffffffffffffffffff', 'malformed'],
  ['lists in lists in lists', `0x02${'c1'.repeat(500)}c0`, 'malformed'],
  ['a megabyte', `0x02${'00'.repeat(1_000_000)}`, 'malformed'],
])('%s is refused', (_name, payload, fault) => {
  expect(inspectPayload(NATIVE, payload)).toEqual({ ok: false, refusal: fault });
});

test('a byte string of one byte with a length prefix is refused, even if all lengths fit', () => {
  const length = (honest.length - 6) / 2 + 1;
  const padded = `0x02${(0xc0 + length).toString(16)}${honest.slice(6)}`.replace('827a6904', '827a698104');
  expect(inspectPayload(NATIVE, padded)).toEqual({ ok: false, refusal: 'not-canonical' });
});

test.each<[string, Partial<Record<keyof TransferIntent, unknown>>, string]>([
  ['another family', { chain: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' }, 'intent-not-canonical'],
  ['a chain name', { chain: 'anvil' }, 'unsupported-chain'],
  ['a padded chain id', { chain: 'eip155:031337' }, 'intent-not-canonical'],
  ['a chain id in hex', { chain: 'eip155:0x7a69' }, 'intent-not-canonical'],
  ['chain 0', { chain: 'eip155:0' }, 'intent-not-canonical'],
  ['another kind', { kind: 'approve' }, 'intent-not-canonical'],
  ['a transaction to pay for', { paysFor: 'ab'.repeat(32) }, 'intent-not-canonical'],
  ['a recipient in lower case', { to: BOB.toLowerCase() }, 'intent-not-canonical'],
  ['the zero address', { to: `0x${'0'.repeat(40)}` }, 'intent-not-canonical'],
  ['a payer that is no address', { from: 'treasury' }, 'intent-not-canonical'],
  ['a token that is no address', { tokenAddress: '' }, 'intent-not-canonical'],
  ['a negative amount', { amount: '-1000' }, 'intent-not-canonical'],
  ['a padded amount', { amount: '01000' }, 'intent-not-canonical'],
  ['an amount in hex', { amount: '0x3e8' }, 'intent-not-canonical'],
  ['an amount above uint256', { amount: (UINT256_MAX + 1n).toString() }, 'intent-not-canonical'],
  ['an endless fee', { maxFee: 'Infinity' }, 'intent-not-canonical'],
  ['a number for an amount', { amount: 1000 }, 'intent-not-canonical'],
  ['a list around the amount', { amount: ['1000'] }, 'intent-not-canonical'],
  ['a list around the recipient', { to: [BOB] }, 'intent-not-canonical'],
  ['no payer', { from: null }, 'intent-not-canonical'],
  ['no word about the token', { tokenAddress: undefined }, 'intent-not-canonical'],
  ['a number for a chain', { chain: 31337 }, 'unsupported-chain'],
])('an intent with %s is refused, whatever the bytes', (_name, fields, fault) => {
  const intent: TransferIntent = Object.assign({}, NATIVE, fields);
  expect(inspectPayload(intent, honest)).toEqual({ ok: false, refusal: fault });
});

test('bytes for one intent are refused for any other intent', () => {
  const others: TransferIntent[] = [
    { ...NATIVE, to: MALLORY },
    { ...NATIVE, amount: amount('1001') },
    { ...NATIVE, chain: 'eip155:1' },
    { ...NATIVE, tokenAddress: DOLLAR },
    { ...NATIVE, maxFee: amount('119999999999999') },
  ];
  for (const other of others) expect(inspectPayload(other, honest).ok).toBe(false);
  // A fee of exactly the cap is accepted.
  expect(inspectPayload({ ...NATIVE, maxFee: amount('120000000000000') }, honest).ok).toBe(true);
});

test('a mutated payload that still passes has the same effect, for no more than the cap', () => {
  const mutation = fc.record({
    at: fc.nat(honest.length / 2 - 2),
    remove: fc.integer({ min: 0, max: 2 }),
    insert: fc.uint8Array({ maxLength: 2 }),
  });
  const intents = fc.constantFrom<[TransferIntent, Hex]>([NATIVE, honest], [TOKEN, bytesOf({}, tokenFields)]);
  fc.assert(
    fc.property(intents, mutation, ([intent, bytes], { at, remove, insert }) => {
      const middle = Buffer.from(insert).toString('hex');
      const mutated = hex(`${bytes.slice(0, 2 + 2 * at)}${middle}${bytes.slice(2 + 2 * (at + remove))}`);
      const inspected = inspectPayload(intent, mutated);
      if (!inspected.ok) return;
      const [before, after] = [parseTransaction(bytes), parseTransaction(mutated)];
      const effect = ({ chainId, to, value, data, accessList }: typeof after) => ({
        chainId,
        to,
        value,
        data,
        accessList,
      });
      expect(effect(after)).toEqual(effect(before));
      expect((after.gas ?? 0n) * (after.maxFeePerGas ?? 0n)).toBeLessThanOrEqual(BigInt(intent.maxFee));
      expect(inspected.value).toMatchObject({ bid: { nonce: BigInt(after.nonce ?? 0) } });
    }),
    { numRuns: 5000 },
  );
});

test('random bytes and random intents are refused without an exception', () => {
  const anyPayload = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.uint8Array({ maxLength: 300 }).map((bytes) => `0x02${Buffer.from(bytes).toString('hex')}`),
    fc
      .uint8Array({ maxLength: 54 })
      .map((bytes) => `0x02${(0xc0 + bytes.length).toString(16)}${Buffer.from(bytes).toString('hex')}`),
  );
  const text = fc.string({ unit: 'binary' });
  const anyIntent = fc.record({
    chain: fc.oneof(text, fc.constant(ANVIL)),
    from: text,
    to: text,
    amount: text,
    maxFee: text,
  });
  fc.assert(
    fc.property(anyPayload, anyIntent, (payload, fields) => {
      const hostile: TransferIntent = Object.assign({}, NATIVE, fields);
      expect(inspectPayload(NATIVE, payload).ok).toBe(false);
      expect(inspectPayload(hostile, honest).ok).toBe(false);
    }),
    { numRuns: 2000 },
  );
});

test('a composition with a fee above the cap is a bug and throws', () => {
  expect(() => composeTransaction({ ...NATIVE, maxFee: amount('1') }, QUOTE, 0n)).toThrow('fee-above-cap');
  expect(() => composeTransaction({ ...NATIVE, to: TREASURY.toLowerCase() }, QUOTE, 0n)).toThrow('canonical');
});
