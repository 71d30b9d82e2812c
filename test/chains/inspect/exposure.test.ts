import { encodeFunctionData, erc20Abi, erc721Abi, getAddress, maxUint256, parseAbi } from 'viem';
import type { Hex } from 'viem';
import { expect, test } from 'vitest';
import { exposureOf } from '#chains/inspect/exposure.ts';
import { readMessage } from '#chains/evm/rules/message.ts';
import { ruleViolation } from '#domain/policy/rules.ts';
import type { Action } from '#domain/transaction/intent.ts';
import cases from '../evm/rules/message-cases.json' with { type: 'json' };
import { amount, policy } from '../../domain/cast.ts';

/** Covers the exposure of an action, for the rules of a policy. */

const WALLET = '0x1111111111111111111111111111111111111111';
const BOB = '0x2222222222222222222222222222222222222222';
const TOKEN = '0x3333333333333333333333333333333333333333';
const context = { chain: 'eip155:31337', from: WALLET };

const erc20 = (functionName: 'transfer' | 'approve', units: bigint) =>
  encodeFunctionData({ abi: erc20Abi, functionName, args: [BOB, units] });
const call = (data: Hex, value = '0'): Action => ({
  kind: 'contract-interaction',
  to: TOKEN,
  data,
  value: amount(value),
});
const allowance = (units: string): Action => ({
  kind: 'erc20-approve',
  tokenAddress: TOKEN,
  spender: BOB,
  amount: amount(units),
});
const forAll = (approved: boolean) =>
  encodeFunctionData({ abi: erc721Abi, functionName: 'setApprovalForAll', args: [BOB, approved] });
const moved = (from: Hex, to: Hex, units: bigint) =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'transferFrom', args: [from, to, units] });
const vaultAbi = parseAbi([
  'function deposit(uint256 assets, address receiver)',
  'function withdraw(uint256 assets, address receiver, address owner)',
]);

const PERMIT = ['address owner', 'address spender', 'uint256 value', 'uint256 nonce', 'uint256 deadline'];

function typed(primaryType: string, members: readonly string[], message: object, domain: object): Action {
  const fields = members.map((member) => {
    const [type = '', name = ''] = member.split(' ');
    return { name, type };
  });
  const data = { types: { [primaryType]: fields }, primaryType, domain, message };
  return { kind: 'message', format: 'eip712', message: JSON.stringify(data) };
}

const terms = { owner: WALLET, spender: BOB, value: '7', nonce: '0', deadline: '9' };
const anywhere = { verifyingContract: TOKEN };
const contract = { ...anywhere, chainId: 31337 };
const PAYMENT = [
  'address from',
  'address to',
  'uint256 value',
  'uint256 validAfter',
  'uint256 validBefore',
  'bytes32 nonce',
];
const payment = { from: WALLET, to: BOB, value: '7', validAfter: '0', validBefore: '9', nonce: `0x${'22'.repeat(32)}` };

/**
 * Returns the beneficiaries, and the movements as `token amount`, with `-` for the native asset and
 * `?` for an unreadable movement.
 */
function stake(action: Action): readonly [string, string] {
  const { movements, beneficiaries, isUnreadable } = exposureOf(action, context);
  const lines = movements.filter((one) => one.amount !== '0').map((one) => `${one.tokenAddress ?? '-'} ${one.amount}`);
  return [[...lines, ...(isUnreadable ? ['?'] : [])].join(), beneficiaries.join()];
}

test.each<[string, Action, string, string]>([
  ['a payment', { kind: 'transfer', to: BOB, tokenAddress: null, amount: amount('5') }, '- 5', BOB],
  ['a payment of tokens', { kind: 'transfer', to: BOB, tokenAddress: TOKEN, amount: amount('5') }, `${TOKEN} 5`, BOB],
  ['an allowance', allowance('5'), `${TOKEN} 5`, BOB],
  ['a revoked allowance of any spender', allowance('0'), '', ''],
  ['a value without a call', call('0x', '5'), '- 5', TOKEN],
  ['tokens sent by a call', call(erc20('transfer', 5n)), `${TOKEN} 5`, `${TOKEN},${BOB}`],
  ['value and tokens at once', call(erc20('transfer', 5n), '3'), `- 3,${TOKEN} 5`, `${TOKEN},${BOB}`],
  ['an allowance by a call', call(erc20('approve', maxUint256)), `${TOKEN} ${maxUint256}`, `${TOKEN},${BOB}`],
  ['an approval of number 0, which may be a token', call(erc20('approve', 0n)), `${TOKEN} 1`, `${TOKEN},${BOB}`],
  ['token number 0 moved', call(moved(WALLET, BOB, 0n)), `${TOKEN} 1`, `${TOKEN},${BOB}`],
  ['tokens pulled to oneself', call(moved(BOB, WALLET, 5n)), `${TOKEN} 5`, TOKEN],
  ['an operator for everything', call(forAll(true)), `${TOKEN} ${maxUint256}`, `${TOKEN},${BOB}`],
  ['an operator withdrawn', call(forAll(false)), '', TOKEN],
  ['ether wrapped', call('0xd0e30db0', '5'), '- 5', TOKEN],
  ['an unknown call', call('0x12345678', '5'), '- 5,?', TOKEN],
  [
    'a deposit of which only the contract knows',
    call(encodeFunctionData({ abi: vaultAbi, functionName: 'deposit', args: [5n, BOB] })),
    '?',
    `${TOKEN},${BOB}`,
  ],
  [
    'a withdrawal to oneself',
    call(encodeFunctionData({ abi: vaultAbi, functionName: 'withdraw', args: [5n, WALLET, WALLET] })),
    '?',
    TOKEN,
  ],
  ['a token call with a byte too many', call(`${erc20('transfer', 5n)}00`), '?', TOKEN],
  ['words', { kind: 'message', format: 'eip191', message: 'hello' }, '', ''],
  ['a permit', typed('Permit', PERMIT, terms, contract), `${TOKEN} 7`, `${TOKEN},${BOB}`],
  [
    'a permit in hex',
    typed('Permit', PERMIT, { ...terms, value: '0xff' }, contract),
    `${TOKEN} 255`,
    `${TOKEN},${BOB}`,
  ],
  [
    'a permit in lower case',
    typed('Permit', PERMIT, terms, { ...contract, verifyingContract: TOKEN.toLowerCase() }),
    `${TOKEN} 7`,
    `${TOKEN},${BOB}`,
  ],
  [
    'something that only calls itself a permit',
    typed('Permit', ['address spender', 'bool allowed'], { spender: BOB, allowed: true }, contract),
    '?',
    TOKEN,
  ],
  [
    'a payment by signature',
    typed('TransferWithAuthorization', PAYMENT, payment, contract),
    `${TOKEN} 7`,
    `${TOKEN},${BOB}`,
  ],
  [
    'a payment that its recipient submits',
    typed('ReceiveWithAuthorization', PAYMENT, payment, contract),
    `${TOKEN} 7`,
    `${TOKEN},${BOB}`,
  ],
  [
    'a payment by signature of another wallet',
    typed('TransferWithAuthorization', PAYMENT, { ...payment, from: BOB, to: TOKEN }, contract),
    '?',
    `${TOKEN},${TOKEN}`,
  ],
  [
    'something that only calls itself a payment',
    typed('TransferWithAuthorization', PAYMENT.toReversed(), payment, contract),
    '?',
    TOKEN,
  ],
  [
    'a payment by signature of no contract',
    typed('ReceiveWithAuthorization', PAYMENT, payment, { name: 'x' }),
    '?',
    '',
  ],
  ['the domain alone', typed('EIP712Domain', ['address verifyingContract'], {}, anywhere), '?', TOKEN],
  ['a permit that names no chain', typed('Permit', PERMIT, terms, anywhere), `${TOKEN} 7,?`, `${TOKEN},${BOB}`],
  [
    'a payment by signature whose chain is in the salt',
    typed('TransferWithAuthorization', PAYMENT, payment, { ...anywhere, salt: `0x${'89'.padStart(64, '0')}` }),
    `${TOKEN} 7,?`,
    `${TOKEN},${BOB}`,
  ],
  ['bytes', { kind: 'message', format: 'eip191-hex', message: '0xdeadbeef' }, '?', ''],
  ['a hash', { kind: 'message', format: 'eip191-hex', message: `0x${'ab'.repeat(32)}` }, '?', ''],
  ['an order', typed('Order', ['uint256 price'], { price: '1' }, contract), '?', TOKEN],
  ['typed data of no contract', typed('Order', ['uint256 price'], { price: '1' }, { name: 'x' }), '?', ''],
])('the exposure of %s is derived for the policy rules', (_name, action, movements, beneficiaries) => {
  expect(stake(action)).toEqual([movements, beneficiaries]);
});

const text = (format: 'eip191' | 'solana-offchain' | 'bip322'): Action => ({
  kind: 'message',
  format,
  message: 'hello',
});

test.each<[string, Action, true | undefined]>([
  ['a text', text('eip191'), true],
  ['bytes', { kind: 'message', format: 'eip191-hex', message: '0xab' }, true],
  ['typed data without chainId', typed('Permit', PERMIT, terms, anywhere), true],
  ['unreadable typed data', { kind: 'message', format: 'eip712', message: '{' }, true],
  ['typed data with chainId', typed('Permit', PERMIT, terms, contract), undefined],
  ['a chainId outside of the domain', typed('Order', ['uint256 chainId'], { chainId: 31337 }, anywhere), true],
  ['a text on Solana, whose clusters have a key each', text('solana-offchain'), undefined],
  ['a text on Bitcoin, whose networks have a key each', text('bip322'), undefined],
  ['a payment', { kind: 'transfer', to: BOB, tokenAddress: null, amount: amount('5') }, undefined],
  ['a call', call('0x12345678'), undefined],
])('the exposure of %s states whether its signature names no chain', (_name, action, isUnbound) => {
  const exposure = exposureOf(action, context);
  expect([exposure.isUnbound, 'isUnbound' in exposure]).toEqual([isUnbound, isUnbound === true]);
});

test('typed data for another chain counts under the rules of that chain', () => {
  const action = typed('Permit', PERMIT, terms, { ...contract, chainId: '0x1' });
  expect(exposureOf(action, context)).toMatchObject({
    chain: 'eip155:1',
    movements: [{ tokenAddress: TOKEN, amount: '7' }],
  });
  const limit = { chain: 'eip155:1', tokenAddress: TOKEN, perTransaction: amount('6'), perDay: null };
  const exposure = exposureOf(action, context);
  expect(ruleViolation({ ...policy.rules, limits: [limit] }, exposure)?.rule).toBe('per-transaction');
  const elsewhere = { ...limit, chain: context.chain };
  expect(ruleViolation({ ...policy.rules, limits: [elsewhere] }, exposure)).toBeNull();
  // The book of the vault's chain does not vouch for an address on the other chain.
  const book = [TOKEN, BOB].map((address) => ({ chain: context.chain, address, name: 'Known' }));
  const rules = { ...policy.rules, recipients: 'address-book' as const, addressBook: book };
  expect(ruleViolation(rules, exposure)).toEqual({ rule: 'address-book', address: TOKEN });
  expect(exposureOf(typed('Permit', PERMIT, terms, contract), context).chain).toBe(context.chain);
});

for (const { name, chain, vault, typedData } of cases.typedData) {
  if (vault === undefined || chain !== 'ethereum') continue;
  test(`the case ${name} counts in the limits and the address book`, () => {
    const read = readMessage('eip155:1', JSON.stringify(typedData));
    if (!read.ok) throw new Error(read.refusal);
    const from = getAddress(vault);
    const exposure = exposureOf({ kind: 'message', ...read.value }, { chain: 'eip155:1', from });
    const usdc = '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48';
    expect(exposure).toEqual({
      chain: 'eip155:1',
      movements: [{ tokenAddress: usdc, amount: '5000000000' }],
      beneficiaries: [usdc, getAddress('0x3c6a1e1558158a68996bd5477ee613d5de5a5037')],
      isUnreadable: false,
    });
    const rules = { ...policy.rules, recipients: 'address-book' as const, addressBook: [] };
    expect(ruleViolation(rules, exposure)?.rule).toBe('address-book');
  });
}
