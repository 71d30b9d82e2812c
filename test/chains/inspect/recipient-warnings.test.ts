import { encodeFunctionData, erc1155Abi, erc20Abi, erc4626Abi, maxUint256 } from 'viem';
import { expect, test } from 'vitest';
import { contractWarnings, recipientsOf } from '#chains/inspect/recipient-warnings.ts';
import { warningsOf } from '#chains/inspect/warnings.ts';
import type { Intent } from '#domain/transaction/intent.ts';
import { amount, FRAME, messageIntent, transferIntent } from '../../domain/cast.ts';

/**
 * Covers recipients from which no payment comes back. The inputs are cases of MetaMask #9350,
 * #9673, #12642, 5afe/safe#409 and brave#12959.
 */

const [TOKEN, OTHER, PERSON] = [
  '0x4444444444444444444444444444444444444444',
  '0x5555555555555555555555555555555555555555',
  '0x6666666666666666666666666666666666666666',
] as const;
const DEAD = '0x000000000000000000000000000000000000dEaD';
const WETH = '0x4200000000000000000000000000000000000006';
const MINT = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const LISTED = [TOKEN, OTHER].map((address) => ({ address, symbol: 'DUSD', decimals: 6, isCash: true }));
const cost = { maxFee: amount('100'), lookalikeOf: null };

function transfer(to: string, tokenAddress: string | null = null): Intent {
  return { ...transferIntent(), to, tokenAddress };
}

function call(data: string, to: string = TOKEN): Intent {
  return { ...FRAME, ...cost, kind: 'contract-interaction', to, data, value: amount('0') };
}

function allowance(spender: string): Intent {
  return { ...FRAME, ...cost, kind: 'erc20-approve', tokenAddress: TOKEN, spender, amount: amount('5') };
}

const sent = (to: `0x${string}`) => encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, 5n] });
const taken = (to: `0x${string}`) =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'transferFrom', args: [PERSON, to, 5n] });
const item = (to: `0x${string}`) =>
  encodeFunctionData({ abi: erc1155Abi, functionName: 'safeTransferFrom', args: [PERSON, to, 1n, 5n, '0x'] });
const deposited = (to: `0x${string}`) =>
  encodeFunctionData({ abi: erc4626Abi, functionName: 'deposit', args: [5n, to] });
const allowed = (spender: `0x${string}`, units = 5n) =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, units] });

const codes = (intent: Intent) => warningsOf(intent, LISTED).map(({ code }) => code);

test.each<[string, Intent, readonly string[]]>([
  ['a token to a person', transfer(PERSON, TOKEN), []],
  ['a token to its own contract', transfer(TOKEN, TOKEN), ['recipient-is-token']],
  ['a token to another listed token', transfer(OTHER, TOKEN), ['recipient-is-other-token']],
  ['ether to a listed token, which may wrap it', transfer(TOKEN), []],
  ['a token to its own mint', transfer(MINT, MINT), ['recipient-is-token']],
  ['a token to the burn address', transfer(DEAD, TOKEN), ['recipient-is-burn-address']],
  ['ether to the burn address', transfer(DEAD), ['recipient-is-burn-address']],
  ['ether to the stand-in for ether', transfer(`0x${'Ee'.repeat(20)}`), ['recipient-is-burn-address']],
  ['SOL to the incinerator', transfer('1nc1nerator11111111111111111111111111111111'), ['recipient-is-burn-address']],
  ['ether to the first precompile', transfer(`0x${'1'.padStart(40, '0')}`), ['recipient-is-system-address']],
  ['ether to the last precompile', transfer(`0x${'ff'.padStart(40, '0')}`), ['recipient-is-system-address']],
  ['ether to ArbSys', transfer(`0x${'64'.padStart(40, '0')}`), ['recipient-is-system-address']],
  ['ether to a short number', transfer(`0x${'ffffffff'.padStart(40, '0')}`), ['recipient-is-burn-address']],
  ['ether to a longer number', transfer(`0x${'100000000'.padStart(40, '0')}`), []],
  [
    'a token to a predeploy of the OP stack',
    transfer(`0x42${'7ff'.padStart(38, '0')}`, TOKEN),
    ['recipient-is-system-address'],
  ],
  ['a token behind the predeploys', transfer(`0x42${'800'.padStart(38, '0')}`, TOKEN), []],
  ['ether to WETH of the OP stack, which wraps it', transfer(WETH), []],
  ['a token to WETH of the OP stack', transfer(WETH, TOKEN), ['recipient-is-system-address']],
  ['AVAX to the black hole of Avalanche', transfer(`0x01${'0'.repeat(38)}`), ['recipient-is-system-address']],
  ['a payment by a call without data', call('0x', DEAD), ['recipient-is-burn-address']],
  ['a call of a precompile', call('0x12345678', `0x${'64'.padStart(40, '0')}`), ['unknown-call']],
  ['a transfer to a person by call', call(sent(PERSON)), []],
  ['a transfer to the called contract', call(sent(TOKEN)), ['recipient-is-token']],
  ['a transfer to another token by call', call(sent(OTHER)), ['recipient-is-other-token']],
  ['a transfer to the burn address by call', call(sent(DEAD)), ['recipient-is-burn-address']],
  ['a transfer to the zero address by call', call(sent(`0x${'0'.repeat(40)}`)), ['recipient-is-burn-address']],
  ['tokens of another account to the called contract', call(taken(TOKEN)), ['recipient-is-token']],
  ['an item to the called contract', call(item(TOKEN)), ['recipient-is-token']],
  ['shares to the called contract', call(deposited(TOKEN)), ['recipient-is-token']],
  ['an allowance for a person', allowance(PERSON), []],
  ['an allowance for the token itself', allowance(TOKEN), ['spender-is-token']],
  ['an allowance for the called contract', call(allowed(TOKEN)), ['spender-is-token']],
  ['everything for the called contract', call(allowed(TOKEN, maxUint256)), ['spender-is-token', 'unlimited-allowance']],
  ['a text', messageIntent(), ['valid-on-every-chain']],
])('the warnings of %s are complete', (_name, intent, expected) => {
  expect(codes(intent)).toEqual(expected);
});

test('a token of the operator warns only where it is listed, and its own contract warns anywhere', () => {
  expect(warningsOf(transfer(OTHER, TOKEN), [])).toEqual([]);
  expect(warningsOf(transfer(OTHER, TOKEN), LISTED)[0]?.detail).toContain(
    `${OTHER} is the contract of the token DUSD.`,
  );
  expect(warningsOf(transfer(TOKEN, TOKEN), [])[0]?.detail).toContain(TOKEN);
});

test('a warning does not depend on the acknowledgement, which older records lack', () => {
  expect(codes({ ...transferIntent(), to: TOKEN, tokenAddress: TOKEN, recipientIsToken: true })).toEqual([
    'recipient-is-token',
  ]);
});

test('the recipients of an intent are those that are paid, each once', () => {
  expect(recipientsOf(transfer(PERSON, TOKEN))).toEqual([PERSON]);
  expect(recipientsOf(call(sent(PERSON)))).toEqual([PERSON]);
  expect(recipientsOf(call('0x', PERSON))).toEqual([PERSON]);
  expect([recipientsOf(call('0x12345678')), recipientsOf(allowance(PERSON)), recipientsOf(messageIntent())]).toEqual([
    [],
    [],
    [],
  ]);
  expect(contractWarnings([PERSON])).toEqual([
    { code: 'recipient-is-contract', detail: expect.stringContaining(PERSON) as string },
  ]);
  expect(contractWarnings([])).toEqual([]);
});
