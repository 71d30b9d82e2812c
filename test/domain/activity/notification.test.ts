import { expect, test } from 'vitest';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import type { Activity } from '#domain/activity/activity.ts';
import { decimalText, signedAmountOf } from '#domain/asset/amount.ts';
import type { Chain } from '#domain/asset/chain.ts';
import type { BalanceChange } from '#domain/asset/movement.ts';
import { NATIVE } from '#domain/asset/movement.ts';
import { notificationOf, notificationOfActivity } from '#domain/activity/notification.ts';
import type { Vault } from '#domain/vault/vault.ts';
import {
  alice,
  amount,
  bob,
  carol,
  messageIntent,
  policy,
  transactionIn,
  transferIntent,
  approvalBy,
} from '../cast.ts';

/** Covers the text of a push notification, which a person reads on a locked screen. */

const ethereum = findChain(chainsFrom({}), 'ethereum') as Chain;
const USDC = ethereum.tokens[1]?.address ?? '';
const MEME = '0x4444444444444444444444444444444444444444';
const vault = {
  configuration: { name: 'Treasury' },
  members: [alice, bob, carol].map(({ userId }) => ({ userId, roles: ['signer'] })),
  policy: { ...policy, signers: [alice.userId, bob.userId, carol.userId] },
  invitations: [],
} as unknown as Vault;
const everybody = [alice.userId, bob.userId, carol.userId];

test.each([
  [0n, 18, '0'],
  [1n, 0, '1'],
  [1n, 18, '0.000000000000000001'],
  [1_500_000n, 6, '1.5'],
  [10n ** 18n, 18, '1'],
  [12_345_678_900n, 6, '12345.6789'],
])('%s units of %s digits are %s', (units, decimals, text) => expect(decimalText(units, decimals)).toBe(text));

const transfer = (tokenAddress: string | null, units: string) =>
  transactionIn('SUBMITTED', {
    intent: { ...transferIntent(), tokenAddress, amount: amount(units) },
    createdBy: alice,
  });

test('a signer who has not approved yet is notified, and the creator and a signer who has decided are not', () => {
  const fresh = notificationOf(transfer(null, '1500000000000000000'), vault, ethereum);
  expect(fresh).toEqual({
    kind: 'approval',
    userIds: [bob.userId, carol.userId],
    title: 'Treasury: approval needed',
    body: '1.5 ETH on ethereum to 0x2222…2222',
  });
  const half = { ...transfer(null, '1'), approvals: [approvalBy(bob)] };
  expect(notificationOf(half, vault, ethereum)?.userIds).toEqual([carol.userId]);
});

test('a member who has not accepted the vault is notified of nothing in it', () => {
  const young = { ...vault, invitations: [{ userId: carol.userId, isDeclined: false }] };
  const pending = notificationOf(transfer(null, '1500000000000000000'), young, ethereum);
  const ended = notificationOf(transactionIn('SUCCEEDED'), young, ethereum);
  expect([pending?.userIds, ended?.userIds]).toEqual([[bob.userId], [alice.userId, bob.userId]]);
});

test.each(['SUCCEEDED', 'FAILED'] as const)('every member is notified that a transaction has %s', (state) => {
  const done = notificationOf(transactionIn(state), vault, ethereum);
  expect([done?.kind, done?.userIds, done?.title]).toEqual(['outcome', everybody, `Treasury: ${state.toLowerCase()}`]);
});

test.each(['SIGNING', 'BROADCAST', 'CONFIRMING', 'REJECTED', 'CANCELLED', 'EXPIRED'] as const)(
  'no member is notified of the state %s',
  (state) => expect(notificationOf(transactionIn(state), vault, ethereum)).toBeNull(),
);

test('a notification names a token only if a token list vouches for it', () => {
  const text = (tokenAddress: string) => notificationOf(transfer(tokenAddress, '2500000'), vault, ethereum)?.body;
  expect([text(USDC), text(MEME)]).toEqual([
    '2.5 USDC on ethereum to 0x2222…2222',
    'A token on ethereum to 0x2222…2222',
  ]);
});

test('a notification of anything but a transfer names its kind', () => {
  const { tokenAddress: _, amount: value, ...frame } = transferIntent();
  const call = transactionIn('SUBMITTED', { intent: { ...frame, kind: 'contract-interaction', data: '0x12', value } });
  const allowance = transactionIn('SUBMITTED', {
    intent: { ...frame, kind: 'erc20-approve', tokenAddress: USDC, spender: frame.to, amount: value },
  });
  const message = transactionIn('SUBMITTED', { intent: messageIntent() });
  expect([call, allowance, message].map((one) => notificationOf(one, vault, ethereum)?.body)).toEqual([
    'A contract call to 0x2222…2222 on ethereum',
    'An allowance for 0x2222…2222 on ethereum',
    'A message for ethereum',
  ]);
});

const change = (differences: Partial<BalanceChange>, units: bigint): BalanceChange => ({
  ...NATIVE,
  isMinted: false,
  isCash: false,
  ...differences,
  units: signedAmountOf(units),
});
const activity = (changes: readonly BalanceChange[], differences: Partial<Activity> = {}) =>
  ({ visible: true, state: 'CONFIRMING', direction: 'in', usdValue: null, changes, ...differences }) as Activity;

test.each<[string, readonly BalanceChange[], string]>([
  ['coins', [change({}, 10n ** 18n)], '1 ETH on ethereum'],
  ['a listed token', [change({ tokenAddress: USDC, kind: 'erc20' }, 5_000_000n)], '5 USDC on ethereum'],
  ['a token of strangers', [change({ tokenAddress: MEME, kind: 'erc20' }, 5n)], 'A token on ethereum'],
  ['a collectible', [change({ tokenAddress: MEME, kind: 'erc721', tokenId: '9' }, 1n)], 'A collectible on ethereum'],
  ['an amount of zero', [change({}, 0n)], 'A transaction on ethereum'],
])('an incoming payment is reported: %s', (_name, changes, body) => {
  const reported = notificationOfActivity(activity(changes), vault, ethereum);
  expect(reported).toEqual({ kind: 'activity', userIds: everybody, title: 'Treasury: received', body });
});

test('an outgoing payment that the vault did not make is reported as such', () => {
  const taken = activity([change({}, -(10n ** 17n))], { direction: 'out' });
  expect(notificationOfActivity(taken, vault, ethereum)).toMatchObject({
    title: 'Treasury: outgoing, not by this vault',
    body: '0.1 ETH on ethereum',
  });
});

test('no member is notified of a dust payment, although the list shows it', () => {
  const value = (usd: string) =>
    notificationOfActivity(activity([change({}, 1n)], { usdValue: { usd, pricedAtMs: 7 } }), vault, ethereum);
  expect([value('0.00'), value('0.004999'), value('0.005')?.kind]).toEqual([null, null, 'activity']);
});

test('no member is notified of spam or of a failed payment', () => {
  const received = [change({}, 1n)];
  expect(notificationOfActivity(activity(received, { visible: false }), vault, ethereum)).toBeNull();
  expect(notificationOfActivity(activity(received, { state: 'FAILED' }), vault, ethereum)).toBeNull();
});

test('a payment whose token shows no transfer asks for a check, and is not called a success', () => {
  const titleOf = (stateReason: string | null) =>
    notificationOf(transactionIn('SUCCEEDED', { stateReason }), vault, ethereum)?.title;
  expect(titleOf(null)).toBe('Treasury: succeeded');
  expect(titleOf('TRANSFER_NOT_LOGGED')).toBe('Treasury: sent, check that the token arrived');
});

test('the notification of a payment whose final block is gone warns against a second payment', () => {
  const gone = transactionIn('SUCCEEDED', { stateReason: 'FINAL_BLOCK_GONE' });
  expect(notificationOf(gone, vault, ethereum)).toMatchObject({
    title: 'Treasury: no longer in the chain, do not pay again',
    userIds: everybody,
  });
});

test('members are notified when a final payment is gone or corrected, unless a rule hid it', () => {
  const received = [change({}, 10n ** 18n)];
  const block = { number: '7', hash: '0xb7', confirmations: 70, isFinal: true };
  const titleOf = (differences: Partial<Activity>) =>
    notificationOfActivity(activity(received, { block, suspicion: null, ...differences }), vault, ethereum)?.title;
  const gone = { state: 'FAILED', visible: false, hiddenReason: 'REORGED' } as const;
  expect(titleOf(gone)).toBe('Treasury: a final payment does not count any more');
  expect(titleOf({ ...gone, suspicion: 'FAKE_TOKEN' })).toBeUndefined();
  expect(titleOf({ ...gone, block: { ...block, isFinal: false } })).toBeUndefined();
  expect(titleOf({ state: 'SUCCEEDED', stateReason: 'CONTENTS_CORRECTED' })).toBe(
    'Treasury: a final payment was corrected',
  );
  const own = transactionIn('SUCCEEDED', { stateReason: 'CONTENTS_CORRECTED' });
  expect(notificationOf(own, vault, ethereum)?.title).toBe('Treasury: its recorded amounts were corrected');
});
