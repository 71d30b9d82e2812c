import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { VaultKey } from '#domain/vault.ts';
import { thresholdSign } from '#jobs/signing/threshold-sign.ts';
import type { Cosigners } from '../cosigners.ts';
import { approvedTransfer, newKey, present, startCosigners } from '../cosigners.ts';
import { openBody, opening } from '../rejected-requests.ts';

/** What remains when a co-signer, its share or its machine is missing. */

let cosigners: Cosigners;
let key: VaultKey;

beforeAll(async () => {
  cosigners = await startCosigners();
  key = await newKey(cosigners.all);
}, 60_000);
afterAll(() => cosigners.stop());

test('one co-signer alone signs nothing', async () => {
  const outcome = await thresholdSign(cosigners.some(2), approvedTransfer({ key }));
  expect(outcome).toMatchObject({ ok: false, verdict: 'unavailable' });
});

test('a co-signer refuses a session for a key that it does not have', async () => {
  const answer = await present(cosigners.all[0]).call(
    `key/${'b'.repeat(26)}/open`,
    opening(openBody(approvedTransfer({ key }), [1, 2])),
  );
  expect(answer.ok ? '' : answer.refusal.code).toBe('unknown-key');
});

test('the two others sign on; the new machine has no share of old keys, and one of every new key', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  await cosigners.replace(2);
  expect(await thresholdSign(cosigners.all, approvedTransfer({ key }))).toMatchObject({ ok: true });
  expect(await thresholdSign(cosigners.some(1, 2), approvedTransfer({ key }))).toMatchObject({
    ok: false,
    reason: expect.stringMatching(/unknown-key|not-paired|peer-banned/) as string,
  });
  // The pairs are made anew with it, and every two nodes prove that they can sign: that is part of
  // the making.
  const next = await newKey(cosigners.all);
  for (const pair of [
    [1, 2],
    [2, 3],
    [1, 3],
  ]) {
    expect(await thresholdSign(cosigners.some(...pair), approvedTransfer({ key: next }))).toMatchObject({ ok: true });
  }
  // And what the two others had made with each other is as good as before.
  expect(await thresholdSign(cosigners.some(1, 3), approvedTransfer({ key }))).toMatchObject({ ok: true });
  vi.restoreAllMocks();
}, 120_000);
