import { bytesToHex } from '@noble/hashes/utils.js';
import * as z from 'zod';
import { nameOf, policyHashOf } from '#devices/policy-succession.ts';
import type { Policy } from '#domain/policy/policy.ts';
import { policyBytes } from '#domain/policy/policy.ts';
import { mandateBytes } from '#domain/policy/policy-change.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import type { Approval } from '#domain/access/approval.ts';
import type { CosignerClient, CosignerFault } from '#cosigner-client/client.ts';

/** The policies of a vault, as the coordinator has them. */
export interface PolicySource {
  /** The policy in force. */
  readonly policy: Policy;
  /** Co-signer number to the version that it reported last. Absent ones reported none. */
  readonly adoptedVersions: Readonly<Record<string, number>>;
  /** Returns the policies above a version, in order, as many as one request carries. */
  readonly after: (version: number) => Promise<readonly AdoptedPolicy[]>;
}

/** What co-signers have after they received policies. */
export interface PolicyDelivery {
  /** Co-signer number to the version that it has in force, as far as it answered. */
  readonly versions: Readonly<Record<string, number>>;
  readonly faults: readonly CosignerFault[];
}

const attestationAnswer = z.object({
  stage: z.enum(['chosen', 'adopted', 'none']),
  attestation: z
    .string()
    .regex(/^[0-9a-f]{128}$/)
    .nullable(),
  version: z.int(),
  hash: z.string().nullable(),
});
const adoptionAnswer = z.object({ version: z.int() });

/** Who receives policies, and who attests them. */
interface Recipients {
  readonly targets: readonly CosignerClient[];
  /** All co-signers of the vault; the targets are among them. */
  readonly attesters: readonly CosignerClient[];
}

/**
 * Brings to each of these co-signers the policies that it has not adopted, as one list, and adopts
 * them there by the attestations of all. It takes at most two calls for each co-signer, and as many
 * again where one has less than it reported. A history that is too long for one request takes
 * several runs.
 */
export async function bringPolicies(source: PolicySource, recipients: Recipients): Promise<PolicyDelivery> {
  const { delivery, farBehind } = await deliver(source, recipients);
  if (farBehind.length === 0) return delivery;
  // A co-signer that lost its storage: the report of the coordinator is from before.
  const corrected = { ...source, adoptedVersions: { ...source.adoptedVersions, ...delivery.versions } };
  const { delivery: second } = await deliver(corrected, { ...recipients, targets: farBehind });
  return {
    versions: { ...delivery.versions, ...second.versions },
    faults: [...delivery.faults, ...second.faults],
  };
}

/**
 * Brings policies up to one head, which all attest.
 *
 * @returns `farBehind`: the targets that lack more than reaches this head in one request
 */
async function deliver(
  source: PolicySource,
  { targets, attesters }: Recipients,
): Promise<{ readonly delivery: PolicyDelivery; readonly farBehind: readonly CosignerClient[] }> {
  const reported = ({ index }: CosignerClient) => source.adoptedVersions[String(index)] ?? 0;
  const starts = targets.map(reported);
  const whole = await source.after(Math.min(...starts));
  const isWhole = whole.length === 0 || whole.at(-1)?.policy.version === source.policy.version;
  // A co-signer that lacks more than one request carries must not delay the others.
  const start = Math.max(...starts);
  const policies = isWhole ? whole : await source.after(start);
  const delivery = new Delivery(source, policies.at(-1)?.policy ?? source.policy);
  const encoded = policies.map(encodePolicy);
  await Promise.all(attesters.map((cosigner) => delivery.attest(cosigner, { policies, encoded })));
  const reached = targets.filter((cosigner) => isWhole || reported(cosigner) === start);
  const outcomes = await Promise.all(reached.map((cosigner) => delivery.adopt(cosigner, policies)));
  return { delivery: delivery.result(), farBehind: reached.filter((_, i) => outcomes[i] === 'too-far') };
}

/** One delivery of policies up to a head: the attestations for the head, and who has it. */
class Delivery {
  readonly #source: PolicySource;
  readonly #head: Policy;
  readonly #attestations = { chosen: new Map<number, string>(), adopted: new Map<number, string>() };
  readonly #versions = new Map<number, number>();
  readonly #faults: CosignerFault[] = [];

  constructor(source: PolicySource, head: Policy) {
    this.#source = source;
    this.#head = head;
  }

  result(): PolicyDelivery {
    return { versions: Object.fromEntries(this.#versions), faults: this.#faults };
  }

  /** Requests the attestation of a co-signer, and the version that it has. */
  async attest(
    cosigner: CosignerClient,
    {
      policies,
      encoded,
    }: { readonly policies: readonly AdoptedPolicy[]; readonly encoded: readonly ReturnType<typeof encodePolicy>[] },
  ): Promise<void> {
    const { vaultId, version, hash } = nameOf(this.#head);
    const answer = await cosigner.call(`vault/${vaultId}/attest`, { version, hash, policies: encoded });
    const { index } = cosigner;
    if (!answer.ok) {
      const has = versionIn(answer.refusal);
      // A co-signer with another policy of this version needs the policies from the first on.
      if (has !== null) this.#versions.set(index, has < version ? has : 0);
      return;
    }
    const read = attestationAnswer.safeParse(answer.value);
    if (!read.success) return;
    const { stage, attestation } = read.data;
    this.#versions.set(index, await this.#sharedVersion(policies, read.data));
    if (stage !== 'none' && attestation !== null) this.#attestations[stage].set(index, attestation);
  }

  /**
   * Returns the version of a co-signer, or 0 when its policy is another one: before the vault has a
   * key, a co-signer may have a policy that this coordinator does not know.
   */
  async #sharedVersion(
    carried: readonly AdoptedPolicy[],
    { version, hash }: { readonly version: number; readonly hash: string | null },
  ): Promise<number> {
    if (version < 1 || policyHashOf(this.#head) === hash) return version;
    const known = carried.find(({ policy }) => policy.version === version);
    const [own] = known === undefined ? await this.#source.after(version - 1) : [known];
    return own !== undefined && policyHashOf(own.policy) === hash ? version : 0;
  }

  /**
   * Has a co-signer adopt the policies up to the head. Returns `too-far`, without a call, when one
   * request does not carry what it lacks: nothing attests the last policy that it would carry.
   */
  async adopt(cosigner: CosignerClient, carried: readonly AdoptedPolicy[]): Promise<'called' | 'too-far' | 'has-it'> {
    const { index } = cosigner;
    const has = this.#versions.get(index) ?? this.#source.adoptedVersions[String(index)] ?? 0;
    const { vaultId, version } = this.#head;
    // A co-signer without a key needs the attestations also for policies that it has.
    if (this.#attestations.adopted.has(index)) return 'has-it';
    const isCarried = carried[0] !== undefined && carried[0].policy.version <= has + 1;
    const policies = isCarried ? carried : await this.#source.after(has);
    const lacked = policies.filter(({ policy }) => policy.version > has && policy.version <= version);
    if (lacked.length > 0 && lacked.at(-1)?.policy.version !== version) return 'too-far';
    const { chosen, adopted } = this.#attestations;
    const answer = await cosigner.call(`vault/${vaultId}/policy`, {
      policies: lacked.map(encodePolicy),
      chosen: Object.fromEntries(chosen),
      adopted: Object.fromEntries(adopted),
    });
    if (!answer.ok) {
      this.#faults.push(answer.refusal);
      return 'called';
    }
    const read = adoptionAnswer.safeParse(answer.value);
    if (read.success) this.#versions.set(index, read.data.version);
    return 'called';
  }
}

/** Returns the version in force that a co-signer names when policies do not follow from it. */
function versionIn({ code, detail }: CosignerFault): number | null {
  if (code !== 'policy-mismatch') return null;
  return detail !== null && /^[0-9]{1,9}$/.test(detail) ? Number.parseInt(detail, 10) : null;
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
