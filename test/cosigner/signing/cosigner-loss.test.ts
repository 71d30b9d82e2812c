import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { VaultKey } from '#domain/vault/vault.ts';
import { thresholdSign } from '../threshold-sign.ts';
import type { Cosigners } from '../cosigners.ts';
import { approvedTransfer, newKey, present, startCosigners } from '../cosigners.ts';
import { openBody, opening } from '../rejected-requests.ts';

/** Tests which signatures are possible when a co-signer, its share or its machine is missing. */

let cosigners: Cosigners;
let key: VaultKey;

beforeAll(async () => {
  cosigners = await startCosigners();
  key = await newKey(cosigners.all);
});
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

test('two co-signers keep signing after the third is replaced, and its new machine gets shares of new keys only', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  await cosigners.replace(2);
  expect(await thresholdSign(cosigners.all, approvedTransfer({ key }))).toMatchObject({ ok: true });
  expect(await thresholdSign(cosigners.some(1, 2), approvedTransfer({ key }))).toMatchObject({
    ok: false,
    reason: expect.stringMatching(/unknown-key|not-paired|peer-banned/) as string,
  });
  // A key generation pairs the new machine with the others, and includes a test signature of every
  // pair.
  const next = await newKey(cosigners.all);
  for (const pair of [
    [1, 2],
    [2, 3],
    [1, 3],
  ]) {
    expect(await thresholdSign(cosigners.some(...pair), approvedTransfer({ key: next }))).toMatchObject({ ok: true });
  }
  // The pair set-up of co-signers 1 and 3 and their old key still work.
  expect(await thresholdSign(cosigners.some(1, 3), approvedTransfer({ key }))).toMatchObject({ ok: true });
  vi.restoreAllMocks();
});
