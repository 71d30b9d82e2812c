import { policyHashOf } from '#devices/policy-succession.ts';
import type { Refused } from '#cosigner/refusal.ts';
import type { PolicyHashes } from '#cosigner/key/vault-policies.ts';
import type { VaultId } from '#domain/id.ts';
import type { Policy } from '#domain/policy/policy.ts';

const SCHEMA =
  'CREATE TABLE IF NOT EXISTS registration (only_row INTEGER PRIMARY KEY CHECK (only_row = 0), versions INTEGER NOT NULL)';

/** The object of a vault at this co-signer (vault-policies.ts). */
export interface CosignerVault {
  readonly vaultPolicies: () => Promise<PolicyHashes>;
  readonly extendVault: (chain: PolicyHashes) => Promise<Refused | null>;
  readonly extendVaultByNewKey: (chain: PolicyHashes) => Promise<Refused | null>;
}

/**
 * Keeps the policies of one key registered with the object of its vault. The object of the vault
 * comes first: it has a policy before the key does, so no two keys ever have different policies.
 * When this object ends between the two writes, the coordinator sends the same policy again and
 * completes the key.
 */
export class KeyRegistration {
  readonly #sql: SqlStorage;
  readonly #vaultObject: (vaultId: VaultId) => CosignerVault;
  #versions: number | null = null;

  constructor(sql: SqlStorage, vaultObject: (vaultId: VaultId) => CosignerVault) {
    this.#sql = sql;
    this.#vaultObject = vaultObject;
  }

  /**
   * Registers all policies of a key that is older than the objects of vaults. Afterwards it calls
   * no other object, so a signature costs no extra request. Refuses `policy-mismatch`.
   */
  async complete(policies: readonly Policy[]): Promise<Refused | null> {
    if (this.#registered() >= policies.length) return null;
    const fault = await this.extend(policies);
    if (fault === null) this.mark(policies.length);
    return fault;
  }

  /** Extends the policies of the vault by those of this key. Refuses `policy-mismatch`. */
  async extend(policies: readonly Policy[]): Promise<Refused | null> {
    return (await this.#vaultOf(policies)?.extendVault(policies.map(policyHashOf))) ?? null;
  }

  /**
   * Works as `extend` for a key that begins with these policies. Refuses `policy-mismatch`,
   * `policy-ahead`.
   */
  async extendByNewKey(policies: readonly Policy[]): Promise<Refused | null> {
    return (await this.#vaultOf(policies)?.extendVaultByNewKey(policies.map(policyHashOf))) ?? null;
  }

  /**
   * Records that the vault has this many policies of the key. The same step stores the last of
   * them.
   */
  mark(versions: number): void {
    this.#sql.exec(SCHEMA);
    this.#sql.exec('INSERT OR REPLACE INTO registration (only_row, versions) VALUES (0, ?)', versions);
    this.#versions = versions;
  }

  /**
   * Returns the hashes of the policies that this co-signer has adopted for a vault under any key.
   */
  vaultPolicies(vaultId: VaultId): Promise<PolicyHashes> {
    return this.#vaultObject(vaultId).vaultPolicies();
  }

  /** Reports whether this co-signer has adopted a policy under any key of its vault. */
  async isAdopted(policy: Policy): Promise<boolean> {
    const held = await this.vaultPolicies(policy.vaultId);
    return held[policy.version - 1] === policyHashOf(policy);
  }

  #vaultOf([first]: readonly Policy[]): CosignerVault | null {
    return first === undefined ? null : this.#vaultObject(first.vaultId);
  }

  #registered(): number {
    this.#versions ??= this.#stored();
    return this.#versions;
  }

  #stored(): number {
    const table = this.#sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'registration'").toArray();
    if (table.length === 0) return 0;
    return this.#sql.exec<{ versions: number }>('SELECT versions FROM registration').one().versions;
  }
}
