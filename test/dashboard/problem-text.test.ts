import { expect, test } from 'vitest';
import { faultsIn, faultText } from '#dashboard/problem-text.ts';

/** Covers how the forms name a field that the service refused, and what it must contain. */

const DETAIL = 'Detail of the service.';

test.each([
  ['/to', 'malformed', 'To: Enter an address of this chain.'],
  ['/to', 'bad-checksum', 'To: At least one character of the address is mistyped.'],
  ['/to', 'zero-address', 'To: Enter another address. What is sent to the zero address is lost.'],
  ['/to', 'other-network', `To: ${DETAIL}`],
  ['/amount', 'invalid-amount', 'Amount: Enter an amount that this chain can carry.'],
  ['/tokenAddress', 'malformed', 'Asset: Enter an address of this chain.'],
  ['/memo', 'invalid-memo', `Memo on chain: ${DETAIL}`],
  ['/note', 'too_big', 'Note: Enter a shorter text or a smaller number.'],
  ['/name', 'too_small', 'Name: Enter a longer text or a larger number.'],
  ['/expiresAt', 'in-the-past', 'Expiry: Enter a date in the future.'],
  ['/approvalMode', 'invalid', `Approval method: ${DETAIL}`],
  ['/signers/2', 'invalid', `Signers: ${DETAIL}`],
  ['/addressBook', 'invalid', `Addresses: ${DETAIL}`],
  ['/addressBook/0/address', 'malformed', 'Address 1, Address: Enter an address of this chain.'],
  ['/limits/11/perDay', 'invalid-amount', 'Limit 12, Per 24 hours: Enter an amount that this chain can carry.'],
  ['/higherThresholds/0/above', 'a-new-code', `Higher threshold 1, Amount above: ${DETAIL}`],
  ['/tokens/1/symbol', 'invalid', `Token 2, Symbol: ${DETAIL}`],
  ['/tokens/1/further', 'invalid', `Token 2: ${DETAIL}`],
  ['/maxFees/0/amount', 'invalid-amount', 'Maximum fee 1, Maximum fee: Enter an amount that this chain can carry.'],
  ['/cosigners', 'malformed', `/cosigners: ${DETAIL}`],
  ['vaultId', 'malformed', `vaultId: ${DETAIL}`],
  ['/constructor', 'toString', `/constructor: ${DETAIL}`],
  ['/to', 'toString', `To: ${DETAIL}`],
  ['', 'invalid', DETAIL],
])('the fault at %s with the code %s is "%s"', (pointer, code, text) => {
  expect(faultText({ pointer, code, detail: DETAIL })).toBe(text);
});

test('a refusal with faults of another form has none of them', () => {
  const fault = { pointer: '/to', code: 'malformed', detail: DETAIL };
  expect(faultsIn([fault, null, 'text', { pointer: '/to' }, { ...fault, code: 7 }])).toEqual([fault]);
  expect([undefined, null, {}, 'text'].map(faultsIn)).toEqual([[], [], [], []]);
});
