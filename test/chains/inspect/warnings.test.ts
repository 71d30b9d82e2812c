import { encodeFunctionData, erc20Abi, erc721Abi, maxUint256 } from 'viem';
import { expect, test } from 'vitest';
import { warningsOf } from '#chains/inspect/warnings.ts';
import { readMessage } from '#chains/evm/rules/message.ts';
import type { Intent, MessageIntent } from '#domain/transaction/intent.ts';
import cases from '../evm/rules/message-cases.json' with { type: 'json' };
import { amount, FRAME, messageIntent, transferIntent } from '../../domain/cast.ts';

const SPENDER = '0x3333333333333333333333333333333333333333';
const TOKEN = '0x4444444444444444444444444444444444444444';
const cost = { maxFee: amount('100'), lookalikeOf: null };

function call(data: string): Intent {
  return { ...FRAME, ...cost, kind: 'contract-interaction', to: TOKEN, data, value: amount('0') };
}

function allowance(units: bigint): Intent {
  const ofToken = { tokenAddress: TOKEN, spender: SPENDER, amount: amount(units.toString()) };
  return { ...FRAME, ...cost, kind: 'erc20-approve', ...ofToken };
}

function bytes(message: string): Intent {
  return { ...messageIntent(), format: 'eip191-hex', message };
}

function typed(primaryType: string, domain: object = { chainId: 31337 }): MessageIntent {
  const message = { types: { [primaryType]: [] }, primaryType, domain, message: {} };
  return { ...messageIntent(), format: 'eip712', message: JSON.stringify(message) };
}

const codes = (intent: Intent) => warningsOf(intent).map(({ code }) => code);
const approve = (units: bigint) =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [SPENDER, units] });
const forAll = (approved: boolean) =>
  encodeFunctionData({ abi: erc721Abi, functionName: 'setApprovalForAll', args: [SPENDER, approved] });

test.each<[string, Intent, readonly string[]]>([
  ['a transfer', transferIntent(), []],
  ['a transfer to a lookalike', { ...transferIntent(), lookalikeOf: SPENDER }, ['looks-alike']],
  ['an allowance', allowance(1000n), []],
  ['an allowance of 0, or token 0 of a collection', allowance(0n), ['may-be-token-zero']],
  ['an allowance just below half of everything', allowance(2n ** 255n - 1n), []],
  ['an allowance of everything', allowance(maxUint256), ['unlimited-allowance']],
  ['a payment to a contract', call('0x'), []],
  ['an unknown call', call('0x12345678'), ['unknown-call']],
  ['an allowance as a call', call(approve(5n)), []],
  ['an allowance of 0 as a call', call(approve(0n)), ['may-be-token-zero']],
  ['an allowance of everything as a call', call(approve(maxUint256)), ['unlimited-allowance']],
  ['an operator for everything', call(forAll(true)), ['approval-for-all']],
  ['an operator withdrawn', call(forAll(false)), []],
  ['a text, which names no chain', messageIntent(), ['valid-on-every-chain']],
  ['an order', typed('Order'), []],
  [
    'an order that names no chain',
    typed('Order', { name: 'Market', salt: `0x${'00'.repeat(32)}` }),
    ['valid-on-every-chain'],
  ],
  ['a permit', typed('Permit'), ['permit']],
  ['a permit that names no chain', typed('Permit', {}), ['permit', 'valid-on-every-chain']],
  ['a permit of Permit2', typed('PermitTransferFrom'), ['permit']],
  ['a permit for another chain', typed('Permit', { chainId: 1 }), ['permit', 'foreign-chain']],
  ['a payment by signature', typed('TransferWithAuthorization'), ['payment-by-signature']],
  ['a payment that its recipient submits', typed('ReceiveWithAuthorization'), ['payment-by-signature']],
  ['an order with dropped keys', { ...typed('Order'), droppedKeys: 2 }, ['dropped-keys']],
  ['bytes', bytes('0xdeadbeef'), ['raw-bytes', 'valid-on-every-chain']],
  ['a hash', bytes(`0x${'ab'.repeat(32)}`), ['raw-bytes', 'may-be-a-hash', 'valid-on-every-chain']],
  ['a byte more than a hash', bytes(`0x${'ab'.repeat(33)}`), ['raw-bytes', 'valid-on-every-chain']],
  ['a text of 32 letters', { ...messageIntent(), message: 'a'.repeat(32) }, ['may-be-a-hash', 'valid-on-every-chain']],
  ['a text of 32 bytes', { ...messageIntent(), message: 'é'.repeat(16) }, ['may-be-a-hash', 'valid-on-every-chain']],
  ['a text of 31 letters', { ...messageIntent(), message: 'a'.repeat(31) }, ['valid-on-every-chain']],
  ['a text of 32 letters on Bitcoin', { ...messageIntent(), format: 'bip322', message: 'a'.repeat(32) }, []],
])('the warnings of %s are complete', (_name, intent, expected) => {
  expect(codes(intent)).toEqual(expected);
});

test('a warning names the address that it is about', () => {
  expect(warningsOf(allowance(maxUint256))[0]?.detail).toContain(SPENDER);
  expect(warningsOf(allowance(0n))[0]?.detail).toContain(SPENDER);
  expect(warningsOf(call(forAll(true)))[0]?.detail).toContain(SPENDER);
});

test('the warning of another chain names both chain ids', () => {
  const detail = warningsOf(typed('Order', { chainId: '0x539' }))[0]?.detail;
  expect(detail).toContain('chain id 1337');
  expect(detail).toContain('whose id is 31337');
});

test('the warning of a payment by signature names the amount, the token and the recipient', () => {
  const given = cases.typedData.find(({ name }) => name === 'eip3009')?.typedData;
  const read = readMessage('eip155:1', JSON.stringify(given));
  if (!read.ok) throw new Error(read.refusal);
  const [warning] = warningsOf({ ...messageIntent(), chain: 'eip155:1', ...read.value });
  expect(warning?.code).toBe('payment-by-signature');
  for (const part of [
    '5000000000',
    '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
    '0x3C6A1e1558158a68996BD5477eE613d5DE5A5037',
  ])
    expect(warning?.detail.toLowerCase()).toContain(part.toLowerCase());
});
