/**
 * Attack: one co-signer of 3 of 4 signs a payment, and is absent afterwards, or gives no or a false
 *   attestation of it. The fourth co-signer lacks the record, so no group can replace the payment.
 * Attacker: coordinator and co-signer
 * Co-signers: 1
 * Finding: N4
 * Defence: a co-signer takes the record from the signed bytes themselves, with the attestation of
 *   one other co-signer. It computes the record, and refuses bytes of another wallet, intent,
 *   attempt or purpose, and signatures over anything else.
 */
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { AttemptPurpose } from '#domain/transaction/intent.ts';
import { actionOfAttempt, intentBytes } from '#domain/transaction/intent.ts';
import type { VaultKey } from '#domain/vault/vault.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';
import { accepted } from '#domain/result.ts';
import type { SignedBytes } from '#jobs/signing/propagate-signed-record.ts';
import { signedBytesOf } from '#jobs/signing/propagate-signed-record.ts';
import type { ApprovedTransfer, Cosigners } from '../../cosigner/cosigners.ts';
import {
  anvilRules,
  approvedMessage,
  approvedTransfer,
  attemptOf,
  newKey,
  present,
  startCosigners,
} from '../../cosigner/cosigners.ts';
import { thresholdSign } from '../../cosigner/threshold-sign.ts';
import { policy as firstPolicy } from '../../domain/cast.ts';

const policy = { ...firstPolicy, signingThreshold: 3 };

let cosigners: Cosigners;
let key: VaultKey;
let nonce = 0n;

beforeAll(async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  cosigners = await startCosigners(4);
  key = await newKey(cosigners.all, { governedBy: policy });
});
afterAll(() => cosigners.stop());

interface Signed {
  readonly request: ApprovedTransfer;
  readonly bytes: SignedBytes;
}

async function signed(
  group: readonly CosignerClient[],
  request: ApprovedTransfer,
  earlier: readonly SignedBytes[] = [],
): Promise<Signed | string> {
  const outcome = await thresholdSign(group, { ...request, earlier: () => earlier });
  if (!outcome.ok) return outcome.reason;
  const { intent, attempt } = request;
  const raw = anvilRules.assemble(actionOfAttempt(intent, attempt.purpose), attempt, outcome.signatures);
  if (!raw.ok) throw new Error(raw.refusal.detail);
  return { request, bytes: signedBytesOf(anvilRules, intent, { ...attempt, signed: { raw: raw.value.raw } }) };
}

/** Returns a payment that co-signers 1, 2 and 3 signed; co-signer 4 has no record of it. */
async function paid(by = key): Promise<Signed> {
  nonce += 1n;
  const request = approvedTransfer({ key: by, governedBy: policy, nonce, maxFeePerGas: 2_000_000_000n });
  const first = await signed(cosigners.some(1, 2, 3), { ...request, policies: [{ policy, mandate: null }] });
  if (typeof first === 'string') throw new Error(first);
  return first;
}

/** Returns a request for a further attempt at the same nonce. */
function further({ request }: Signed, number: number, purpose: AttemptPurpose): ApprovedTransfer {
  const { intent } = request;
  const maxFeePerGas = number === 2 ? 3_000_000_000n : BigInt(intent.maxFee) / 21_000n;
  const options = { nonce: BigInt(request.attempt.nonce), maxFeePerGas };
  return { ...request, attempt: { ...attemptOf(actionOfAttempt(intent, purpose), options, number), purpose } };
}

/** Has a speed-up and then a cancellation signed. */
async function replaced(group: readonly CosignerClient[]): Promise<readonly (readonly [boolean, string])[]> {
  const first = await paid();
  const faster = await signed(group, further(first, 2, 'intent'), [first.bytes]);
  if (typeof faster === 'string') return [[false, faster]];
  const cancelled = await signed(group, further(first, 3, 'cancellation'), [first.bytes, faster.bytes]);
  return [
    [true, ''],
    [typeof cancelled !== 'string', typeof cancelled === 'string' ? cancelled : ''],
  ];
}

test('any three of four co-signers sign a speed-up and a cancellation of a payment of the first three', async () => {
  for (const group of [
    [1, 2, 3],
    [1, 2, 4],
    [1, 3, 4],
    [2, 3, 4],
  ]) {
    const expected = [group, true, '', true, ''];
    expect([group, ...(await replaced(cosigners.some(...group))).flat()]).toEqual(expected);
  }
});

/** Returns co-signer 3, which signs nothing, and changes its attestations. */
function liar(lie: (lines: readonly { record: object; signature: string }[]) => readonly object[]): CosignerClient {
  const third = present(cosigners.some(3)[0]);
  return {
    index: third.index,
    call: async (path, body) => {
      const answer = await third.call(path, path.endsWith('/open') ? { broken: true } : body);
      if (!path.endsWith('/signed') || !answer.ok) return answer;
      return accepted(lie(answer.value as readonly { record: object; signature: string }[]));
    },
  };
}

test('a co-signer that attests nothing, or falsely, stops no replacement', async () => {
  const lies: Readonly<Record<string, Parameters<typeof liar>[0]>> = {
    nothing: () => [],
    'a false signature': (lines) => lines.map((line) => ({ ...line, signature: '00'.repeat(64) })),
    'other records': (lines) => lines.flatMap((line) => [line, { ...line, record: { ...line.record, nonce: '7' } }]),
  };
  for (const [name, lie] of Object.entries(lies)) {
    const expected = [name, true, '', true, ''];
    const group = [...cosigners.some(1, 2), liar(lie), ...cosigners.some(4)];
    expect([name, ...(await replaced(group)).flat()]).toEqual(expected);
  }
});

/** Returns the record of an attempt that a co-signer attests. */
async function lineOf(index: number, { request: { intent } }: Signed, attempt = 1) {
  const { transactionId } = intent;
  const answer = await present(cosigners.some(index)[0]).call(`key/${key.keyId}/signed`, { transactionId });
  if (!answer.ok) throw new Error(answer.refusal.code);
  const lines = answer.value as readonly { readonly record: Record<string, unknown>; readonly signature: string }[];
  return present(lines.find(({ record }) => record['attempt'] === attempt));
}

test('a co-signer takes no record that the signed bytes, or an attestation of another one, do not prove', async () => {
  const [one, twin] = [await paid(), await paid()];
  const faster = await signed(cosigners.some(1, 2, 3), further(one, 2, 'intent'));
  if (typeof faster === 'string') throw new Error(faster);
  const otherKey = await newKey(cosigners.all, { governedBy: policy });
  const elsewhere = await paid(otherKey);
  const { record, signature } = await lineOf(1, one);
  const later = await lineOf(1, faster, 2);
  const own = one.bytes.signed;
  const [flipped] = own.signatures.map((hex) => {
    const bytes = hexToBytes(hex);
    bytes[40] = (bytes[40] ?? 0) ^ 1;
    return bytesToHex(bytes);
  });
  const message = approvedMessage(key, { format: 'eip191', message: 'hello' });
  const messageIntent = bytesToHex(intentBytes(message.intent));
  const honest = { record, witnesses: { 1: signature }, signed: own };
  const lies: readonly (readonly [string, string, unknown])[] = [
    ['no attestation', 'not-enough-witnesses', { ...honest, witnesses: {} }],
    ['attestations below the threshold, and no bytes', 'not-enough-witnesses', { record, witnesses: { 1: signature } }],
    ['a false attestation', 'not-enough-witnesses', { ...honest, witnesses: { 1: '00'.repeat(64) } }],
    ['an attestation as its own', 'not-enough-witnesses', { ...honest, witnesses: { 4: signature } }],
    ['no signature', 'not-enough-witnesses', { ...honest, signed: { ...own, signatures: [] } }],
    ['a false signature', 'not-enough-witnesses', { ...honest, signed: { ...own, signatures: [flipped] } }],
    [
      'two signatures',
      'not-enough-witnesses',
      { ...honest, signed: { ...own, signatures: [...own.signatures, ...own.signatures] } },
    ],
    [
      'the signature of another attempt',
      'not-enough-witnesses',
      { ...honest, signed: { ...own, signatures: faster.bytes.signed.signatures } },
    ],
    ['bytes of another attempt', 'not-enough-witnesses', { ...honest, signed: faster.bytes.signed }],
    [
      'another attempt number',
      'not-enough-witnesses',
      { ...honest, record: { ...record, attempt: 2 }, witnesses: { 1: later.signature } },
    ],
    [
      'another attempt number with the attestation of the right one',
      'not-enough-witnesses',
      { ...honest, record: { ...record, attempt: 2 } },
    ],
    ['bytes of an equal payment', 'not-enough-witnesses', { ...honest, signed: twin.bytes.signed }],
    [
      'bytes of an equal payment for this intent',
      'not-enough-witnesses',
      { ...honest, signed: { ...twin.bytes.signed, intent: own.intent } },
    ],
    [
      'the record of an equal payment for this intent',
      'not-enough-witnesses',
      {
        ...honest,
        record: { ...(await lineOf(1, twin)).record, transactionId: record['transactionId'] },
        signed: { ...twin.bytes.signed, intent: own.intent },
      },
    ],
    ['another fee', 'not-enough-witnesses', { ...honest, record: { ...record, maxFee: '1' } }],
    ['another nonce', 'not-enough-witnesses', { ...honest, record: { ...record, nonce: '999' } }],
    ['another purpose', 'payload-refused', { ...honest, record: { ...record, purpose: 'cancellation' } }],
    ['a message', 'payload-refused', { ...honest, signed: { ...own, intent: messageIntent } }],
    ['bytes of another wallet', 'wrong-wallet', { ...honest, signed: elsewhere.bytes.signed }],
    ['unknown fields', 'malformed', { ...honest, signed: { ...own, digest: '00' } }],
  ];
  const fourth = present(cosigners.some(4)[0]);
  const shown = async (body: unknown) => {
    const answer = await fourth.call(`key/${key.keyId}/witness`, body);
    return answer.ok ? 'taken' : answer.refusal.code;
  };
  for (const [name, refusal, body] of lies) expect([name, await shown(body)]).toEqual([name, refusal]);
  expect(await fourth.call(`key/${key.keyId}/signed`, { transactionId: record['transactionId'] })).toMatchObject({
    ok: true,
    value: [],
  });
  expect([await shown(honest), await shown(honest)]).toEqual(['taken', 'taken']);
});
