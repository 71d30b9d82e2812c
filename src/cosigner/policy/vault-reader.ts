import type { Refused } from '#cosigner/refusal.ts';
import type { CosignerVault, VaultView } from '#cosigner/policy/vault-policies.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { PolicyName } from '#devices/policy-succession.ts';
import type { Policy } from '#domain/policy/policy.ts';

/**
 * How the key objects of a co-signer read the policies of a vault from its object. A policy is
 * copied between the objects only when the reader does not have it: a signature reads the policies
 * several times, and a new copy loses the imported keys of its devices and its hash.
 */

/** A policy as the object of the vault returns it. */
interface PolicyCopy {
  readonly hash: string;
  /** Null when the reader has the policy of this hash. */
  readonly policy: Policy | null;
}

/** A `VaultView` between the objects. */
export interface VaultAnswer {
  readonly current: PolicyCopy;
  readonly named: PolicyCopy | null;
  readonly isPinned: boolean;
}

/** The object of a vault as its readers call it. A call may fail. */
export interface VaultObject {
  readonly policies: (version: number | null, known: readonly string[]) => Promise<VaultAnswer | null>;
  readonly pin: (head: Pick<PolicyName, 'version' | 'hash'>) => Promise<Refused | null>;
}

/** @param known the hashes of the policies that the reader has */
export function answerFor({ current, named, isPinned }: VaultView, known: readonly string[]): VaultAnswer {
  const copyOf = (policy: Policy): PolicyCopy => {
    const hash = policyHashOf(policy);
    return { hash, policy: known.includes(hash) ? null : policy };
  };
  return { current: copyOf(current), named: named === null ? null : copyOf(named), isPinned };
}

/** Reads the policies of one vault. It keeps those of the last answer. */
export class VaultReader implements CosignerVault {
  readonly #object: () => VaultObject;
  #kept: ReadonlyMap<string, Policy> = new Map();

  /** @param object returns the object anew for each call, because a failed one stays unusable */
  constructor(object: () => VaultObject) {
    this.#object = object;
  }

  async policies(version: number | null): Promise<VaultView | null> {
    const kept = this.#kept;
    const answer = await this.#object().policies(version, [...kept.keys()]);
    if (answer === null) return null;
    const current = policyIn(answer.current, kept);
    const named = answer.named === null ? null : policyIn(answer.named, kept);
    const pairs = [[answer.current.hash, current] as const];
    if (answer.named !== null && named !== null) pairs.push([answer.named.hash, named]);
    this.#kept = new Map(pairs);
    return { current, named, isPinned: answer.isPinned };
  }

  pin(head: Pick<PolicyName, 'version' | 'hash'>): Promise<Refused | null> {
    return this.#object().pin(head);
  }
}

function policyIn({ hash, policy }: PolicyCopy, kept: ReadonlyMap<string, Policy>): Policy {
  const found = policy ?? kept.get(hash);
  if (found === undefined) throw new Error('the object of the vault omitted a policy that its reader does not have');
  return found;
}
