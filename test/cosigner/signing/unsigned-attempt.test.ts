import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { VaultKey } from '#domain/vault.ts';
import { thresholdSign } from '#jobs/signing/threshold-sign.ts';
import type { Cosigners } from '../cosigners.ts';
import { approvedTransfer, attemptOf, newKey, startCosigners } from '../cosigners.ts';

/**
 * Bytes that were dropped before any co-signer began leave nothing behind; bytes that a co-signer
 * has begun with keep their nonce slot.
 */

let cosigners: Cosigners;
let key: VaultKey;

beforeAll(async () => {
  cosigners = await startCosigners();
  key = await newKey(cosigners.all);
}, 60_000);
afterAll(() => cosigners.stop());
afterEach(() => vi.restoreAllMocks());

test('bytes that are dropped when all co-signers are there, and none has begun, can be followed by others', async () => {
  const stale = approvedTransfer({ key, nonce: 11n });
  let requestCount = 0;
  const dropped = await thresholdSign(cosigners.all, {
    ...stale,
    mayStart: async () => {
      requestCount += 1;
      return false;
    },
  });
  expect([dropped, requestCount]).toEqual([{ ok: false, verdict: 'unavailable', reason: 'superseded' }, 1]);
  const fresh = { ...stale, attempt: attemptOf(stale.intent, { nonce: 12n }) };
  expect(await thresholdSign(cosigners.all, { ...fresh, mayStart: async () => true })).toMatchObject({ ok: true });
  // From there on the number belongs to those bytes.
  vi.spyOn(console, 'error').mockImplementation(() => {});
  expect(await thresholdSign(cosigners.all, stale)).toMatchObject({ ok: false, verdict: 'refused' });
});

test('where a co-signer is unreachable, the start of a session is not checked', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const request = approvedTransfer({ key, nonce: 21n });
  const mayStart = vi.fn(async () => true);
  expect(await thresholdSign(cosigners.some(1), { ...request, mayStart })).toMatchObject({ ok: false });
  expect(mayStart).not.toHaveBeenCalled();
});
