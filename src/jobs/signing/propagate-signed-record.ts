import { bytesToHex } from '@noble/hashes/utils.js';
import * as z from 'zod';
import type { ChainRules } from '#chains/chain-rules.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';
import { isUnanswered } from '#cosigner-client/client.ts';
import type { Intent } from '#domain/transaction/intent.ts';
import { intentBytes } from '#domain/transaction/intent.ts';
import type { Attempt } from '#domain/transaction/transaction.ts';

const attestation = z.array(
  z.object({ record: z.looseObject({ attempt: z.int() }), signature: z.string().regex(/^[0-9a-f]{128}$/) }),
);

/** The bytes of one attempt with its whole signatures, as co-signers verify them. */
export interface SignedBytes {
  readonly attempt: number;
  /** Hex in each. */
  readonly signed: { readonly intent: string; readonly payload: string; readonly signatures: readonly string[] };
}

/** Returns the signed bytes of an attempt for co-signers that took no part in the signature. */
export function signedBytesOf(
  { signaturesIn }: Pick<ChainRules, 'signaturesIn'>,
  intent: Intent,
  {
    number,
    payload,
    signed: { raw },
  }: Pick<Attempt, 'number' | 'payload'> & { readonly signed: { readonly raw: string } },
): SignedBytes {
  const signatures = signaturesIn(raw).map(bytesToHex);
  return { attempt: number, signed: { intent: bytesToHex(intentBytes(intent)), payload, signatures } };
}

export interface Propagation {
  readonly keyId: string;
  readonly transactionId: string;
  /** Of the key: the number of attestations that prove a record without its signed bytes. */
  readonly threshold: number;
  /** Returns the signed attempts that the coordinator has. */
  readonly signed: () => readonly SignedBytes[];
}

/**
 * Propagates the signed record of a transaction to co-signers that did not take part in the
 * signature. So no other group signs anything different, even if a co-signer's storage is rolled
 * back, and any group may sign a replacement. The proof of a record is the attestations of those
 * that have it or, where these are too few or not all valid, one of them with the signed bytes.
 * Release 0.2.0 of co-signers reads attestations alone. Idempotent. An unreachable co-signer
 * receives the record the next time, and refuses until then what it has missed.
 */
export async function propagateSignedRecord(
  cosigners: readonly CosignerClient[],
  { keyId, transactionId, threshold, signed }: Propagation,
): Promise<void> {
  const answers = await Promise.all(
    cosigners.map(async (cosigner) => {
      const answer = await cosigner.call(`key/${keyId}/signed`, { transactionId });
      const lines = answer.ok ? attestation.safeParse(answer.value) : null;
      // A liar may list many records of one attempt, and each is sent to the others.
      const ofAttempts = (all: z.infer<typeof attestation>) => [
        ...new Map(all.map((line) => [line.record.attempt, line])).values(),
      ];
      return lines?.success === true ? { cosigner, lines: ofAttempts(lines.data) } : null;
    }),
  );
  const present = answers.filter((one) => one !== null);
  const known = Map.groupBy(
    present.flatMap(({ cosigner, lines }) => lines.map((line) => ({ cosigner, ...line }))),
    ({ record }) => JSON.stringify(record),
  );
  const bytesOfAttempts = signed();
  const inOrder = [...known.values()].toSorted(([one], [other]) => attemptOf(one) - attemptOf(other));
  for (const all of inOrder) {
    const witnesses = Object.fromEntries(all.map(({ cosigner, signature }) => [String(cosigner.index), signature]));
    const uninformed = present.filter(({ cosigner }) => !(String(cosigner.index) in witnesses));
    const shown = { record: all[0]?.record, witnesses };
    const bytes = bytesOfAttempts.find(({ attempt }) => attempt === attemptOf(all[0]));
    const proofs = [
      ...(all.length >= threshold ? [shown] : []),
      ...(bytes === undefined ? [] : [{ ...shown, signed: bytes.signed }]),
    ];
    await Promise.all(uninformed.map(({ cosigner }) => showFirstTaken(cosigner, keyId, proofs)));
  }
}

function attemptOf(line: z.infer<typeof attestation>[number] | undefined): number {
  return line?.record.attempt ?? 0;
}

/** Shows the proofs of one record to a co-signer, until it takes one. */
async function showFirstTaken(cosigner: CosignerClient, keyId: string, proofs: readonly unknown[]): Promise<void> {
  for (const proof of proofs) {
    const answer = await cosigner.call(`key/${keyId}/witness`, proof);
    if (answer.ok || isUnanswered(answer.refusal)) return;
  }
}
