import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { CanonicalField } from '#domain/canonical/bytes.ts';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import type { CosignerStorage } from '#cosigner/tables/storage.ts';
import type { SignedRecord } from '#cosigner/tables/signed-table.ts';
import type { CosignerSet } from '#cosigner/cosigner-set.ts';
import type { Refused } from '#cosigner/refusal.ts';
import { refusal } from '#cosigner/refusal.ts';
import {
  amountOf,
  byPartyOf,
  bytesOf,
  fieldsOf,
  hexOf,
  Malformed,
  purposeOf,
  textOf,
  transactionIdOf,
  wholeNumberOf,
} from '#cosigner/request-parser.ts';
import type { SignedAttempt } from '#cosigner/policy/signed-attempt.ts';
import { rowOfSigned, signedAttemptOf } from '#cosigner/policy/signed-attempt.ts';
import { signAsCosigner, verifyAsCosigner } from '#mpc/envelope.ts';
import { equalBytes } from '#mpc/transcript.ts';
import type { PartyIndex } from '#mpc/party.ts';

/** A record with the signatures of co-signers that have it. */
export interface AttestedRecord {
  readonly record: SignedRecord;
  readonly attesters: ReadonlyMap<PartyIndex, Uint8Array>;
  /** The bytes of the attempt with their whole signatures; absent where the attesters prove it. */
  readonly signed?: SignedAttempt;
}

interface RecordTerms {
  readonly threshold: number;
  readonly walletOn: (chain: string) => Parameters<typeof rowOfSigned>[2];
}

const SIGNATURE_BYTES = 64;

/**
 * Returns the records of a transaction, each with a signature of this co-signer. The coordinator
 * shows them to other co-signers.
 */
export async function attestRecords(
  { membership, storage }: { readonly membership: CosignerSet; readonly storage: CosignerStorage },
  keyId: string,
  transactionId: string,
) {
  const attestedRecords: { readonly record: SignedRecord; readonly signature: string }[] = [];
  for (const record of storage.signed.recordsOf(transactionId)) {
    const signature = await signAsCosigner(membership.own, recordBytes(keyId, record));
    attestedRecords.push({ record, signature: Buffer.from(signature).toString('hex') });
  }
  return attestedRecords;
}

/**
 * Stores a proven record. A co-signer that took no part in the signature, or whose storage was set
 * back, then has the record as if it had signed. There are two proofs:
 *
 * 1. As many co-signers attest it as sign together. So many would not attest a record that was
 *    never signed, or they could have signed it themselves.
 * 2. The bytes with the whole signatures of the wallet, from which this co-signer computes the
 *    record itself, and one other co-signer that attests it. A replacement needs no co-signer that
 *    is absent then: every group that can sign has a member of the group that signed before. The
 *    attestation binds the bytes to their intent and attempt. Otherwise a coordinator alone could
 *    show the bytes of one payment as those of an equal one.
 *
 * Refuses `not-enough-witnesses` (detail `record`: the bytes have another record), `second-digest`
 * (this co-signer signed something else), and what `rowOfSigned` refuses.
 *
 * @param threshold of the key
 * @param walletOn returns the wallet of the key on a chain, or null
 */
export async function importRecord(
  { membership, storage }: { readonly membership: CosignerSet; readonly storage: CosignerStorage },
  keyId: string,
  { record, attesters, signed, threshold, walletOn }: AttestedRecord & RecordTerms,
): Promise<Result<null, Refused>> {
  const bytes = recordBytes(keyId, record);
  if (signed !== undefined) {
    const row = await rowOfSigned(signed, record, walletOn(signed.intent.chain));
    if (!row.ok) return row;
    if (!equalBytes(recordBytes(keyId, row.value), bytes)) return refused(refusal('not-enough-witnesses', 'record'));
  }
  let proven = 0;
  for (const [party, signature] of attesters) {
    const peer = membership.peers.get(party);
    if (peer !== undefined && (await verifyAsCosigner(peer, bytes, signature))) proven += 1;
  }
  if (proven < (signed === undefined ? threshold : 1)) return refused(refusal('not-enough-witnesses'));
  return storage.signed.remember(record) ? accepted(null) : refused(refusal('second-digest'));
}

/** Parses a nonce. The first UTXO of Bitcoin has 36 bytes, more than any amount. */
function nonceOf(value: unknown): string {
  const text = textOf(value, 96);
  if (!/^(?:0|[1-9][0-9]*)$/.test(text)) throw new Malformed('not a nonce');
  return text;
}

export function witnessedRecordOf(value: unknown): AttestedRecord {
  const { record, witnesses, signed } = fieldsOf(value, ['record', 'witnesses'], ['signed']);
  const attesters = byPartyOf(witnesses, (one) => bytesOf(one, SIGNATURE_BYTES));
  return { record: recordOf(record), attesters, ...(signed === undefined ? {} : { signed: signedAttemptOf(signed) }) };
}

function recordOf(value: unknown): SignedRecord {
  const fields = fieldsOf(value, [
    'transactionId',
    'attempt',
    'purpose',
    'intentDigest',
    'signingDigest',
    'nonce',
    'maxFee',
    'maxTip',
  ]);
  const bound = (name: string) => (fields[name] === null ? null : amountOf(fields[name]));
  return {
    transactionId: transactionIdOf(fields['transactionId']),
    attempt: wholeNumberOf(fields['attempt']),
    purpose: purposeOf(fields['purpose']),
    intentDigest: hexOf(fields['intentDigest'], 32),
    signingDigest: hexOf(fields['signingDigest'], 32),
    nonce: fields['nonce'] === null ? null : nonceOf(fields['nonce']),
    maxFee: bound('maxFee'),
    maxTip: bound('maxTip'),
  };
}

/**
 * Returns the bytes that a co-signer signs to attest a row. Its own check or the attestations of
 * others wrote the row.
 */
export function recordBytes(keyId: string, record: SignedRecord): Uint8Array<ArrayBuffer> {
  return canonicalBytes('conclave/signed-record/v1', recordFields(keyId, record));
}

/** Returns a sign-once row as fields of canonical bytes. */
export function recordFields(keyId: string, record: SignedRecord): readonly CanonicalField[] {
  return [
    ['keyId', keyId],
    ['transactionId', record.transactionId],
    ['attempt', String(record.attempt)],
    ['purpose', record.purpose],
    ['intentDigest', record.intentDigest],
    ['signingDigest', record.signingDigest],
    ['nonce', record.nonce],
    ['maxFee', record.maxFee],
    ['maxTip', record.maxTip],
  ];
}
