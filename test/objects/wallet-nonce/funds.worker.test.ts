import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import type { Amount } from '#domain/asset/amount.ts';
import { amountOf } from '#domain/asset/amount.ts';
import type { Spending } from '#domain/wallet/reservation.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';
import type { AllocationRequest } from '#objects/wallet-nonce/object.ts';

/**
 * Covers the amounts that the allocator of a wallet reserves with a nonce, and when it releases
 * them.
 */

const { WALLET_NONCE } = env as unknown as CoordinatorEnv;
let wallets = 0;

function wallet() {
  wallets += 1;
  return WALLET_NONCE.getByName(`nonce:eip155:31337:funded-${wallets}`);
}

const units = (value: bigint): Amount => amountOf(value);
const native = (value: bigint) => ({ tokenAddress: null, amount: units(value) });
const TOKEN = '0x00000000000000000000000000000000000000AA';
const tokens = (value: bigint) => ({ tokenAddress: TOKEN, amount: units(value) });

/** Returns the spending of a payment from a wallet with 100 units. */
function paying(value: bigint, differences: Partial<Spending> = {}): Spending {
  const funds = { blockNumber: '9', nonceCount: '0', holds: [native(100n)], least: units(0n) };
  return { amounts: [native(value)], funds, ...differences };
}

function requestFor(transactionId: string, spending: Spending, held?: AllocationRequest['held']): AllocationRequest {
  const request = { transactionId, latest: '0', pending: '0', spending };
  return held === undefined ? request : { ...request, held };
}

test('of two simultaneous payments that the balance cannot cover together, one waits without a nonce', async () => {
  const object = wallet();
  const answers = await Promise.all(
    ['a', 'b'].map((transactionId) => object.allocate(requestFor(transactionId, paying(60n)))),
  );
  const given = answers.filter(({ nonce }) => nonce !== null);
  const waiting = answers.filter(({ nonce }) => nonce === null);
  expect(given).toMatchObject([{ nonce: '0', reserved: [native(60n)] }]);
  expect(waiting).toMatchObject([{ why: 'in-flight', others: [expect.stringMatching(/^[ab]$/)] }]);
  // A later payment that fits passes one that does not fit.
  expect(await object.allocate(requestFor('c', paying(40n)))).toMatchObject({ nonce: '1' });
});

test('a reservation survives an eviction of the object, and ends with its transaction', async () => {
  const object = wallet();
  await object.allocate(requestFor('a', paying(60n)));
  await evictDurableObject(object);
  expect(await object.allocate(requestFor('b', paying(41n)))).toMatchObject({ nonce: null, why: 'in-flight' });
  await object.end({ transactionId: 'a', isSpent: false });
  expect(await object.allocate(requestFor('b', paying(100n)))).toMatchObject({ nonce: '0' });
  await object.release({ transactionId: 'b' });
  const rows = await runInDurableObject(object, (_, { storage: { sql } }) =>
    sql.exec('SELECT transaction_id FROM reserved').toArray(),
  );
  expect(rows).toEqual([]);
});

test('each asset is checked separately', async () => {
  const object = wallet();
  const funds = { ...paying(0n).funds, holds: [native(100n), tokens(50n)] };
  const transfer = (value: bigint): Spending => ({ amounts: [native(3n), tokens(value)], funds });
  expect(await object.allocate(requestFor('a', transfer(30n)))).toMatchObject({ nonce: '0' });
  expect(await object.allocate(requestFor('b', transfer(21n)))).toMatchObject({ nonce: null, why: 'in-flight' });
  expect(await object.allocate(requestFor('b', transfer(20n)))).toMatchObject({ nonce: '1' });
  expect(await object.allocate(requestFor('c', paying(95n)))).toMatchObject({ nonce: null, why: 'in-flight' });
  expect(await object.allocate(requestFor('c', paying(94n)))).toMatchObject({ nonce: '2' });
});

test('a transaction without a reservation is checked by the amounts in the record of the vault', async () => {
  const object = wallet();
  const held = [{ transactionId: 'old', nonce: '0', amounts: [native(60n)], includedIn: null }];
  expect(await object.allocate(requestFor('a', paying(41n), held))).toMatchObject({ nonce: null, why: 'in-flight' });
  expect(await object.allocate(requestFor('a', paying(40n), held))).toMatchObject({ nonce: '1' });
});

test('a further attempt reserves the larger amount, and waits if it does not fit', async () => {
  const object = wallet();
  await object.allocate(requestFor('a', paying(60n)));
  await object.allocate(requestFor('b', paying(30n)));
  const more = (value: bigint) => object.reserve({ transactionId: 'a', held: [], spending: paying(value) });
  expect(await more(71n)).toMatchObject({ why: 'in-flight', others: ['b'] });
  expect(await more(70n)).toBeNull();
  // A cancellation spends little, but the payment may still be mined, so its amounts stay reserved.
  expect(await more(5n)).toBeNull();
  expect(await object.allocate(requestFor('c', paying(1n)))).toMatchObject({ nonce: null, why: 'in-flight' });
  // A payment that a reorganisation undoes after its end is reserved without a check.
  await object.end({ transactionId: 'a', isSpent: false });
  expect(await more(500n)).toBeNull();
});

test('balances older than a settled payment are refused until the RPC node has caught up', async () => {
  const object = wallet();
  await object.allocate(requestFor('a', paying(60n)));
  await object.end({ transactionId: 'a', isSpent: true, includedIn: '10' });
  await object.end({ transactionId: 'z', isSpent: true, includedIn: '7' });
  await evictDurableObject(object);
  const after = (spending: Spending) => ({ ...requestFor('b', spending), latest: '1', pending: '1' });
  expect(await object.allocate(after(paying(60n)))).toMatchObject({ nonce: null, why: 'stale' });
  const funds = { ...paying(0n).funds, blockNumber: '10', nonceCount: '1', holds: [native(40n)] };
  expect(await object.allocate(after(paying(40n, { funds })))).toMatchObject({ nonce: '1' });
});

test('an open nonce slot is given first, and the rent of a newly opened one is reserved', async () => {
  const object = wallet();
  const funds = { ...paying(0n).funds, nonceCount: null };
  const at = (value: bigint, open: readonly string[]) =>
    paying(value, { funds, positions: { open, rent: units(20n) } });
  expect(await object.allocate(requestFor('a', at(50n, ['3'])))).toMatchObject({ nonce: '3', reserved: [native(50n)] });
  // The open nonce slot is in use, and the balance does not cover the rent of another one beside
  // the payments in flight.
  expect(await object.allocate(requestFor('b', at(40n, ['3'])))).toMatchObject({ nonce: null, why: 'in-flight' });
  expect(await object.allocate(requestFor('b', at(30n, ['3'])))).toMatchObject({ nonce: '0', reserved: [native(50n)] });
  await object.end({ transactionId: 'a', isSpent: false });
  await object.end({ transactionId: 'b', isSpent: false });
  expect(await object.allocate(requestFor('c', at(90n, [])))).toMatchObject({
    nonce: null,
    why: 'in-flight',
    others: [],
  });
  expect(await object.allocate(requestFor('c', at(90n, ['3'])))).toMatchObject({ nonce: '3' });
});

test('a reused nonce slot does not free the amounts of its former transaction before the balance excludes them', async () => {
  const object = wallet();
  const funds = { ...paying(0n).funds, nonceCount: null };
  await object.allocate(requestFor('a', paying(60n, { funds })));
  const held = [{ transactionId: 'a', nonce: '0', amounts: [native(60n)], includedIn: '10', isReleased: true }];
  // The balances are from block 9, and the inclusion is in block 10.
  expect(await object.allocate(requestFor('b', paying(41n, { funds }), held))).toMatchObject({ why: 'in-flight' });
  const after = { ...funds, blockNumber: '10' };
  expect(await object.allocate(requestFor('b', paying(30n, { funds: after }), held))).toMatchObject({ nonce: '0' });
  // Another slot comes first, whether it is open or not, as long as the wallet has one.
  const reusing = (slots: number, open: readonly string[]) => ({
    ...requestFor('d', paying(1n, { funds: after, positions: { open, rent: units(0n) } }), held),
    slots,
  });
  await object.release({ transactionId: 'b' });
  expect(await object.allocate(reusing(2, ['0']))).toMatchObject({ nonce: '1' });
  await object.release({ transactionId: 'd' });
  expect(await object.allocate(reusing(1, ['0']))).toMatchObject({ nonce: '0' });
  await object.release({ transactionId: 'd' });
  // The inclusion was false. Both transactions have bytes at the slot, so both can still spend
  // their amounts.
  const again = [
    ...held.map((one) => ({ ...one, includedIn: null, isReleased: false })),
    { transactionId: 'b', nonce: '0', amounts: [native(30n)], includedIn: null },
  ];
  expect(await object.allocate(requestFor('c', paying(11n, { funds: after }), again))).toMatchObject({
    why: 'in-flight',
    others: ['a', 'b'],
  });
  expect(await object.allocate(requestFor('c', paying(10n, { funds: after }), again))).toMatchObject({ nonce: '1' });
});

test('a settled block above the height of the chain is lowered, and no other settled block is', async () => {
  const object = wallet();
  const payment = { ...requestFor('b', paying(1n)), latest: '1', pending: '1' };
  await object.allocate(requestFor('a', paying(60n)));
  await object.end({ transactionId: 'a', isSpent: true, includedIn: '1000000000000' });
  expect(await object.allocate(payment)).toEqual({ nonce: null, why: 'stale' });
  await object.lowerSettledBlock({ head: '2000000000000' });
  expect(await object.settledBlock()).toBe('1000000000000');
  await object.lowerSettledBlock({ head: '9' });
  expect(await object.settledBlock()).toBe('9');
  expect(await object.allocate(payment)).toMatchObject({ nonce: '1' });
});
