import { bytesToHex } from '@noble/hashes/utils.js';
import * as z from 'zod';
import { policyHashOf } from '#devices/policy-succession.ts';
import { policyBytes } from '#domain/policy/policy.ts';
import { mandateBytes } from '#domain/policy/policy-change.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import type { Approval } from '#domain/transaction/transaction.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';
import type { CosignerClient, CosignerFault } from '#cosigner-client/client.ts';

/** Number of each co-signer to its signature that it has adopted a policy. */
export type Attestations = Readonly<Record<string, string>>;

export interface SyncTarget {
  /** The co-signers that receive the policies. */
  readonly cosigners: readonly CosignerClient[];
  /** All co-signers of the key: those that have adopted a policy attest it to a late one. */
  readonly attesters: readonly CosignerClient[];
  readonly keyId: string;
}

/**
 * Sends co-signers the policies that they have not adopted yet, in order, each with the mandate
 * that makes it a valid successor. Returns the first fault.
 */
export async function syncPolicies(
  audience: SyncTarget,
  policies: readonly AdoptedPolicy[],
): Promise<Result<null, CosignerFault>> {
  const newest = policies.at(-1);
  if (newest === undefined) return accepted(null);
  for (const cosigner of audience.cosigners) {
    const shown = await syncOne(audience, cosigner, newest);
    if (shown.ok) continue;
    // A co-signer that is further behind names the version that it has in force.
    const has = shown.refusal.code === 'policy-mismatch' ? versionIn(shown.refusal.detail) : null;
    if (has === null) return shown;
    for (const adopting of policies.filter(({ policy }) => policy.version > has)) {
      const adopted = await syncOne(audience, cosigner, adopting);
      if (!adopted.ok) return adopted;
    }
  }
  return accepted(null);
}

function versionIn(detail: string | null): number | null {
  return detail !== null && /^[0-9]{1,9}$/.test(detail) ? Number.parseInt(detail, 10) : null;
}

/**
 * Refusals that a co-signer lifts when a threshold of other co-signers attests that it has adopted
 * the policy.
 */
const NEEDS_ATTESTATION: ReadonlySet<string> = new Set(['mandate-expired', 'other-cosigners']);

/** Sends one policy, and once more with attestations when the co-signer needs them. */
async function syncOne(
  { attesters, keyId }: SyncTarget,
  cosigner: CosignerClient,
  adopting: AdoptedPolicy,
): Promise<Result<unknown, CosignerFault>> {
  const show = (attestations: Attestations) =>
    cosigner.call(`key/${keyId}/policy`, { ...encodePolicy(adopting), attestations });
  const shown = await show({});
  if (shown.ok || !NEEDS_ATTESTATION.has(shown.refusal.code)) return shown;
  return show(await attestationsOf(attesters, keyId, adopting.policy.version));
}

const attested = z.object({ attestation: z.string().regex(/^[0-9a-f]{128}$/) });

/**
 * Returns the attestations of a policy by the co-signers that have adopted it; the others are
 * omitted.
 */
export async function attestationsOf(
  cosigners: readonly CosignerClient[],
  keyId: string,
  version: number,
): Promise<Attestations> {
  const answers = await Promise.all(
    cosigners.map(async (cosigner) => {
      const answer = await cosigner.call(`key/${keyId}/attest`, { version });
      const read = answer.ok ? attested.safeParse(answer.value) : null;
      return read?.success === true ? [[String(cosigner.index), read.data.attestation] as const] : [];
    }),
  );
  return Object.fromEntries(answers.flat());
}

/** Encodes an approval for co-signers. The origin of the request stays with the coordinator. */
export function encodeApproval({ actor: { userId, tokenId }, digest, device, atMs }: Approval) {
  return { actor: { userId, tokenId }, digest, device, atMs };
}

/** Returns the canonical bytes of a policy and of its mandate, in hex, with the approvals. */
export function encodePolicy({ policy, mandate }: AdoptedPolicy) {
  const document = bytesToHex(policyBytes(policy));
  if (mandate === null) return { policy: document, mandate };
  const canonical = bytesToHex(mandateBytes(mandate, policyHashOf(policy)));
  return { policy: document, mandate: { canonical, approvals: mandate.approvals.map(encodeApproval) } };
}
