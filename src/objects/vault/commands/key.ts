import type { KeyScheme } from '#domain/asset/chain.ts';
import type { KeyCandidate, Vault, VaultKey } from '#domain/vault.ts';
import { recordExport, type RecoveryExport } from '#objects/vault/writes/recovery-exports.ts';
import { enqueueAdoption } from '#objects/vault/writes/policy-change-writes.ts';
import type { VaultContext } from '#objects/vault/context.ts';
import type { KeyWork } from '#objects/vault/views.ts';
import { enqueueNextStep } from '#objects/vault/writes/key-jobs.ts';
import { formerWalletsOf, missingSchemes, withKey, withNetworkKeys } from '#objects/vault/wallets.ts';

/** How far a run of the job has come. */
export type KeyProgress =
  /** Two co-signers have made the set-up that they lacked. */
  | { readonly type: 'paired' }
  /** There is a key, or one group more has proven it. */
  | { readonly type: 'candidate'; readonly candidate: KeyCandidate }
  /** Somebody can not sign with it: it is never used, and another one is made. */
  | { readonly type: 'discarded'; readonly candidate: KeyCandidate };

/** The vault as it is from now on, with a line in its history, and whatever else is written with it. */
export type UpdateVault = (
  after: Vault,
  line: { readonly action: string; readonly detail: string },
  also?: () => void,
) => Promise<void>;

/** Where the keys of a vault come to be. */
export class KeyCommands {
  readonly #host: VaultContext;
  readonly #updateVault: UpdateVault;

  constructor(host: VaultContext, updateVault: UpdateVault) {
    this.#host = host;
    this.#updateVault = updateVault;
  }

  /** For the consumers: the key that is made next, as far as it has come; null when none is lacking. */
  work(): KeyWork | null {
    const { storage, chains } = this.#host;
    const vault = this.#host.vault();
    const [scheme] = vault === null ? [] : missingSchemes(vault, chains);
    if (vault === null || scheme === undefined) return null;
    return { vault, scheme, policies: storage.policies.adopted(), candidate: storage.keyCandidate(scheme) };
  }

  /** What a run of the job has done: the next one is due at once. One that comes late, of a key that was discarded, changes nothing. */
  async progress(scheme: KeyScheme, progress: KeyProgress): Promise<void> {
    const { storage, commits, chains } = this.#host;
    const vault = this.#host.vault();
    if (vault === null || !missingSchemes(vault, chains).includes(scheme)) return;
    const known = storage.keyCandidate(scheme);
    await commits.run(() => {
      if (progress.type === 'candidate') {
        const { candidate } = progress;
        if (known !== null && known.keyId !== candidate.keyId) return;
        const provenBy = [...new Set([...(known?.provenBy ?? []), ...candidate.provenBy])];
        storage.putKeyCandidate({ ...candidate, provenBy });
      }
      if (progress.type === 'discarded') {
        // The next run comes when it comes: what is wrong may be wrong for some time.
        if (known?.keyId === progress.candidate.keyId) storage.dropKeyCandidate(scheme);
      } else enqueueNextStep(storage);
    });
  }

  /** A key of the vault. The first one of its scheme that is recorded stays: a second run of the job changes nothing. */
  async record(key: VaultKey): Promise<void> {
    const { storage, chains } = this.#host;
    const vault = this.#host.vault();
    if (vault === null || vault.keys.some(({ scheme }) => scheme === key.scheme)) return;
    const after = withKey(vault, key, chains);
    await this.#updateVault(after, { action: 'key', detail: key.keyId }, () => {
      // A policy that was adopted while the key was made is not part of it.
      enqueueAdoption(storage, after);
      // The job of this key is still in the outbox, due when it would be sent again: the next key does not wait for that.
      if (missingSchemes(after, chains).length > 0) enqueueNextStep(storage);
    });
  }

  /**
   * Moves a vault of before to the keys of its test networks (see `withNetworkKeys`), in one commit with a line in its history.
   * It follows from the stored key alone, so it runs at each start of the object, and the second time changes nothing.
   */
  async deriveNetworks(): Promise<void> {
    const { storage, chains } = this.#host;
    const vault = this.#host.vault();
    const after = vault === null ? null : withNetworkKeys(vault, chains);
    if (after === null || after === vault) return;
    const line = { action: 'derive-network-keys', detail: JSON.stringify({ former: formerWalletsOf(after) }) };
    await this.#updateVault(after, line, () => {
      // The ledger has what the former address held: it is compared with the chain at once.
      storage.balances.pollNow(Date.now());
      storage.enqueueJob({ transactionId: '', job: 'reconcile', version: 0, dueAtMs: Date.now(), tries: 0 });
    });
  }

  /** See `recordExport`. */
  recordExport(requested: RecoveryExport): Promise<boolean> {
    return recordExport(this.#host, requested);
  }
}
