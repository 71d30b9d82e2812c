import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { InvalidRequest } from '#review/invalid-request.ts';
import { readPolicy } from '#devices/policy-document.ts';
import type { ApprovalRequest, PolicyViewRequest } from '#domain/access/approval-page-message.ts';
import { changedDevice } from '#domain/access/device.ts';
import type { TransactionRejection } from '#domain/access/transaction-rejection.ts';
import { readTransactionRejection, TRANSACTION_REJECTION_DOMAIN } from '#domain/access/transaction-rejection.ts';
import { readIntent } from '#domain/transaction/read-intent.ts';
import type { MandateDocument } from '#domain/policy/read-mandate.ts';
import { readMandate } from '#domain/policy/read-mandate.ts';
import { readRejection } from '#domain/policy/read-rejection.ts';
import { readCanonical } from '#domain/canonical/read-text.ts';
import type { Intent } from '#domain/transaction/intent.ts';
import { INTENT_DOMAIN } from '#domain/transaction/intent.ts';
import { beginsDeviceMode } from '#domain/policy/founding.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { NO_PREVIOUS_POLICY } from '#domain/policy/policy.ts';
import { MANDATE_DOMAIN } from '#domain/policy/policy-change.ts';
import type { PolicyRejection } from '#domain/policy/policy-rejection.ts';
import { REJECTION_DOMAIN } from '#domain/policy/policy-rejection.ts';
import { describeChange, describeFounding } from '#review/describe-change.ts';
import type { Description } from '#review/describe-intent.ts';
import { describeIntent } from '#review/describe-intent.ts';
import type { RejectedChange } from '#review/describe-rejection.ts';
import { describeRejection, describeTransactionRejection } from '#review/describe-rejection.ts';
import { KEY_FAULTS, keyFault } from '#review/statement-keys.ts';

/**
 * The content of a request, read from its bytes alone. The co-signers have not confirmed it yet.
 */
export interface VerifiedRequest {
  /** Lower-case hex SHA-256 of the bytes that were read. The passkey signs it. */
  readonly digest: string;
  readonly inForce: Policy;
  readonly inForceHash: string;
  readonly subject:
    | { readonly kind: 'intent'; readonly intent: Intent }
    /** The first policy in device mode. No statement of a co-signer is about it. */
    | { readonly kind: 'founding'; readonly mandate: MandateDocument; readonly proposed: Policy }
    | { readonly kind: 'change'; readonly mandate: MandateDocument; readonly proposed: Policy }
    | { readonly kind: 'rejection'; readonly rejection: PolicyRejection; readonly change: RejectedChange | null }
    | {
        readonly kind: 'transaction-rejection';
        readonly rejection: TransactionRejection;
        /** Null when the dashboard sent no bytes of it. */
        readonly intent: Intent | null;
      };
  /** Everything that the signature binds, in words. */
  readonly description: Description;
}

/**
 * What happens to a transaction that names an older policy than the one before the policy in force.
 * The description has a warning about it.
 */
interface Reading {
  readonly outdated: 'refused' | 'described';
}

/**
 * Reads a request. Throws `InvalidDocument` for malformed bytes, and `InvalidRequest` for bytes
 * that are unknown or expired, that name a policy other than the one in the request, or that come
 * with statements about other keys.
 */
export function verifyRequest(
  request: ApprovalRequest,
  nowMs: number,
  reading: Reading = { outdated: 'refused' },
): VerifiedRequest {
  const inForce = readPolicy(bytesOfHex(request.policy));
  const inForceHash = hashOfHex(request.policy);
  const subject = readSubject(request, inForce);
  const description = described(subject, inForce);
  const verified = { digest: hashOfHex(request.canonical), inForce, inForceHash, subject, description };
  if (subject.kind === 'rejection' || subject.kind === 'transaction-rejection') {
    holdRejection(subject, verified);
    return verified;
  }
  const { expiresAtMs } = subject.kind === 'intent' ? subject.intent : subject.mandate;
  if (expiresAtMs <= nowMs) throw new InvalidRequest('The request has expired.', 'expired');
  if (subject.kind === 'founding') {
    holdFounding(subject, verified);
    return verified;
  }
  if (subject.kind === 'intent') holdIntent(subject.intent, verified, reading);
  else holdChange(subject, verified);
  holdKeys(request, subject);
  return verified;
}

/** Throws unless the statements are about the key of the wallet, or about keys of the vault. */
function holdKeys({ keys }: ApprovalRequest, subject: VerifiedRequest['subject']): void {
  const wallet = subject.kind === 'intent' ? { chain: subject.intent.chain, address: subject.intent.from } : null;
  const fault = keyFault(keys, wallet);
  if (fault !== null) throw new InvalidRequest(KEY_FAULTS[fault]);
}

function readSubject(request: ApprovalRequest, inForce: Policy): VerifiedRequest['subject'] {
  const { canonical, proposed, mandate: rejected } = request;
  const domain = domainOf(canonical);
  if (rejected !== null && domain !== REJECTION_DOMAIN && domain !== TRANSACTION_REJECTION_DOMAIN) {
    throw new InvalidRequest('An approval must not include what a rejection rejects.');
  }
  switch (domain) {
    case INTENT_DOMAIN:
      if (proposed !== null) throw new InvalidRequest('A transaction must not include a proposed policy.');
      return { kind: 'intent', intent: readIntent(bytesOfHex(canonical)) };
    case MANDATE_DOMAIN: {
      if (proposed === null) throw new InvalidRequest('The proposed policy is missing.');
      const change = readChange(canonical, proposed);
      const isFounding = beginsDeviceMode(change.proposed, inForce);
      return { kind: isFounding ? 'founding' : 'change', ...change };
    }
    case REJECTION_DOMAIN: {
      const rejection = readRejection(bytesOfHex(canonical));
      return { kind: 'rejection', rejection, change: rejectedChange(rejection, request, inForce) };
    }
    case TRANSACTION_REJECTION_DOMAIN: {
      if (proposed !== null) throw new InvalidRequest('A transaction must not include a proposed policy.');
      const rejection = readTransactionRejection(bytesOfHex(canonical));
      return { kind: 'transaction-rejection', rejection, intent: rejectedIntent(rejection, request) };
    }
    default:
      throw new InvalidRequest('This page does not support this type of request.');
  }
}

/**
 * Returns the policy change that a rejection names, or null when the dashboard sent none. Throws
 * for another change: the person would reject something else than the page shows.
 */
function rejectedChange(
  { changeId, mandateDigest }: PolicyRejection,
  { mandate: bytes, proposed }: ApprovalRequest,
  before: Policy,
): RejectedChange | null {
  if (bytes === null && proposed === null) return null;
  if (bytes === null || proposed === null) throw new InvalidRequest('A part of the rejected policy change is missing.');
  const change = readChange(bytes, proposed);
  if (hashOfHex(bytes) !== mandateDigest || change.mandate.id !== changeId) {
    throw new InvalidRequest('The rejection belongs to another policy change.');
  }
  return { ...change, before };
}

/**
 * Returns the intent that a rejection names, or null when the dashboard sent none. Throws for
 * another intent: the person would reject something else than the page shows.
 */
function rejectedIntent(
  { transactionId, vaultId, intentDigest }: TransactionRejection,
  { mandate: bytes }: ApprovalRequest,
): Intent | null {
  if (bytes === null) return null;
  const intent = readIntent(bytesOfHex(bytes));
  if (hashOfHex(bytes) !== intentDigest || intent.transactionId !== transactionId || intent.vaultId !== vaultId) {
    throw new InvalidRequest('The rejection belongs to another transaction.');
  }
  return intent;
}

/** Returns a mandate and the policy that it names. Throws for another policy. */
function readChange(canonical: string, proposed: string): Pick<RejectedChange, 'mandate' | 'proposed'> {
  const mandate = readMandate(bytesOfHex(canonical));
  if (hashOfHex(proposed) !== mandate.policyHash) {
    throw new InvalidRequest('The policy that the server sent does not match the policy change.');
  }
  return { mandate, proposed: readPolicy(bytesOfHex(proposed)) };
}

/**
 * Throws unless the policy is of the vault of the rejection, and a rejected change follows it.
 * There is no check of the time, of keys or of statements: a rejection moves nothing and puts no
 * policy in force, so nothing is lost when the policy is not in force.
 */
function holdRejection(
  subject: Extract<VerifiedRequest['subject'], { readonly kind: 'rejection' | 'transaction-rejection' }>,
  { inForce, inForceHash }: Pick<VerifiedRequest, 'inForce' | 'inForceHash'>,
): void {
  if (subject.rejection.vaultId !== inForce.vaultId) throw new InvalidRequest('The policy belongs to another vault.');
  const change = subject.kind === 'rejection' ? subject.change : null;
  if (change !== null) holdSuccessor(change.proposed, { inForce, inForceHash });
}

/**
 * Throws unless the intent names the policy in force or the policy just before it. The policy in
 * force contains the hash of the one before. An older policy has no proof here: the request is
 * outdated, unless its reader accepts that.
 */
function holdIntent(
  intent: Intent,
  { inForce, inForceHash }: Pick<VerifiedRequest, 'inForce' | 'inForceHash'>,
  { outdated }: Reading,
): void {
  if (intent.vaultId !== inForce.vaultId) throw new InvalidRequest('The policy belongs to another vault.');
  const { version, previousHash } = inForce;
  if (intent.policyVersion === version && intent.policyHash === inForceHash) return;
  if (intent.policyVersion === version - 1 && intent.policyHash === previousHash) return;
  const isOlder = intent.policyVersion < version - 1;
  if (isOlder && outdated === 'described') return;
  throw new InvalidRequest(
    'The transaction does not name the policy in force. Create it again.',
    isOlder ? 'outdated' : 'contradiction',
  );
}

function holdChange(
  { proposed }: { readonly proposed: Policy },
  { inForce, inForceHash }: Pick<VerifiedRequest, 'inForce' | 'inForceHash'>,
): void {
  holdSuccessor(proposed, { inForce, inForceHash });
  if (changedDevice(inForce.devices, proposed.devices) !== null) {
    throw new InvalidRequest('The proposed policy changes a device in force. It may only add or remove devices.');
  }
  if (proposed.signingThreshold !== inForce.signingThreshold) {
    throw new InvalidRequest('The proposed policy changes how many co-signers sign together. No co-signer adopts it.');
  }
}

/**
 * Throws unless a policy is the first one of its vault, or follows the policy in token mode of the
 * request. The dashboard sends version 1 as both policies.
 */
function holdFounding(
  { mandate, proposed }: Extract<VerifiedRequest['subject'], { readonly kind: 'founding' }>,
  { inForce, inForceHash }: Pick<VerifiedRequest, 'inForce' | 'inForceHash'>,
): void {
  if (proposed.version > 1) {
    holdSuccessor(proposed, { inForce, inForceHash });
  } else if (proposed.previousHash !== NO_PREVIOUS_POLICY || inForceHash !== mandate.policyHash) {
    throw new InvalidRequest('The proposed policy is not the first policy of its vault.');
  }
}

/** The policy that a request shows, and what the request does with it. */
export interface ShownPolicy extends Pick<VerifiedRequest, 'inForce' | 'inForceHash'> {
  readonly subject: VerifiedRequest['subject'] | { readonly kind: 'view' };
}

/**
 * Reads the policy of a request to read it. Throws `InvalidDocument` for malformed bytes, and
 * `InvalidRequest` for keys that prove nothing. The co-signers have not confirmed it yet.
 */
export function readPolicyView({ policy, keys }: PolicyViewRequest): ShownPolicy {
  const shown = { inForce: readPolicy(bytesOfHex(policy)), inForceHash: hashOfHex(policy) };
  const fault = keyFault(keys, null);
  if (fault !== null) throw new InvalidRequest(KEY_FAULTS[fault]);
  if (keys.length === 0) {
    throw new InvalidRequest('The vault has no key yet, so no co-signer can state a policy.');
  }
  return { ...shown, subject: { kind: 'view' } };
}

/** Returns the policy whose passkeys sign a request, and whose co-signers the person confirms. */
export function signedUnder({ subject, inForce }: ShownPolicy): Policy {
  return subject.kind === 'founding' ? subject.proposed : inForce;
}

function holdSuccessor(
  proposed: Policy,
  { inForce, inForceHash }: Pick<VerifiedRequest, 'inForce' | 'inForceHash'>,
): void {
  if (proposed.vaultId !== inForce.vaultId) throw new InvalidRequest('The proposed policy belongs to another vault.');
  if (proposed.version !== inForce.version + 1 || proposed.previousHash !== inForceHash) {
    throw new InvalidRequest('The proposed policy is not the successor of the policy in force.');
  }
}

function described(subject: VerifiedRequest['subject'], inForce: Policy): Description {
  if (subject.kind === 'intent') return describeIntent(subject.intent, inForce);
  if (subject.kind === 'rejection') return describeRejection(subject.rejection, subject.change);
  if (subject.kind === 'transaction-rejection')
    return describeTransactionRejection(subject.rejection, subject.intent, inForce);
  const { mandate, proposed } = subject;
  if (subject.kind === 'change') return describeChange(mandate, inForce, proposed);
  return describeFounding(mandate, proposed, proposed.version === 1 ? null : inForce);
}

/** Returns the bytes of lower-case hex. Throws for any other text. */
function bytesOfHex(hex: string): Uint8Array {
  if (!/^(?:[0-9a-f]{2})+$/.test(hex)) throw new InvalidRequest('The bytes to approve are not lower-case hex.');
  return hexToBytes(hex);
}

function hashOfHex(hex: string): string {
  return bytesToHex(sha256(bytesOfHex(hex)));
}

function domainOf(canonical: string): string {
  try {
    return readCanonical(bytesOfHex(canonical)).domain;
  } catch {
    throw new InvalidRequest('The bytes to approve are malformed.');
  }
}
