import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { VaultKey } from '#domain/vault/vault.ts';
import { propagateSignedRecord } from '#jobs/signing/propagate-signed-record.ts';
import { signerGroups } from '#cosigner-client/signer-groups.ts';
import { thresholdSign } from '../threshold-sign.ts';
import type { ApprovedTransfer, Cosigners } from '../cosigners.ts';
import { approvedTransfer, attemptOf, newKey, present, startCosigners } from '../cosigners.ts';

/**
 * Tests the records that co-signers have of each other's signatures: they keep a co-signer that was
 * restored to an old state from signing a second digest.
 */

let cosigners: Cosigners;
let key: VaultKey;

beforeAll(async () => {
  cosigners = await startCosigners();
  key = await newKey(cosigners.all);
});
afterAll(() => cosigners.stop());
afterEach(() => vi.restoreAllMocks());

const report = (of: ApprovedTransfer, threshold = 2) =>
  propagateSignedRecord(cosigners.all, {
    keyId: key.keyId,
    transactionId: of.intent.transactionId,
    threshold,
    signed: () => [],
  });

const linesOf = async (index: number, { intent }: ApprovedTransfer) => {
  const answer = await present(cosigners.some(index)[0]).call(`key/${key.keyId}/signed`, {
    transactionId: intent.transactionId,
  });
  if (!answer.ok) throw new Error(answer.refusal.code);
  return answer.value as readonly { readonly record: Record<string, unknown>; readonly signature: string }[];
};

/** Returns, for every pair of co-signers, whether it signs the same transfer at another nonce. */
async function signsAgain(request: ApprovedTransfer, nonce: bigint) {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const attempt = attemptOf(request.intent, { nonce });
  const answers: string[] = [];
  for (const pair of signerGroups(cosigners.all, 2)) {
    const again = await thresholdSign(pair, { ...request, attempt });
    answers.push(again.ok ? 'signs' : again.reason.replace(/^node [0-9] /, ''));
  }
  return answers;
}

test('no two co-signers sign a transfer at another nonce after one co-signer was restored to before its signature', async () => {
  for (const index of [1, 2, 3]) {
    const request = approvedTransfer({ key, nonce: BigInt(1000 + 10 * index) });
    const putBack = await cosigners.keep(index);
    expect(await thresholdSign(cosigners.some(1, 2), request)).toMatchObject({ ok: true });
    await report(request);
    await putBack();
    expect([index, await signsAgain(request, BigInt(1001 + 10 * index))]).toEqual([
      index,
      ['second-digest', 'second-digest', 'second-digest'],
    ]);
    // Every group signs the same bytes again, so that the coordinator can repeat a request whose
    // reply was lost.
    expect(await thresholdSign(cosigners.some(1, 3), request)).toMatchObject({ ok: true });
  }
});

test('a group that did not sign the first attempt signs a replacement once it has the attested record', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const request = approvedTransfer({ key, nonce: 2000n, maxFeePerGas: 2_000_000_000n });
  expect(await thresholdSign(cosigners.some(1, 2), request)).toMatchObject({ ok: true });
  const attempt = attemptOf(request.intent, { nonce: 2000n, maxFeePerGas: 3_000_000_000n }, 2);
  // Co-signer 3 has no record, and only one of the two co-signers with a record takes part. One
  // attestation is no proof.
  expect(await thresholdSign(cosigners.some(2, 3), { ...request, attempt })).toMatchObject({ ok: false });
  await report(request);
  expect(await thresholdSign(cosigners.some(2, 3), { ...request, attempt })).toMatchObject({ ok: true });
  // Co-signer 1 receives the record of the second attempt although the test does not send it.
  const third = attemptOf(request.intent, { nonce: 2000n, maxFeePerGas: 4_000_000_000n }, 3);
  expect(await thresholdSign(cosigners.all, { ...request, attempt: third })).toMatchObject({ ok: true });
});

test('a record that only one co-signer attests, or that differs from the signed record, is not adopted', async () => {
  const request = approvedTransfer({ key, nonce: 3000n });
  expect(await thresholdSign(cosigners.some(1, 2), request)).toMatchObject({ ok: true });
  const [one, two] = [present((await linesOf(1, request))[0]), present((await linesOf(2, request))[0])];
  expect(one.record).toEqual(two.record);
  const third = present(cosigners.some(3)[0]);
  const say = async (record: Record<string, unknown>, attesters: Record<string, string>) => {
    const answer = await third.call(`key/${key.keyId}/witness`, { record, witnesses: attesters });
    return answer.ok ? 'taken' : answer.refusal.code;
  };
  const both = { '1': one.signature, '2': two.signature };
  const other = approvedTransfer({ key, nonce: 3001n }).intent.transactionId;
  for (const [record, attesters] of [
    [one.record, {}],
    [one.record, { '1': one.signature }],
    [one.record, { '1': one.signature, '2': one.signature }],
    [one.record, { '1': one.signature, '3': one.signature }],
    [{ ...one.record, signingDigest: '00'.repeat(32) }, both],
    [{ ...one.record, transactionId: other }, both],
    [{ ...one.record, attempt: 2 }, both],
    [{ ...one.record, purpose: 'cancellation' }, both],
    [{ ...one.record, nonce: '3001' }, both],
    [{ ...one.record, maxFee: '1' }, both],
  ] as const) {
    expect([record, await say(record, attesters)]).toEqual([record, 'not-enough-witnesses']);
  }
  expect(await linesOf(3, request)).toEqual([]);
  expect([await say(one.record, both), await say(one.record, both)]).toEqual(['taken', 'taken']);
  expect((await linesOf(3, request)).map(({ record }) => record)).toEqual([one.record]);
  expect(await say({ ...one.record, purpose: 'refund' }, both)).toBe('malformed');
});
