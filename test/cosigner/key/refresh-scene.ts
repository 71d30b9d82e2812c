import type { KeyScheme } from '#domain/asset/chain.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { KeyRefresh, VaultKey } from '#domain/vault/vault.ts';
import { signerGroups } from '#cosigner-client/signer-groups.ts';
import { proofFault } from '#jobs/keys/prove-key.ts';
import { nextRefreshStep } from '#jobs/keys/refresh-key.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';
import { sharesHeldBy } from '#cosigner-client/held-shares.ts';
import { generateKey, twoOfThree } from './generate-key.ts';
import { policy } from '../../domain/cast.ts';
import { inOneInvocation } from '../one-invocation.ts';
import { sourceOf } from '../policy-source.ts';

/** Every group of two of the three co-signers. */
export const EVERYBODY = ['1+2', '1+3', '2+3'];

/** Reports whether a step failed only because it brought policies, so the next one can succeed. */
export function broughtPolicies(reason: string): boolean {
  return reason.includes('policy-behind');
}

/** Returns a key of FROST, whose generation needs no pairs of co-signers. */
export async function frostKey(
  cosigners: readonly CosignerClient[],
  scheme: Exclude<KeyScheme, 'ecdsa-secp256k1'> = 'frost-ed25519',
): Promise<VaultKey> {
  const made = await generateKey(cosigners, twoOfThree(scheme));
  if (!made.ok) throw new Error(made.refusal.reason);
  return { ...made.value, addresses: {} };
}

/** The state that a vault keeps between two steps of a refresh. */
export class RefreshRun {
  readonly #key: VaultKey;
  readonly #policy: Policy;
  refresh: KeyRefresh;

  constructor(key: VaultKey, governedBy: Policy = policy) {
    this.#key = key;
    this.#policy = governedBy;
    this.refresh = { keyId: key.keyId, scheme: key.scheme, requestId: 'one', begun: null, provenBy: [] };
  }

  /**
   * Runs one step. Returns the key with its new public shares after the last step, null when more
   * steps follow, or the reason why the step failed.
   */
  async step(cosigners: readonly CosignerClient[]): Promise<VaultKey | string | null> {
    const request = { key: this.#key, policies: sourceOf({ policy: this.#policy, mandate: null }) };
    const step = await nextRefreshStep(inOneInvocation(cosigners), request, this.refresh);
    if (!step.ok) return step.refusal.reason;
    if (step.value.type === 'refreshed') return { ...this.#key, publicShares: step.value.publicShares };
    ({ refresh: this.refresh } = step.value);
    return step.value.type === 'set-aside' ? step.value.reason : null;
  }

  /** Runs all remaining steps; throws when one fails for another reason than lacking policies. */
  async finish(cosigners: readonly CosignerClient[]): Promise<VaultKey> {
    for (;;) {
      const step = await this.step(cosigners);
      if (typeof step === 'string' && !broughtPolicies(step)) throw new Error(step);
      if (typeof step === 'object' && step !== null) return step;
    }
  }
}

/**
 * Returns, for each co-signer, the epoch of its active share and then the epochs of its shares that
 * wait for activation.
 */
export async function epochsOf(cosigners: readonly CosignerClient[], { keyId }: VaultKey) {
  const all: (readonly [active: number | null, ...waiting: number[]])[] = [];
  for (const cosigner of cosigners) {
    const held = await sharesHeldBy(cosigner, keyId);
    if (!held.ok) throw new Error(held.refusal.code);
    const waiting = held.value.filter(({ isActive }) => !isActive).map(({ epoch }) => epoch);
    all.push([held.value.find(({ isActive }) => isActive)?.epoch ?? null, ...waiting]);
  }
  return all;
}

/**
 * Returns the groups that can sign with the key by the active shares of their members, each as the
 * joined numbers of its co-signers.
 */
export async function signingGroups(cosigners: readonly CosignerClient[], key: VaultKey): Promise<readonly string[]> {
  const able: string[] = [];
  for (const group of signerGroups(cosigners, 2)) {
    const [first, second] = await epochsOf(group, key);
    const epoch = first?.[0] ?? null;
    if (epoch === null || epoch !== second?.[0]) continue;
    const held = await sharesHeldBy(group[0]!, key.keyId);
    const publicShares = held.ok ? held.value.find(({ isActive }) => isActive)?.publicShares : undefined;
    const fault = await proofFault(group, { ...key, publicShares: publicShares ?? {}, threshold: 2, epoch });
    if (fault === null) able.push(group.map(({ index }) => index).join('+'));
  }
  return able;
}
