import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { inspectPayload } from '#chains/inspect/payload.ts';
import { type Refused, refusal } from '#cosigner/refusal.ts';
import { bytesOf, fieldsOf, listOf, payloadOf, purposeOf } from '#cosigner/request-parser.ts';
import { intentOf } from '#cosigner/signed-document.ts';
import { recordOf, type SignedRecord } from '#cosigner/tables/signed-table.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Intent } from '#domain/transaction/intent.ts';
import { actionOfAttempt, intentBytes } from '#domain/transaction/intent.ts';
import type { KeyShare } from '#mpc/share.ts';
import { isSignedBy, WHOLE_SIGNATURE_BYTES } from '#cosigner/policy/whole-signature.ts';

/** The bytes of one attempt with the whole signatures over them. */
export interface SignedAttempt {
  readonly intent: Intent;
  /** Unsigned bytes, hex. */
  readonly payload: string;
  /** One for each signed message, in order. */
  readonly signatures: readonly Uint8Array[];
}

/** P2TR has the most signatures, one for each of 50 inputs. */
const MAX_SIGNATURES = 50;

/** Parses `{ intent, payload, signatures }` with hex in each. Throws `Malformed`. */
export function signedAttemptOf(value: unknown): SignedAttempt {
  const { intent, payload, signatures } = fieldsOf(value, ['intent', 'payload', 'signatures']);
  return {
    intent: intentOf(intent),
    payload: payloadOf(payload),
    signatures: listOf(signatures, MAX_SIGNATURES, (one) => bytesOf(one, WHOLE_SIGNATURE_BYTES)),
  };
}

/**
 * Returns the sign-once row of bytes that a wallet signed, computed from the bytes and the intent.
 * The signatures prove that as many co-signers as the signing threshold signed these bytes. They do
 * not prove for which of two equal intents, and as which attempt: the bytes name neither.
 *
 * Throws `Malformed` for a purpose that does not exist. Refuses, in order: `wrong-wallet`,
 * `payload-refused` (a message, which nothing replaces, or bytes that are not this attempt of the
 * intent), `not-enough-witnesses` with the detail `signature`.
 *
 * @param wallet the address and the share of this co-signer's key on the chain of the intent
 */
export async function rowOfSigned(
  { intent, payload, signatures }: SignedAttempt,
  record: Pick<SignedRecord, 'attempt' | 'purpose'>,
  wallet: { readonly address: string; readonly share: KeyShare } | null,
): Promise<Result<SignedRecord, Refused>> {
  if (wallet === null || intent.from !== wallet.address) return refused(refusal('wrong-wallet'));
  if (intent.kind === 'message') return refused(refusal('payload-refused', 'message'));
  const purpose = purposeOf(record.purpose);
  const inspected = inspectPayload(actionOfAttempt(intent, purpose), payload);
  if (!inspected.ok) return refused(refusal('payload-refused', inspected.refusal));
  if (inspected.value.kind === 'message') return refused(refusal('payload-refused', 'message'));
  const { signedMessages, signingDigest } = inspected.value;
  let isSigned = signatures.length === signedMessages.length;
  for (const [i, message] of signedMessages.entries()) {
    const signature = signatures[i];
    isSigned &&= signature !== undefined && (await isSignedBy(wallet.share, message, signature));
  }
  if (!isSigned) return refused(refusal('not-enough-witnesses', 'signature'));
  const intentDigest = bytesToHex(sha256(intentBytes(intent)));
  const commitment = { purpose, intentDigest, signedMessages, signingDigest, bid: inspected.value.bid };
  return accepted(recordOf(intent.transactionId, record.attempt, commitment));
}
