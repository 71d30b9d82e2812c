/**
 * Attack: the coordinator shows the signers one note and sends the co-signers another note that
 *   seems to have the same digest.
 * Attacker: coordinator
 * Co-signers: 0
 * Finding: 15
 * Defence: text that is not well-formed Unicode has no canonical bytes, and co-signers refuse it
 *   as malformed.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { intentBytes } from '#domain/transaction/intent.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import { digestOf } from '../../../cosigner/policy/check-scene.ts';
import { byDevice, laptop, phone, founded } from '../../../cosigner/policy/device-scene.ts';
import type { Cosigners } from '../../../cosigner/cosigners.ts';
import { approvedTransfer, newKey, startCosigners, approvalBy } from '../../../cosigner/cosigners.ts';
import { openBody, opening } from '../../../cosigner/rejected-requests.ts';
import { alice, bob } from '../../../domain/cast.ts';

/** UTF-8 has no bytes for a lone surrogate, and encoders write U+FFFD in its place. */
const SHOWN = 'Refund \uFFFD';
const SENT = 'Refund \uD800';

let cosigners: Cosigners;
let key: VaultKey;

beforeAll(async () => {
  cosigners = await startCosigners();
  key = await newKey(cosigners.all, { governedBy: byDevice });
});
afterAll(() => cosigners.stop());

/**
 * Returns a request of the attacker. The devices of alice and bob have signed the digest of the
 * note that they saw.
 */
function approvedRequest() {
  const request = approvedTransfer({ key, governedBy: byDevice });
  const shown = { ...request.intent, note: SHOWN };
  const digest = digestOf(shown);
  const approvals = [
    { ...approvalBy(alice, digest), device: laptop.signed(digest) },
    { ...approvalBy(bob, digest), device: phone.signed(digest) },
  ];
  return { ...request, intent: shown, approvals, policies: [founded(byDevice)] };
}

/** @param sent changes the hex of the intent before the co-signers receive it */
async function openAt(sent: (intent: string) => string): Promise<readonly string[]> {
  const request = approvedRequest();
  const answers: string[] = [];
  for (const cosigner of cosigners.all) {
    const signers = [1, 2, 3].filter((i) => i === cosigner.index || i === (cosigner.index % 3) + 1);
    const body = openBody(request, signers);
    const changed = { ...body, request: { ...body.request, intent: sent(body.request.intent) } };
    const answer = await cosigner.call(`key/${request.key.keyId}/open`, opening(changed));
    answers.push(answer.ok ? 'opened' : answer.refusal.code);
  }
  return answers;
}

test('a payment with the note that the devices signed opens a session at every co-signer', async () => {
  expect(await openAt((intent) => intent)).toEqual(['opened', 'opened', 'opened']);
});

test('a note with the bytes of a lone surrogate is refused by every co-signer', async () => {
  // U+FFFD in UTF-8, and U+D800 as an encoder would write it that does not follow the standard.
  const answers = await openAt((intent) => intent.replace('efbfbd', 'eda080'));
  expect(answers).toEqual(['malformed', 'malformed', 'malformed']);
});

test('two different notes never have the same digest, because an ill-formed note has none', () => {
  const { intent } = approvedTransfer({ key });
  expect(() => intentBytes({ ...intent, note: SENT })).toThrow('well-formed');
  expect(intentBytes({ ...intent, note: SHOWN })).not.toEqual(intentBytes({ ...intent, note: 'Refund' }));
});
