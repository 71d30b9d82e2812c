import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { VaultKey } from '#domain/vault/vault.ts';
import { thresholdSign } from '../threshold-sign.ts';
import type { Cosigners } from '../cosigners.ts';
import { approvedTransfer, attemptOf, newKey, startCosigners } from '../cosigners.ts';

/**
 * Tests prepared bytes that are dropped: without effect before any co-signer has begun to sign,
 * whereas bytes that a co-signer has begun to sign keep their nonce slot.
 */

let cosigners: Cosigners;
let key: VaultKey;

beforeAll(async () => {
  cosigners = await startCosigners();
  key = await newKey(cosigners.all);
});
afterAll(() => cosigners.stop());
afterEach(() => vi.restoreAllMocks());

test('bytes that are dropped before any co-signer has begun to sign can be replaced by others', async () => {
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
  // From here on the attempt number belongs to the new bytes.
  vi.spyOn(console, 'error').mockImplementation(() => {});
  expect(await thresholdSign(cosigners.all, stale)).toMatchObject({ ok: false, verdict: 'refused' });
});

test('the start of a session is not checked while a co-signer is unreachable', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const request = approvedTransfer({ key, nonce: 21n });
  const mayStart = vi.fn(async () => true);
  expect(await thresholdSign(cosigners.some(1), { ...request, mayStart })).toMatchObject({ ok: false });
  expect(mayStart).not.toHaveBeenCalled();
});
