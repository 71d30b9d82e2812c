import type { AccessAct } from '#domain/access/disabled-access.ts';
import type { TokenId, UserId, VaultId } from '#domain/id.ts';
import { parseVaultId } from '#domain/id.ts';
import type { RequestedAct, StoredAct } from '#objects/person/access-storage.ts';
import type { PersonCredentials } from '#objects/person/credentials.ts';
import type { PersonEnv } from '#objects/person/environment.ts';
import type { PersonStorage } from '#objects/person/storage.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';
import { tokensOf } from '#store/access-tokens.ts';
import { errorText } from '#store/error-text.ts';
import { vaultIdsOf } from '#store/vaults.ts';

/** The access of a user after an act. */
export interface UserAccess {
  readonly isDisabled: boolean;
  /** The vaults that have not recorded it yet. They are informed as soon as they answer. */
  readonly pendingVaultIds: readonly VaultId[];
}

/** The parts of the person's object. */
interface Parts {
  readonly credentials: PersonCredentials;
  readonly storage: PersonStorage;
  /** Runs one storage transaction, and sets the alarm that completes it. */
  readonly write: (writes: () => void) => void;
}

/**
 * What operators do to the access of one person. An act is stored before it is carried out, so the
 * alarm of the person completes it when this object or another one fails. The caller runs one act
 * at a time, and issues no credential meanwhile.
 */
export class PersonAccess {
  readonly #env: PersonEnv;
  readonly #credentials: PersonCredentials;
  readonly #storage: PersonStorage;
  readonly #write: (writes: () => void) => void;

  constructor(env: PersonEnv, { credentials, storage, write }: Parts) {
    this.#env = env;
    this.#credentials = credentials;
    this.#storage = storage;
    this.#write = write;
  }

  get isDisabled(): boolean {
    return this.#storage.acts.isDisabled();
  }

  /** Stores an act, unless the user is already in this state, and carries it out. */
  async act(userId: UserId, requested: RequestedAct, serviceKey: string): Promise<UserAccess> {
    const isNew = 'tokenId' in requested || this.isDisabled !== (requested.kind === 'disable-user');
    if (isNew) this.#write(() => this.#storage.acts.add(userId, requested, { serviceKey, atMs: Date.now() }));
    const pendingVaultIds = await this.complete();
    return { isDisabled: this.isDisabled, pendingVaultIds };
  }

  /**
   * Carries out every stored act that is not complete. Returns the vaults that did not record it.
   * Throws when the object of a credential did not answer.
   */
  async complete(): Promise<readonly VaultId[]> {
    const { acts } = this.#storage;
    for (const { userId, act } of acts.unapplied()) {
      await this.#apply(userId, act);
      this.#write(() => acts.markApplied(act));
    }
    const unannounced = acts.unannounced();
    const newest = unannounced.at(-1);
    if (newest === undefined) return [];
    const pending = await this.#inform(newest.userId, unannounced);
    if (pending.length === 0) this.#write(() => acts.markInformed(newest.act));
    return pending;
  }

  async #apply(userId: UserId, act: AccessAct): Promise<void> {
    switch (act.kind) {
      case 'add-credential':
        return;
      case 'end-credential':
        return this.#end(act);
      case 'enable-user':
        return this.#suspend(userId, false);
      case 'disable-user': {
        const sessions = await this.#credentials.sessionsOf(userId);
        await Promise.all([this.#suspend(userId, true), ...sessions.map((id) => this.#credentials.session(id).end())]);
      }
    }
  }

  async #suspend(userId: UserId, isSuspended: boolean): Promise<void> {
    const ids = await tokensOf(this.#env.DB, userId);
    await Promise.all(ids.map((id) => this.#credentials.token(id).suspend(isSuspended)));
  }

  /** The id is the one of a token or of a session. The object of the other kind is empty. */
  async #end({ tokenId }: { readonly tokenId: TokenId }): Promise<void> {
    await Promise.all([this.#credentials.endToken(tokenId), this.#credentials.session(tokenId).end()]);
  }

  /** Informs every vault of the user. One that does not answer delays no other. */
  async #inform(userId: UserId, stored: readonly StoredAct[]): Promise<readonly VaultId[]> {
    const vaultIds = (await vaultIdsOf(this.#env.DB, userId)).flatMap((number) => parseVaultId(number) ?? []);
    const acts = stored.map(({ act }) => act);
    const inform = async (id: VaultId) => {
      try {
        await vaultStub(this.#env, id).report({ type: 'recordAccessActs', userId, acts });
        return [];
      } catch (error) {
        console.error(JSON.stringify({ event: 'access-not-recorded', vaultId: id, error: errorText(error) }));
        return [id];
      }
    };
    return (await Promise.all(vaultIds.map(inform))).flat();
  }
}
