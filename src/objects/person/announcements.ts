import { announced } from '#domain/access/credential-reset.ts';
import type { CredentialResetId, UserId } from '#domain/id.ts';
import { parseCredentialResetId, parseVaultId } from '#domain/id.ts';
import type { PersonEnv } from '#objects/person/environment.ts';
import type { PersonStorage } from '#objects/person/storage.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';
import { errorText } from '#store/error-text.ts';
import { vaultIdsOf } from '#store/vaults.ts';

/** The delay before vaults that could not be informed are called again. */
export const ANNOUNCEMENT_RETRY_MS = 5_000;

/** What the vaults of one user know of the user's credential resets. */
export class ResetAnnouncements {
  readonly #ctx: DurableObjectState;
  readonly #storage: PersonStorage;

  constructor(ctx: DurableObjectState, storage: PersonStorage) {
    this.#ctx = ctx;
    this.#storage = storage;
  }

  /**
   * Informs each vault of the user of resets that it does not know, and sets the alarm for the
   * rest. Running it twice is harmless: a vault ignores a version that it knows. While a reset is
   * pending, the directory is read for vaults that the user has joined since. Reports whether the
   * directory and every vault answered.
   */
  async run(env: PersonEnv): Promise<boolean> {
    const [newest] = this.#storage.resets.newest(1);
    if (newest === undefined) return true;
    let isDone = true;
    try {
      if (newest.state === 'PENDING') await this.#addVaults(env, newest);
      for (const text of this.#storage.unannounced()) {
        const id = parseCredentialResetId(text);
        if (id !== null) await this.#informVaults(env, id);
      }
    } catch (error) {
      isDone = false;
      console.error(JSON.stringify({ event: 'announcement-failed', reset: newest.id, error: errorText(error) }));
    }
    await this.#arm(isDone);
    return isDone;
  }

  async #addVaults(
    env: PersonEnv,
    { id, userId }: { readonly id: CredentialResetId; readonly userId: UserId },
  ): Promise<void> {
    const vaultIds = (await vaultIdsOf(env.DB, userId)).flatMap((number) => parseVaultId(number) ?? []);
    this.#ctx.storage.transactionSync(() => {
      for (const vaultId of vaultIds) this.#storage.addVault(id, vaultId);
    });
  }

  async #informVaults(env: PersonEnv, id: CredentialResetId): Promise<void> {
    const reset = this.#storage.resets.read(id);
    if (reset === null) return;
    for (const vaultId of this.#storage.vaultsBehind(id, reset.version)) {
      const announcedAtMs = await vaultStub(env, vaultId).report({ type: 'recordCredentialReset', reset });
      this.#ctx.storage.transactionSync(() => {
        if (announcedAtMs === null) return this.#storage.removeVault(id, vaultId);
        this.#storage.putAnnounced(id, vaultId, reset.version);
        const now = this.#storage.resets.read(id);
        if (now !== null) this.#storage.resets.put(announced(now, announcedAtMs));
      });
    }
  }

  async #arm(isDone: boolean): Promise<void> {
    const [newest, nowMs] = [this.#storage.resets.newest(1)[0], Date.now()];
    if (!isDone) return this.#ctx.storage.setAlarm(nowMs + ANNOUNCEMENT_RETRY_MS);
    if (newest?.state !== 'PENDING') return;
    const { effectiveAtMs, expiresAtMs } = newest;
    await this.#ctx.storage.setAlarm(nowMs < effectiveAtMs ? effectiveAtMs : expiresAtMs);
  }
}
