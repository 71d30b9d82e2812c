import type { CosignerSet } from '#cosigner/cosigner-set.ts';
import type { CosignerKey } from '#cosigner/key/key.ts';
import type { CosignerVault, VaultPolicies } from '#cosigner/policy/vault-policies.ts';
import type { PairStore } from '#cosigner/session/pair-store.ts';
import type { Sessions } from '#cosigner/session/sessions.ts';
import type { StoredShare } from '#cosigner/tables/sealed-table.ts';
import type { VaultId } from '#domain/id.ts';

/** The parts of one object of a co-signer, and its ways to other objects of the same co-signer. */
export interface CosignerParts {
  readonly membership: CosignerSet;
  readonly sessions: Sessions;
  readonly key: CosignerKey;
  readonly vault: VaultPolicies;
  readonly pair: PairStore;
  readonly vaultOf: (vaultId: VaultId) => CosignerVault;
  /** Stores the share of a new key in the object of that key. */
  readonly installInto: (keyId: string, stored: StoredShare, vaultId: VaultId) => Promise<void>;
}
