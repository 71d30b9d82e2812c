import { evictDurableObject, runInDurableObject } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, test } from 'vitest';
import { amountOf } from '#domain/asset/amount.ts';
import type { CoordinatorEnv } from '#objects/bindings/environment.ts';

const { WALLET_NONCE } = env as unknown as CoordinatorEnv;
let wallets = 0;

function wallet() {
  wallets += 1;
  return WALLET_NONCE.getByName(`nonce:eip155:31337:wallet-${wallets}`);
}

const FRESH = { latest: '0', pending: '0' };

test('simultaneous requests get different, consecutive nonces', async () => {
  const object = wallet();
  const ids = Array.from({ length: 20 }, (_, i) => `transaction-${i}`);
  const given = await Promise.all(ids.map((transactionId) => object.allocate({ transactionId, ...FRESH })));
  const nonces = given.map(({ nonce }) => Number.parseInt(nonce ?? '', 10)).toSorted((a, b) => a - b);
  expect(nonces).toEqual(ids.map((_, i) => i));
});

test('the nonce allocations survive an eviction of the object', async () => {
  const object = wallet();
  await object.allocate({ transactionId: 'a', ...FRESH });
  await object.allocate({ transactionId: 'b', ...FRESH });
  await object.release({ transactionId: 'a' });
  await evictDurableObject(object);
  expect(await object.allocate({ transactionId: 'b', ...FRESH })).toEqual({ nonce: '1' });
  expect(await object.allocate({ transactionId: 'c', ...FRESH })).toEqual({ nonce: '0' });
});

test('a repeated settlement or release changes nothing', async () => {
  const object = wallet();
  await object.allocate({ transactionId: 'a', ...FRESH });
  await object.end({ transactionId: 'a', isSpent: true });
  await object.end({ transactionId: 'a', isSpent: true });
  await object.release({ transactionId: 'a' });
  expect(await object.allocate({ transactionId: 'b', latest: '1', pending: '1' })).toEqual({ nonce: '1' });
});

test('each wallet has its own allocations, and nonces above the range of a float stay exact', async () => {
  const [one, other] = [wallet(), wallet()];
  const large = (2n ** 60n).toString();
  const counts = { latest: large, pending: large };
  expect(await one.allocate({ transactionId: 'a', ...counts, proven: { ...counts, block: '0' } })).toEqual({
    nonce: large,
  });
  expect(await other.allocate({ transactionId: 'a', ...FRESH })).toEqual({ nonce: '0' });
  expect(await one.allocate({ transactionId: 'b', ...counts, proven: { ...counts, block: '0' } })).toEqual({
    nonce: (2n ** 60n + 1n).toString(),
  });
});

test('a UTXO is claimed by one transaction until its end, and a claim is complete or refused', async () => {
  const object = wallet();
  const others = (transactionId: string) => object.claimedByOthers({ transactionId });
  expect(await object.claim({ transactionId: 'a', utxos: ['x:0', 'y:1'] })).toBe(true);
  expect(await object.claim({ transactionId: 'b', utxos: ['z:0', 'y:1'] })).toBe(false);
  expect(await others('a')).toEqual([]);
  expect(await others('b')).toEqual(['x:0', 'y:1']);
  // This is a second run of the job with other UTXOs. The UTXOs of the first run stay claimed,
  // because that run may have stored them.
  expect(await object.claim({ transactionId: 'a', utxos: ['y:1', 'z:0'] })).toBe(true);
  await evictDurableObject(object);
  expect(await others('b')).toEqual(['x:0', 'y:1', 'z:0']);
  await object.release({ transactionId: 'a' });
  await object.release({ transactionId: 'a' });
  expect(await object.claim({ transactionId: 'b', utxos: ['x:0', 'y:1'] })).toBe(true);
});

test('a pending release survives an eviction, and no transaction gets a nonce above it', async () => {
  const object = wallet();
  await object.allocate({ transactionId: 'a', ...FRESH });
  await object.allocate({ transactionId: 'b', ...FRESH });
  expect(await object.reserveRelease({ transactionId: 'a' })).toBe(false);
  expect(await object.reserveRelease({ transactionId: 'b' })).toBe(true);
  await evictDurableObject(object);
  expect(await object.allocate({ transactionId: 'c', ...FRESH })).toEqual({
    nonce: null,
    why: 'behind',
    waitsFor: 'b',
  });
  await object.cancelRelease({ transactionId: 'b' });
  expect(await object.allocate({ transactionId: 'c', ...FRESH })).toEqual({ nonce: '2' });
});

test('a late request of an ended transaction gets no nonce and no UTXO, also after a restart', async () => {
  const object = wallet();
  await object.end({ transactionId: 'a', isSpent: false });
  await evictDurableObject(object);
  expect(await object.allocate({ transactionId: 'a', ...FRESH })).toEqual({ nonce: null, why: 'over' });
  expect(await object.claim({ transactionId: 'a', utxos: ['coin'] })).toBe(false);
  expect(await object.allocate({ transactionId: 'b', ...FRESH })).toEqual({ nonce: '0' });
  expect(await object.claim({ transactionId: 'b', utxos: ['coin'] })).toBe(true);
});

test('a final inclusion raises the floor, and an end without an inclusion does not', async () => {
  const object = wallet();
  for (const transactionId of ['a', 'b', 'c']) await object.allocate({ transactionId, ...FRESH });
  await object.end({ transactionId: 'c', isSpent: false });
  await object.end({ transactionId: 'b', isSpent: true });
  await evictDurableObject(object);
  // One RPC node is behind and reports no mined nonces, and the other one does not agree.
  expect(await object.allocate({ transactionId: 'd', ...FRESH })).toEqual({ nonce: null, why: 'unproven' });
  const proven = { latest: null, pending: null, block: '0' };
  expect(await object.allocate({ transactionId: 'd', ...FRESH, proven })).toEqual({ nonce: '2' });
});

test('nonce counts of one RPC node above all known transactions require proof, and change nothing without it', async () => {
  const object = wallet();
  const lie = { latest: '0', pending: '1000' };
  expect(await object.allocate({ transactionId: 'a', ...lie })).toEqual({ nonce: null, why: 'unproven' });
  const proven = { latest: '0', pending: '0', block: '0' };
  expect(await object.allocate({ transactionId: 'a', ...lie, proven })).toEqual({ nonce: null, why: 'unproven' });
  await evictDurableObject(object);
  expect(await object.allocate({ transactionId: 'a', ...FRESH })).toEqual({ nonce: '0' });
});

test("allocations that were set back are restored from the vault's nonces, except those of ended transactions", async () => {
  const object = wallet();
  await object.end({ transactionId: 'b', isSpent: false });
  const held = [
    { transactionId: 'a', nonce: '0' },
    { transactionId: 'b', nonce: '1' },
  ];
  expect(await object.allocate({ transactionId: 'c', ...FRESH, held })).toEqual({ nonce: '1' });
  await evictDurableObject(object);
  expect(await object.blocker({ transactionId: 'c', latest: '0', pending: '0' })).toEqual({ transactionId: 'a' });
  expect(await object.blocker({ transactionId: 'c', latest: '1', pending: '1' })).toBeNull();
  await object.release({ transactionId: 'a' });
  expect(await object.blocker({ transactionId: 'c', latest: '0', pending: '0' })).toEqual({ transactionId: null });
});

test.each([
  ['owned', 'an empty nonce', "UPDATE owned SET nonce = ''"],
  ['floor', 'a floor that is no decimal number', "UPDATE floor SET nonce = '0x1'"],
  ['settled', 'a settled block that is no number', "INSERT INTO settled VALUES (0, 'soon')"],
  ['reserved', 'a negative reserved amount', "INSERT INTO reserved VALUES ('a', '', '-1')"],
])('a wallet whose table %s has %s gives no nonce', async (_table, _what, damage) => {
  const object = wallet();
  await object.allocate({ transactionId: 'a', ...FRESH });
  const funds = { blockNumber: '9', nonceCount: '0', holds: [], least: amountOf(0n) };
  const error = await runInDurableObject(object, (inside, { storage }) => {
    storage.sql.exec(damage);
    try {
      inside.allocate({ transactionId: 'b', ...FRESH, spending: { amounts: [], funds } });
      return 'none';
    } catch (thrown) {
      return String(thrown);
    }
  });
  expect(error).toBe('Error: unreadable state: a stored number of a wallet is damaged');
});
