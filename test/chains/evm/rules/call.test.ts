import fc from 'fast-check';
import type { Hex } from 'viem';
import { encodeFunctionData, erc20Abi, erc721Abi, parseAbi, serializeTransaction } from 'viem';
import { expect, test } from 'vitest';
import { callOf, MAX_CALLDATA_BYTES } from '#chains/evm/rules/call.ts';
import { composeTransaction } from '#chains/evm/rules/compose.ts';
import { decodeCall } from '#chains/evm/rules/decode-call.ts';
import { inspectPayload } from '#chains/inspect/payload.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { ContractInteractionIntent, Erc20ApproveIntent, OnChainIntent } from '#domain/transaction/intent.ts';
import { amount, BOB, DOLLAR, MALLORY, NATIVE, QUOTE } from '../cast.ts';

const { to: _to, tokenAddress: _token, amount: _amount, kind: _kind, ...frame } = NATIVE;
const CALL: ContractInteractionIntent = {
  ...frame,
  kind: 'contract-interaction',
  to: DOLLAR,
  data: '0xd0e30db0',
  value: amount('5'),
};
const ALLOWANCE: Erc20ApproveIntent = {
  ...frame,
  kind: 'erc20-approve',
  tokenAddress: DOLLAR,
  spender: BOB,
  amount: amount('25'),
};
const TO: Hex = DOLLAR;
const FEES = { maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 1_000_000n, gas: 60_000n };

test('the bytes of a contract call equal those of viem, for all calldata', () => {
  const data = fc.uint8Array({ maxLength: 300 }).map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`);
  fc.assert(
    fc.property(data, fc.bigInt({ min: 0n, max: 10n ** 20n }), (calldata, value) => {
      const intent = { ...CALL, data: calldata, value: amountOf(value) };
      const { payload } = composeTransaction(intent, QUOTE, 4n);
      expect(payload).toBe(
        serializeTransaction({ type: 'eip1559', chainId: 31337, nonce: 4, to: TO, value, data: calldata, ...FEES }),
      );
      expect(inspectPayload(intent, payload).ok).toBe(true);
    }),
  );
});

test('an allowance is the call of the ERC-20 standard, with no value', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (units) => {
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [BOB, units] });
      expect(callOf({ ...ALLOWANCE, amount: amountOf(units) })).toEqual({ to: DOLLAR, value: 0n, data });
    }),
  );
});

test('calldata has a maximum size, and the largest calldata still fits the bytes that are signed', () => {
  const largest = { ...CALL, data: `0x${'ab'.repeat(MAX_CALLDATA_BYTES)}` };
  const { payload } = composeTransaction(largest, QUOTE, 4n);
  expect(inspectPayload(largest, payload).ok).toBe(true);
  expect(callOf({ ...CALL, data: `${largest.data}00` })).toBeNull();
});

test.each<[string, OnChainIntent, object]>([
  ['another contract', CALL, { to: BOB }],
  ['another selector', CALL, { data: '0xd0e30db1' }],
  ['more calldata', CALL, { data: '0xd0e30db000' }],
  ['no calldata', CALL, { data: '0x' }],
  ['another value', CALL, { value: '6' }],
  ['another token', ALLOWANCE, { tokenAddress: MALLORY }],
  ['another spender', ALLOWANCE, { spender: MALLORY }],
  ['another allowance', ALLOWANCE, { amount: '26' }],
  ['another chain', ALLOWANCE, { chain: 'eip155:1' }],
])('bytes for %s are refused', (_name, intent, change) => {
  const { payload } = composeTransaction(Object.assign({}, intent, change), QUOTE, 4n);
  expect(inspectPayload(intent, payload).ok).toBe(false);
});

test.each<[string, object]>([
  ['calldata in capitals', { data: '0xD0E30DB0' }],
  ['half a byte of calldata', { data: '0xd0e' }],
  ['calldata that is no text', { data: ['0xd0e30db0'] }],
  ['no calldata at all', { data: null }],
  ['a value that is a number', { value: 5 }],
  ['a negative value', { value: '-5' }],
  ['a contract in lower case', { to: DOLLAR.toLowerCase() }],
  ['a kind that there is not', { kind: 'delegate-call' }],
])('an intent with %s has no bytes', (_name, change) => {
  const { payload } = composeTransaction(CALL, QUOTE, 4n);
  const hostile: OnChainIntent = Object.assign({}, CALL, change);
  expect(inspectPayload(hostile, payload)).toEqual({ ok: false, refusal: 'intent-not-canonical' });
});

test('a call of a known standard is described in words', () => {
  const transfer = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [BOB, 7n] });
  expect(decodeCall(transfer)).toEqual({
    standard: 'ERC-20',
    function: 'transfer',
    arguments: [
      { name: 'to', type: 'address', value: BOB },
      { name: 'amount', type: 'uint256', value: '7' },
    ],
  });
  const all = encodeFunctionData({ abi: erc721Abi, functionName: 'setApprovalForAll', args: [MALLORY, true] });
  expect(decodeCall(all)).toMatchObject({ standard: 'ERC-721', arguments: [{ value: MALLORY }, { value: true }] });
  const batch = parseAbi([
    'function safeBatchTransferFrom(address from, address to, uint256[] ids, uint256[] amounts, bytes data)',
  ]);
  const many = encodeFunctionData({ abi: batch, args: [BOB, MALLORY, [1n, 2n], [3n, 4n], '0x'] });
  expect(decodeCall(many)).toMatchObject({
    standard: 'ERC-1155',
    arguments: [{ value: BOB }, { value: MALLORY }, { value: ['1', '2'] }, { value: ['3', '4'] }, { value: '0x' }],
  });
  const seven = parseAbi(['function safeTransferFrom(address from, address to, uint256 tokenId, bytes data)']);
  const nft = encodeFunctionData({ abi: seven, args: [BOB, MALLORY, 9n, '0xff'] });
  expect(decodeCall(nft)).toMatchObject({
    standard: 'ERC-721',
    arguments: [{}, {}, { value: '9' }, { value: '0xff' }],
  });
  expect(decodeCall('0xd0e30db0')).toEqual({ standard: 'WETH9', function: 'deposit', arguments: [] });
});

test('bytes that are not exactly the encoding of a known call are not described as that call', () => {
  const transfer = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [BOB, 7n] });
  for (const data of [
    '0x',
    '0x12345678',
    transfer.slice(0, -2),
    `${transfer}00`,
    `${transfer.slice(0, 10)}${'f'.repeat(128)}`,
  ]) {
    expect([data, decodeCall(data)]).toEqual([data, null]);
  }
});

test('a token to its own contract has the same bytes with and without the acknowledgement, which fits nothing else', () => {
  const own = { ...NATIVE, to: DOLLAR, tokenAddress: DOLLAR };
  expect(callOf(own)).not.toBeNull();
  expect(callOf({ ...own, recipientIsToken: true })).toEqual(callOf(own));
  for (const other of [{ ...own, to: BOB }, { ...own, tokenAddress: null }, NATIVE]) {
    expect(callOf(other)).not.toBeNull();
    expect(callOf({ ...other, recipientIsToken: true })).toBeNull();
  }
  const odd = { ...own, recipientIsToken: false } as unknown as OnChainIntent;
  expect(callOf(odd)).toBeNull();
});
