import { ed25519 } from '@noble/curves/ed25519.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import type { ShownStatement } from '#domain/approval-message.ts';
import type { CosignerPin } from '#domain/cosigner-pin.ts';
import { pinBytes } from '#domain/cosigner-pin.ts';
import type { SignedStatement } from '#domain/statement.ts';
import { statementBytes, statementFault } from '#domain/statement.ts';

/** What a co-signer says of the policy: by its own signature, or `unknown`. A missing statement never agrees. */
export interface Verdict {
  readonly cosigner: number;
  readonly says: 'agrees' | 'disagrees' | 'unknown';
  /** Why the statement does not count, or what the co-signer has in force instead; null where it agrees. */
  readonly detail: string | null;
}

/** The policy that is claimed to be in force, and the question that the statements must answer. */
export interface Claim {
  readonly vaultId: number;
  readonly keyId: string;
  readonly policyVersion: number;
  readonly policyHash: string;
  readonly nonce: string;
  readonly nowMs: number;
}

/** One verdict for each pinned co-signer. Statements of co-signers that are not pinned are not looked at. */
export function verdictsOf(
  shown: readonly ShownStatement[],
  pins: readonly CosignerPin[],
  claim: Claim,
): readonly Verdict[] {
  return pins.map((pin) => {
    const unknown = (detail: string): Verdict => ({ cosigner: pin.index, says: 'unknown', detail });
    const own = shown.filter(({ cosigner, keyId }) => cosigner === pin.index && keyId === claim.keyId);
    const statement = own[0]?.statement ?? null;
    if (own.length > 1) return unknown('the server sent several statements of it');
    if (statement === null) return unknown('the server sent no statement of it');
    if (!isSignedStatement(statement)) return unknown('the statement is malformed');
    if (statement.cosigner !== pin.index) return unknown('the statement is of another co-signer');
    const fault = statementFault(statement, claim);
    if (fault !== null) return unknown(FAULTS[fault]);
    if (!isSignedBy(pin, statement)) return unknown('the signature is not of the key that you confirmed');
    const { policyVersion, policyHash } = statement;
    const agrees = policyVersion === claim.policyVersion && policyHash === claim.policyHash;
    return agrees
      ? { cosigner: pin.index, says: 'agrees', detail: null }
      : { cosigner: pin.index, says: 'disagrees', detail: `it has another policy in force: version ${policyVersion}` };
  });
}

const FAULTS = {
  'other-vault': 'the statement is about another vault',
  'other-key': 'the statement is about another key',
  'other-nonce': 'the statement answers another question',
  'too-old': 'the statement is not of the last five minutes',
} as const;

function isSignedBy(pin: CosignerPin, statement: SignedStatement): boolean {
  try {
    const signature = hexToBytes(statement.signature);
    // RFC 8032 alone: the laxer rules of ZIP 215 take more than one encoding of a key.
    return ed25519.verify(signature, statementBytes(statement), hexToBytes(pin.signing), { zip215: false });
  } catch {
    return false;
  }
}

const HEX_32 = /^[0-9a-f]{64}$/;
const WHOLE_NUMBERS = ['cosigner', 'vaultId', 'policyVersion', 'epoch', 'issuedAtMs'] as const;
const TEXTS = { keyId: /^[a-z2-7]{26}$/, policyHash: HEX_32, nonce: HEX_32, signature: /^[0-9a-f]{128}$/ } as const;

/** Reports whether a value of the coordinator has the fields of a statement, each in its one spelling. */
function isSignedStatement(value: unknown): value is SignedStatement {
  if (typeof value !== 'object' || value === null) return false;
  const fields = new Map<string, unknown>(Object.entries(value));
  const isText = ([name, form]: readonly [string, RegExp]) => {
    const text = fields.get(name);
    return typeof text === 'string' && form.test(text);
  };
  return WHOLE_NUMBERS.every((name) => Number.isSafeInteger(fields.get(name))) && Object.entries(TEXTS).every(isText);
}

/** 80 bits: who wants other keys with the same fingerprint has to try 2^80 sets. */
const FINGERPRINT_BYTES = 10;

/**
 * The fingerprint of the keys of co-signers, which people compare and type, such as
 * `3f0a-91c2-77de-0b14-aa05`: the first 80 bits of the SHA-256 of `pinBytes`, in hex.
 */
export function fingerprintOf(pins: readonly CosignerPin[]): string {
  const digits = bytesToHex(sha256(pinBytes(pins)).subarray(0, FINGERPRINT_BYTES));
  return (digits.match(/.{4}/g) ?? []).join('-');
}

/** Reports whether a person has typed the whole fingerprint of these keys, with or without separators. */
export function isFingerprint(typed: string, pins: readonly CosignerPin[]): boolean {
  const digits = (text: string) => text.toLowerCase().replaceAll(/[\s:-]/g, '');
  return digits(typed) === digits(fingerprintOf(pins));
}
