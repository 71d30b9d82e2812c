import { expect, test } from 'vitest';
import {
  announced,
  announcedAtMs,
  cancellationBytes,
  ended,
  isOpen,
  newReset,
  resetDelayMs,
  resetStateAt,
} from '#domain/access/credential-reset.ts';
import { newCredentialResetId, parseCredentialResetId, parseVaultId } from '#domain/id.ts';
import { alice, bob, vaultId } from '../cast.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW_MS = 1_790_000_000_000;
const id = newCredentialResetId(NOW_MS, new Uint8Array(10));
const reset = newReset({ id, userId: alice.userId, userName: 'Alice', delayMs: DAY_MS }, NOW_MS);

test('the delay is a day by default, and never shorter than an hour', () => {
  expect([resetDelayMs(undefined), resetDelayMs(''), resetDelayMs('3600')]).toEqual([DAY_MS, DAY_MS, HOUR_MS]);
  expect(resetDelayMs('2592000')).toBe(30 * DAY_MS);
  for (const wrong of ['0', '3599', '2592001', '-86400', '1e9', '24h', ' 86400', '86400.5', '9'.repeat(30)]) {
    expect(() => resetDelayMs(wrong)).toThrow('CREDENTIAL_RESET_DELAY_SECONDS');
  }
});

test('a reset waits for its delay, can be collected for a week, and then expires', () => {
  const states = [0, DAY_MS - 1, DAY_MS, 8 * DAY_MS - 1, 8 * DAY_MS].map((ms) => resetStateAt(reset, NOW_MS + ms));
  expect(states).toEqual(['PENDING', 'PENDING', 'READY', 'READY', 'EXPIRED']);
  expect([isOpen(reset, NOW_MS), isOpen(reset, NOW_MS + 8 * DAY_MS)]).toEqual([true, false]);
});

test('a reset that has ended stays ended, and every end is a new version', () => {
  for (const state of ['COMPLETED', 'CANCELLED', 'EXPIRED'] as const) {
    const after = ended(reset, { state }, NOW_MS + 5);
    expect([after.version, after.endedAtMs]).toEqual([reset.version + 1, NOW_MS + 5]);
    for (const ms of [0, DAY_MS, 30 * DAY_MS]) expect(resetStateAt(after, NOW_MS + ms)).toBe(state);
    expect(isOpen(after, NOW_MS)).toBe(false);
  }
});

test('a vault informed within a minute keeps the time of a reset, and a vault informed later gets the whole delay', () => {
  expect(announcedAtMs(reset, NOW_MS + 60_000)).toBe(reset.effectiveAtMs);
  expect(announcedAtMs(reset, NOW_MS + 60_001)).toBe(NOW_MS + 60_001 + DAY_MS);
});

test('the time of a reset only moves later, and only while the reset is pending', () => {
  expect(announced(reset, reset.effectiveAtMs - 1)).toBe(reset);
  const moved = announced(reset, reset.effectiveAtMs + HOUR_MS);
  expect([moved.effectiveAtMs, moved.expiresAtMs]).toEqual([
    reset.effectiveAtMs + HOUR_MS,
    reset.expiresAtMs + HOUR_MS,
  ]);
  const cancelled = ended(reset, { state: 'CANCELLED' }, NOW_MS);
  expect(announced(cancelled, reset.effectiveAtMs + HOUR_MS)).toBe(cancelled);
});

test('a device signature cancels one reset of one person in one vault', () => {
  const other = newCredentialResetId(NOW_MS, new Uint8Array(10).fill(1));
  const elsewhere = parseVaultId(vaultId + 1);
  if (elsewhere === null) throw new Error('a vault has an id');
  const all = [
    cancellationBytes(reset, vaultId),
    cancellationBytes(reset, elsewhere),
    cancellationBytes({ ...reset, id: other }, vaultId),
    cancellationBytes({ ...reset, userId: bob.userId }, vaultId),
  ].map((bytes) => Buffer.from(bytes).toString('hex'));
  expect(new Set(all).size).toBe(4);
});

test('an id of another kind is not the id of a reset', () => {
  expect(parseCredentialResetId(id)).toBe(id);
  for (const text of ['', 'crs_', id.toLowerCase(), id.replace('crs_', 'pch_'), `${id}0`]) {
    expect(parseCredentialResetId(text)).toBeNull();
  }
});
