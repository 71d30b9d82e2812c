import type { Confirmation, Pins } from '#approval-page/cosigners/statement-check.ts';
import { confirmedBy } from '#approval-page/cosigners/statement-check.ts';
import type { ApprovalRequest } from '#domain/access/approval-page-message.ts';
import type { CosignerPin } from '#domain/access/cosigner-pin.ts';
import { arePins } from '#domain/access/cosigner-pin.ts';
import { InvalidRequest } from '#review/invalid-request.ts';
import type { ShownPolicy, VerifiedRequest } from '#review/verified-request.ts';
import { signedUnder } from '#review/verified-request.ts';

/** Returns why confirmed keys of co-signers are not those that a founding pins, or null. */
export function foundingFault({ subject }: VerifiedRequest, pins: Pins): string | null {
  if (subject.kind !== 'founding') return null;
  const { cosigners, signingThreshold } = subject.proposed;
  if (cosigners !== undefined && JSON.stringify(cosigners) !== JSON.stringify(pins.cosigners)) {
    return 'The policy pins other keys of the co-signers than those that you confirmed.';
  }
  return thresholdFault(signingThreshold, pins);
}

function thresholdFault(signingThreshold: number, { threshold }: Pins): string | null {
  if (signingThreshold === threshold) return null;
  return `The policy says that ${signingThreshold} co-signers sign together. You confirmed ${threshold}.`;
}

/**
 * Returns the keys whose fingerprint the person confirms: the keys that the policy pins, else the
 * keys that the server sent.
 */
export function claimedPins(
  { cosigners }: Pick<ApprovalRequest, 'cosigners'>,
  shown: ShownPolicy,
): readonly CosignerPin[] {
  const claimed = signedUnder(shown).cosigners ?? cosigners;
  if (!arePins(claimed)) throw new InvalidRequest('The server sent no valid keys of the co-signers.');
  return claimed;
}

/**
 * Checks the policy that co-signers with confirmed keys have in force. A co-signer that has already
 * adopted the proposed policy confirms the policy before it, because an honest co-signer adopts it
 * after that policy alone. This happens when a change renews a mandate that expired before every
 * co-signer had adopted the policy.
 */
export function confirm(
  { inForce, inForceHash, subject }: ShownPolicy,
  { statements, keys }: Pick<ApprovalRequest, 'statements' | 'keys'>,
  { pins, nonce, nowMs }: { readonly pins: Pins; readonly nonce: string; readonly nowMs: number },
): Confirmation {
  const { vaultId, version, previousHash } = inForce;
  const before = version > 1 ? [{ version: version - 1, hash: previousHash }] : [];
  const after = subject.kind === 'change' ? [{ version: version + 1, hash: subject.mandate.policyHash }] : [];
  const chain = [...before, { version, hash: inForceHash }, ...after];
  const claim = { vaultId, shown: { chain, since: version }, nonce, nowMs };
  const keyIds = keys.map(({ keyId }) => keyId);
  const confirmation = confirmedBy(statements, keyIds, { pins, claim });
  const fault = thresholdFault(inForce.signingThreshold, pins);
  return fault === null ? confirmation : { ...confirmation, fault, isInForce: false };
}

/**
 * Returns the smallest signing threshold for a number of co-signers: any two such groups share a
 * co-signer.
 */
export function minThreshold(count: number): number {
  return Math.floor(count / 2) + 1;
}

/**
 * Returns the pins after a policy that enough co-signers state as the one in force. A quorum that
 * adopted other keys has replaced the pins. The signing threshold never changes.
 */
export function pinsAfter(pins: Pins, { inForce: { cosigners } }: ShownPolicy): Pins {
  if (cosigners === undefined || JSON.stringify(cosigners) === JSON.stringify(pins.cosigners)) return pins;
  return { cosigners, threshold: pins.threshold };
}
