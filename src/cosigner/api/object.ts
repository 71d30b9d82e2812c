import { DurableObject } from 'cloudflare:workers';
import { act } from '#cosigner/api/actions.ts';
import type { CosignerAction, ObjectRef } from '#cosigner/api/object-ref.ts';
import { objectName } from '#cosigner/api/object-ref.ts';
import type { CosignerParts } from '#cosigner/api/parts.ts';
import type { CosignerConfig } from '#cosigner/configuration.ts';
import { loadCosignerSet, pinnedSigningKeys } from '#cosigner/cosigner-set.ts';
import { ExportLog } from '#cosigner/key/export-log.ts';
import { CosignerKey } from '#cosigner/key/key.ts';
import type { StoredShare } from '#cosigner/tables/sealed-table.ts';
import { COSIGNER_SCHEMA } from '#cosigner/schema.ts';
import { CosignerStorage } from '#cosigner/tables/storage.ts';
import { PairStore, type PairState } from '#cosigner/session/pair-store.ts';
import { SUPPORTED_PROTOCOLS } from '#cosigner/protocol-version.ts';
import { type Refused, refusal } from '#cosigner/refusal.ts';
import type { ShareTest } from '#cosigner/self-test.ts';
import { SessionPeers } from '#cosigner/session/session-peers.ts';
import { Sessions } from '#cosigner/session/sessions.ts';
import { type CosignerVault, VaultPolicies } from '#cosigner/policy/vault-policies.ts';
import { answerFor, type VaultAnswer, VaultReader } from '#cosigner/policy/vault-reader.ts';
import { Malformed } from '#cosigner/request-parser.ts';
import type { VaultId } from '#domain/id.ts';
import type { Result } from '#domain/result.ts';
import { refused } from '#domain/result.ts';
import { type PartyIndex } from '#mpc/party.ts';
import { upgradeState } from '#store/object-schema.ts';

/** The configuration of a co-signer with its binding. */
export interface CosignerEnv extends CosignerConfig {
  readonly NODE: DurableObjectNamespace<CosignerObject>;
}

/**
 * The one Durable Object class of a co-signer. It connects the storage, the key and the sessions,
 * and answers the coordinator and the other objects of this co-signer.
 */
export class CosignerObject extends DurableObject<CosignerEnv> {
  readonly #storage: CosignerStorage;
  readonly #exportLog: ExportLog;
  readonly #vault: VaultPolicies;
  readonly #pair: PairStore;
  /** The reader of the vault that was read last. A key has one vault. */
  #reader: { readonly vaultId: VaultId; readonly vault: VaultReader } | null = null;
  #parts: Promise<CosignerParts> | null = null;

  constructor(ctx: DurableObjectState, env: CosignerEnv) {
    super(ctx, env);
    upgradeState(ctx.storage, COSIGNER_SCHEMA);
    this.#storage = new CosignerStorage(ctx.storage.sql);
    this.#exportLog = new ExportLog(ctx.storage.sql);
    this.#vault = new VaultPolicies(ctx.storage.sql);
    this.#pair = new PairStore(this.#storage, pinnedSigningKeys(env));
  }

  /**
   * Serves one request of the coordinator. Refuses `malformed` first, then what the action refuses.
   */
  async serve(ref: ObjectRef, action: CosignerAction, body: unknown): Promise<Result<unknown, Refused>> {
    try {
      return await act(await this.#open(), { ref, action, body });
    } catch (error) {
      if (error instanceof Malformed) return refused(refusal('malformed', error.message));
      throw error;
    }
  }

  /** Called by the interface of this co-signer, for the object of a key. */
  async testShare(keyId: string): Promise<ShareTest> {
    const { key } = await this.#open();
    return key.testShare(keyId);
  }

  /** Called by the key objects of this co-signer. */
  pairState(peer: PartyIndex, known: string | null): PairState {
    return this.#pair.state(peer, known);
  }

  /** Called by the key objects of this co-signer. */
  isBanned(peer: PartyIndex): boolean {
    return this.#pair.isBanned(peer);
  }

  /**
   * Called by the key objects of this co-signer. Returns a permit for one round with this peer, or
   * null.
   */
  permit(peer: PartyIndex): string | null {
    return this.#pair.permit(peer, Date.now());
  }

  release(permit: string): void {
    this.#pair.release(permit);
  }

  ban(peer: PartyIndex, step: string): void {
    this.#pair.ban(peer, step, Date.now());
  }

  /**
   * Called by the key generation of this co-signer with the share that all co-signers confirmed.
   */
  async install(stored: StoredShare, vaultId: VaultId): Promise<void> {
    const { key } = await this.#open();
    key.install(stored, vaultId);
  }

  /** Called by the key objects and key generations of this co-signer. */
  policies(version: number | null, known: readonly string[]): VaultAnswer | null {
    const view = this.#vault.view(version);
    return view === null ? null : answerFor(view, known);
  }

  /** Called by the key generations of this co-signer, and by key objects that get a new share. */
  pin(head: Parameters<VaultPolicies['pin']>[0]): Refused | null {
    return this.#vault.pin(head);
  }

  #vaultOf(vaultId: VaultId): CosignerVault {
    const name = objectName({ kind: 'vault', vaultId });
    if (this.#reader?.vaultId !== vaultId) {
      this.#reader = { vaultId, vault: new VaultReader(() => this.env.NODE.getByName(name)) };
    }
    return this.#reader.vault;
  }

  #open(): Promise<CosignerParts> {
    this.#parts ??= this.#buildParts();
    return this.#parts;
  }

  async #buildParts(): Promise<CosignerParts> {
    const membership = await loadCosignerSet(this.env);
    const storage = this.#storage;
    const sessionPeers = new SessionPeers({
      storage,
      identityOf: pinnedSigningKeys(this.env),
      pairObject: (peer) => this.env.NODE.getByName(objectName({ kind: 'pair', peer })),
      waitUntil: (promise) => this.ctx.waitUntil(promise),
    });
    const key = new CosignerKey({
      membership,
      storage,
      exportLog: this.#exportLog,
      vaultOf: (vaultId) => this.#vaultOf(vaultId),
      peers: sessionPeers,
    });
    const sessions = new Sessions({ membership, storage, protocols: SUPPORTED_PROTOCOLS, peers: sessionPeers });
    const installInto = async (keyId: string, stored: StoredShare, vaultId: VaultId) => {
      await this.env.NODE.getByName(objectName({ kind: 'key', keyId })).install(stored, vaultId);
    };
    const [vault, pair] = [this.#vault, this.#pair];
    return { membership, sessions, key, vault, pair, vaultOf: (vaultId) => this.#vaultOf(vaultId), installInto };
  }
}
