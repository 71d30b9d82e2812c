import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { bytesOfHex, InvalidRequest } from '#approval-page/read/canonical-cursor.ts';
import { INTENT_DOMAIN, readIntent } from '#approval-page/read/read-intent.ts';
import type { Confirmation, Pins } from '#approval-page/statement-check.ts';
import { confirmedBy } from '#approval-page/statement-check.ts';
import type { MandateDocument } from '#devices/policy-document.ts';
import { readMandate, readPolicy } from '#devices/policy-document.ts';
import type { ApprovalRequest } from '#domain/access/approval-page-message.ts';
import type { CosignerPin } from '#domain/policy/cosigner-pin.ts';
import { arePins } from '#domain/policy/cosigner-pin.ts';
import type { Intent } from '#domain/transaction/intent.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { readCanonical } from '#domain/canonical/read-text.ts';

/** What a request asks, read out of its bytes alone. Nothing of it is confirmed yet. */
export interface VerifiedRequest {
  /** Lower-case hex SHA-256 of the bytes that were read: what the passkey signs. */
  readonly digest: string;
  readonly inForce: Policy;
  readonly inForceHash: string;
  readonly subject:
    | { readonly kind: 'intent'; readonly intent: Intent }
    | { readonly kind: 'change'; readonly mandate: MandateDocument; readonly proposed: Policy };
}

const MANDATE_DOMAIN = 'conclave/policy-change/v1';

/**
 * Reads a request. Throws `InvalidRequest` for bytes that are malformed or unknown, that have expired, or
 * that name another policy than the one that comes with them.
 */
export function verifyRequest(request: ApprovalRequest, nowMs: number): VerifiedRequest {
  const inForce = policyIn(request.policy);
  const inForceHash = hashOfHex(request.policy);
  const subject = readSubject(request);
  const verified = { digest: hashOfHex(request.canonical), inForce, inForceHash, subject };
  const { expiresAtMs } = subject.kind === 'intent' ? subject.intent : subject.mandate;
  if (expiresAtMs <= nowMs) throw new InvalidRequest('The request has expired.');
  if (subject.kind === 'intent') holdIntent(subject.intent, verified);
  else holdChange(subject, verified);
  return verified;
}

function readSubject({ canonical, proposed }: ApprovalRequest): VerifiedRequest['subject'] {
  switch (domainOf(canonical)) {
    case INTENT_DOMAIN:
      if (proposed !== null) throw new InvalidRequest('A transaction must not include a proposed policy.');
      return { kind: 'intent', intent: readIntent(canonical) };
    case MANDATE_DOMAIN: {
      if (proposed === null) throw new InvalidRequest('The proposed policy is missing.');
      const mandate = readMandate(bytesOfHex(canonical));
      if (mandate === null) throw new InvalidRequest('The bytes to approve are malformed.');
      if (hashOfHex(proposed) !== mandate.policyHash) {
        throw new InvalidRequest('The policy that the server sent does not match the policy change.');
      }
      return { kind: 'change', mandate, proposed: policyIn(proposed) };
    }
    default:
      throw new InvalidRequest('This page does not support this type of request.');
  }
}

/** An intent names the policy in force, or the one just before it: the hash of that one is in the policy in force. */
function holdIntent(intent: Intent, { inForce, inForceHash }: Pick<VerifiedRequest, 'inForce' | 'inForceHash'>): void {
  if (intent.vaultId !== inForce.vaultId) throw new InvalidRequest('The policy belongs to another vault.');
  const { version, previousHash } = inForce;
  const namesCurrent = intent.policyVersion === version && intent.policyHash === inForceHash;
  if (!namesCurrent && !(intent.policyVersion === version - 1 && intent.policyHash === previousHash)) {
    throw new InvalidRequest('The transaction does not name the policy in force. Create it again.');
  }
}

function holdChange(
  { proposed }: { readonly proposed: Policy },
  { inForce, inForceHash }: Pick<VerifiedRequest, 'inForce' | 'inForceHash'>,
): void {
  if (proposed.vaultId !== inForce.vaultId) throw new InvalidRequest('The proposed policy belongs to another vault.');
  if (proposed.version !== inForce.version + 1 || proposed.previousHash !== inForceHash) {
    throw new InvalidRequest('The proposed policy is not the successor of the policy in force.');
  }
}

/** The keys whose fingerprint the person confirms: those that the policy pins, else those that the server names. */
export function claimedPins({ cosigners }: ApprovalRequest, { inForce }: VerifiedRequest): readonly CosignerPin[] {
  const claimed = inForce.cosigners ?? cosigners;
  if (!arePins(claimed)) throw new InvalidRequest('The server sent no valid keys of the co-signers.');
  return claimed;
}

/**
 * Checks what co-signers with confirmed keys have in force. Those that have adopted the proposed policy
 * of a change already confirm the policy before it: honest co-signers adopt it after that one alone. This
 * is so where a change renews a mandate that expired before every co-signer adopted the policy.
 */
export function confirm(
  { inForce, inForceHash, subject }: VerifiedRequest,
  { statements, keyIds }: ApprovalRequest,
  { pins, nonce, nowMs }: { readonly pins: Pins; readonly nonce: string; readonly nowMs: number },
): Confirmation {
  const { vaultId, version, previousHash } = inForce;
  const before = version > 1 ? [{ version: version - 1, hash: previousHash }] : [];
  const after = subject.kind === 'change' ? [{ version: version + 1, hash: subject.mandate.policyHash }] : [];
  const chain = [...before, { version, hash: inForceHash }, ...after];
  return confirmedBy(statements, keyIds, { pins, claim: { vaultId, shown: { chain, since: version }, nonce, nowMs } });
}

/** The fewest co-signers that can be asked to sign together: any two such groups share one. */
export function minThreshold(count: number): number {
  return Math.floor(count / 2) + 1;
}

/**
 * The pins after a policy that enough co-signers state as the one in force: a quorum that adopted other
 * keys has replaced them. How many of another number of co-signers sign together is not known, so all of
 * them have to agree until the person confirms them again.
 */
export function pinsAfter(pins: Pins, { inForce: { cosigners } }: VerifiedRequest): Pins {
  if (cosigners === undefined || JSON.stringify(cosigners) === JSON.stringify(pins.cosigners)) return pins;
  const isSameCount = cosigners.length === pins.cosigners.length;
  return { cosigners, threshold: isSameCount ? pins.threshold : cosigners.length };
}

function policyIn(hex: string): Policy {
  const policy = readPolicy(bytesOfHex(hex));
  if (policy === null) throw new InvalidRequest('A policy is malformed.');
  return policy;
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
