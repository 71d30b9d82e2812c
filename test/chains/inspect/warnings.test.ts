import { encodeFunctionData, erc20Abi, erc721Abi, maxUint256 } from 'viem';
import { expect, test } from 'vitest';
import { warningsOf } from '#chains/inspect/warnings.ts';
import type { Intent } from '#domain/transaction/intent.ts';
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

function typed(primaryType: string, domain: object = { chainId: 31337 }): Intent {
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
])('the warnings of %s are complete', (_name, intent, expected) => {
  expect(codes(intent)).toEqual(expected);
});

test('a warning names the address that it is about', () => {
  expect(warningsOf(allowance(maxUint256))[0]?.detail).toContain(SPENDER);
  expect(warningsOf(allowance(0n))[0]?.detail).toContain(SPENDER);
  expect(warningsOf(call(forAll(true)))[0]?.detail).toContain(SPENDER);
});
