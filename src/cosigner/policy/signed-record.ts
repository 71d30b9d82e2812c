import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { CanonicalField } from '#domain/canonical/bytes.ts';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import type { CosignerStorage, SignedRecord } from '#cosigner/storage.ts';
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
import { signAsCosigner, verifyAsCosigner } from '#mpc/envelope.ts';
import type { PartyIndex } from '#mpc/party.ts';

/** A record with the signatures of co-signers that have it. */
export interface AttestedRecord {
  readonly record: SignedRecord;
  readonly attesters: ReadonlyMap<PartyIndex, Uint8Array>;
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
  for (const record of storage.signedFor(transactionId)) {
    const signature = await signAsCosigner(membership.own, recordBytes(keyId, record));
    attestedRecords.push({ record, signature: Buffer.from(signature).toString('hex') });
  }
  return attestedRecords;
}

/**
 * Stores a record that as many co-signers signed as sign together: so many would not attest a
 * record that was never signed, or they could have signed it themselves. A co-signer that took no
 * part in the signature, or whose storage was set back, then has the record as if it had signed.
 *
 * @param threshold of the key. Refuses `not-enough-witnesses`, `second-digest` (this co-signer
 * signed something else).
 */
export async function importRecord(
  { membership, storage }: { readonly membership: CosignerSet; readonly storage: CosignerStorage },
  keyId: string,
  { record, attesters, threshold }: AttestedRecord & { readonly threshold: number },
): Promise<Result<null, Refused>> {
  const bytes = recordBytes(keyId, record);
  let proven = 0;
  for (const [party, signature] of attesters) {
    const peer = membership.peers.get(party);
    if (peer !== undefined && (await verifyAsCosigner(peer, bytes, signature))) proven += 1;
  }
  if (proven < threshold) return refused(refusal('not-enough-witnesses'));
  return storage.remember(record) ? accepted(null) : refused(refusal('second-digest'));
}

/** Parses a nonce. The first UTXO of Bitcoin has 36 bytes, more than any amount. */
function nonceOf(value: unknown): string {
  const text = textOf(value, 96);
  if (!/^(?:0|[1-9][0-9]*)$/.test(text)) throw new Malformed('nonce');
  return text;
}

export function witnessedRecordOf(value: unknown): AttestedRecord {
  const { record, witnesses } = fieldsOf(value, ['record', 'witnesses']);
  return { record: recordOf(record), attesters: byPartyOf(witnesses, (one) => bytesOf(one, SIGNATURE_BYTES)) };
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
