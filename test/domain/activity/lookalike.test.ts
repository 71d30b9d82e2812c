import fc from 'fast-check';
import { expect, test } from 'vitest';
import { requiredApprovalsFor } from '#domain/transaction/approvals.ts';
import { findLookalike, shapeOf } from '#domain/activity/lookalike.ts';
import { messageIntent, policy, transferExposure, transferIntent } from '../cast.ts';

const KNOWN = '0xAbC1111111111111111111111111111111115678';
const TWIN = '0xaBc9999999999999999999999999999999995678';
const OTHER = '0xAbD1111111111111111111111111111111115678';

const known =
  (...addresses: readonly string[]) =>
  (shape: string) =>
    addresses.filter((address) => shapeOf(address) === shape);

test('an address that begins and ends like a known one is detected, in upper or lower case', () => {
  expect(findLookalike([TWIN], known(KNOWN), null)).toEqual({ address: TWIN, known: KNOWN });
});

test('a known address is no look-alike, even when a similar address is known too', () => {
  expect(findLookalike([KNOWN], known(KNOWN), null)).toBeNull();
  expect(findLookalike([KNOWN], known(KNOWN, TWIN), null)).toBeNull();
});

test('one different character at either end distinguishes two addresses', () => {
  for (const address of [OTHER, KNOWN.replace(/8$/, '9'), KNOWN.replace('0xA', '0xB')]) {
    expect([address, findLookalike([address], known(KNOWN), null)]).toEqual([address, null]);
  }
});

test('every address is checked, and only the look-alike that was accepted by name passes', () => {
  expect(findLookalike([OTHER, TWIN], known(KNOWN), null)?.address).toBe(TWIN);
  expect(findLookalike([TWIN], known(KNOWN), KNOWN)).toBeNull();
  expect(findLookalike([TWIN], known(KNOWN), OTHER)?.known).toBe(KNOWN);
  const third = '0xabc7777777777777777777777777777777775678';
  expect(findLookalike([TWIN], known(KNOWN, third), KNOWN)?.known).toBe(third);
});

test('two random addresses are practically never look-alikes', () => {
  const address = fc
    .uint8Array({ minLength: 20, maxLength: 20 })
    .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`);
  fc.assert(
    fc.property(address, address, (one, two) => {
      const alike = one.slice(2, 5) === two.slice(2, 5) && one.slice(-4) === two.slice(-4);
      expect(shapeOf(one) === shapeOf(two)).toBe(alike);
    }),
  );
});

test('a transfer to an accepted look-alike requires one more approval, up to the number of signers', () => {
  const exposure = transferExposure();
  const plain = { intent: transferIntent(), exposure };
  const risky = { intent: { ...transferIntent(), lookalikeOf: KNOWN }, exposure };
  const message = { intent: messageIntent(), exposure: { ...exposure, movements: [], beneficiaries: [] } };
  const now = (threshold: number) => ({ ...policy, threshold });
  expect([requiredApprovalsFor(plain, 2, now(2)), requiredApprovalsFor(risky, 2, now(2))]).toEqual([2, 3]);
  expect([
    requiredApprovalsFor(risky, 1, now(2)),
    requiredApprovalsFor(risky, 2, now(1)),
    requiredApprovalsFor(risky, 3, now(3)),
  ]).toEqual([3, 3, 3]);
  expect(requiredApprovalsFor(risky, 5, now(2))).toBe(5);
  expect(requiredApprovalsFor(message, 2, now(2))).toBe(2);
});
