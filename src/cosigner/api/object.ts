import { DurableObject } from 'cloudflare:workers';
import { adopt, attest, type AdoptionContext } from '#cosigner/policy/adoption.ts';
import type { CosignerConfig } from '#cosigner/configuration.ts';
import { type CosignerSet, loadCosignerSet, pinnedSigningKeys } from '#cosigner/cosigner-set.ts';
import { ExportLog } from '#cosigner/key/export-log.ts';
import { prepareKeyGeneration } from '#cosigner/key/key-generation.ts';
import { CosignerKey } from '#cosigner/key/key.ts';
import type { StoredShare } from '#cosigner/storage.ts';
import { COSIGNER_SCHEMA } from '#cosigner/schema.ts';
import { CosignerStorage } from '#cosigner/storage.ts';
import { PairStore, type PairState } from '#cosigner/session/pair-store.ts';
import { preparePairing } from '#cosigner/session/pairing.ts';
import { pinsMatch, policyInForce } from '#cosigner/policy/policy-statement.ts';
import type { SessionPlan } from '#cosigner/session/protocol.ts';
import { SUPPORTED_PROTOCOLS } from '#cosigner/protocol-version.ts';
import { type Refused, refusal } from '#cosigner/refusal.ts';
import { resharingRequestOf } from '#cosigner/key/resharing.ts';
import { sealedShare } from '#cosigner/key/share-store.ts';
import { witnessedRecordOf } from '#cosigner/policy/signed-record.ts';
import { signingRequestOf } from '#cosigner/session/signing-request.ts';
import { SessionPeers } from '#cosigner/session/session-peers.ts';
import { Sessions } from '#cosigner/session/sessions.ts';
import { attestationKeysOf } from '#cosigner/policy/attestation.ts';
import { type CosignerVault, VaultPolicies } from '#cosigner/policy/vault-policies.ts';
import { answerFor, type VaultAnswer, VaultReader } from '#cosigner/policy/vault-reader.ts';
import {
  byPartyOf,
  bytesOf,
  envelopeOf,
  fieldsOf,
  hexOf,
  listOf,
  Malformed,
  partyOf,
  policyNameOf,
  schemeOf,
  textOf,
  wholeNumberOf,
} from '#cosigner/request-parser.ts';
import type { VaultId } from '#domain/id.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import { minSigners, isAscending, type PartyIndex } from '#mpc/party.ts';
import type { KeyShare } from '#mpc/share.ts';
import { upgradeState } from '#store/object-schema.ts';

/**
 * The target of a request: the policies of a vault, the share of a key (for signing, a proof or a
 * resharing), the set-up with a peer, or one run of a key generation. Each has an object; one
 * object holds all of one key.
 */
export type ObjectRef =
  | { readonly kind: 'vault'; readonly vaultId: VaultId }
  | { readonly kind: 'key' | 'proof' | 'reshare'; readonly keyId: string }
  | { readonly kind: 'pair'; readonly peer: PartyIndex }
  | { readonly kind: 'keygen'; readonly run: string };

export const COSIGNER_ACTIONS = [
  'open',
  'start',
  'round',
  'policy',
  'attest',
  'receipt',
  'recovery',
  'exports',
  'signed',
  'witness',
  'shares',
  'activate',
  'statement',
] as const;

export type CosignerAction = (typeof COSIGNER_ACTIONS)[number];

export function objectName(ref: ObjectRef): string {
  switch (ref.kind) {
    case 'vault':
      return `vault:${ref.vaultId}`;
    case 'key':
    case 'proof':
    case 'reshare':
      return `key:${ref.keyId}`;
    case 'pair':
      return `pair:${ref.peer}`;
    case 'keygen':
      return `keygen:${ref.run}`;
  }
}

const SIGNATURE_BYTES = 64;

/** Parses signatures of co-signers: co-signer number to signature. */
function signaturesOf(value: unknown): ReadonlyMap<PartyIndex, Uint8Array> {
  return byPartyOf(value, (one) => bytesOf(one, SIGNATURE_BYTES));
}

/** Returns the key id. Throws `Malformed` for an object of another kind. */
function keyOf(ref: ObjectRef): string {
  if (ref.kind !== 'key') throw new Malformed('not the object of a key');
  return ref.keyId;
}

/** Returns the vault. Throws `Malformed` for an object of another kind. */
function vaultIdOf(ref: ObjectRef): VaultId {
  if (ref.kind !== 'vault') throw new Malformed('not the object of a vault');
  return ref.vaultId;
}

interface Components {
  readonly membership: CosignerSet;
  readonly sessions: Sessions;
  readonly key: CosignerKey;
}

/** The configuration of a co-signer with its binding. */
export interface CosignerEnv extends CosignerConfig {
  readonly NODE: DurableObjectNamespace<CosignerObject>;
}

/**
 * The one Durable Object class of a co-signer. It only parses requests of the coordinator and
 * connects the storage, the key and the sessions.
 */
export class CosignerObject extends DurableObject<CosignerEnv> {
  readonly #storage: CosignerStorage;
  readonly #exportLog: ExportLog;
  readonly #vault: VaultPolicies;
  readonly #pair: PairStore;
  /** The reader of the vault that was read last. A key has one vault. */
  #reader: { readonly vaultId: VaultId; readonly vault: VaultReader } | null = null;
  #rooms: Promise<Components> | null = null;

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
      return await this.#act(ref, action, body);
    } catch (error) {
      if (error instanceof Malformed) return refused(refusal('malformed', error.message));
      throw error;
    }
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

  async #act(ref: ObjectRef, action: CosignerAction, body: unknown): Promise<Result<unknown, Refused>> {
    const { sessions, key } = await this.#open();
    sessions.endOld(Date.now());
    switch (action) {
      case 'open': {
        const { protocol, request } = fieldsOf(body, ['protocol', 'request']);
        const isAhead = request === null && ref.kind === 'key';
        return sessions.open(hexOf(protocol, 32), isAhead ? null : () => this.#prepare(ref, request));
      }
      case 'start': {
        const fields = fieldsOf(body, ['nonces', 'openings', 'receipts'], ['request']);
        const { request } = fields;
        return sessions.start({
          nonces: byPartyOf(fields['nonces'], (nonce) => hexOf(nonce, 32)),
          openings: byPartyOf(fields['openings'], envelopeOf),
          receipts: signaturesOf(fields['receipts']),
          ...(request === undefined ? {} : { prepare: () => this.#prepare(ref, request) }),
        });
      }
      case 'round': {
        const fields = fieldsOf(body, ['sid', 'round', 'envelopes']);
        return sessions.round({
          sid: bytesOf(fields['sid'], 32),
          round: wholeNumberOf(fields['round']),
          envelopes: byPartyOf(fields['envelopes'], envelopeOf),
        });
      }
      case 'attest': {
        const { version, hash, policies } = fieldsOf(body, ['version', 'hash', 'policies']);
        const context = await this.#adoption(vaultIdOf(ref));
        return attest(context, policyNameOf({ vaultId: context.vaultId, version, hash }), policies);
      }
      case 'policy': {
        const { policies, chosen, adopted } = fieldsOf(body, ['policies', 'chosen', 'adopted']);
        const attestations = { chosen: signaturesOf(chosen), adopted: signaturesOf(adopted) };
        return adopt(await this.#adoption(vaultIdOf(ref)), policies, attestations);
      }
      case 'receipt': {
        const { request } = fieldsOf(body, ['request']);
        return key.receipt(keyOf(ref), signingRequestOf(request));
      }
      case 'signed': {
        const { transactionId } = fieldsOf(body, ['transactionId']);
        return key.signedFor(keyOf(ref), textOf(transactionId, 64));
      }
      case 'witness':
        return key.importRecord(keyOf(ref), witnessedRecordOf(body));
      case 'recovery': {
        fieldsOf(body, []);
        return key.recoveryPackage(keyOf(ref));
      }
      case 'exports': {
        const { nonce } = fieldsOf(body, ['nonce']);
        return key.exports(keyOf(ref), hexOf(nonce, 32));
      }
      case 'shares': {
        fieldsOf(body, []);
        return accepted(await key.held(keyOf(ref)));
      }
      case 'activate': {
        const { epoch, receipts } = fieldsOf(body, ['epoch', 'receipts']);
        const order = { epoch: wholeNumberOf(epoch), receipts: signaturesOf(receipts) };
        return key.activate(keyOf(ref), order);
      }
      case 'statement':
        return key.state(keyOf(ref), body);
    }
  }

  async #adoption(vaultId: VaultId): Promise<AdoptionContext> {
    const { membership } = await this.#open();
    return { membership, keys: attestationKeysOf(membership), vaultId, vault: this.#vault, now: Date.now };
  }

  async #prepare(ref: ObjectRef, body: unknown): Promise<Result<SessionPlan, Refused>> {
    switch (ref.kind) {
      case 'vault':
        throw new Malformed('a vault has no sessions');
      case 'pair':
        return this.#preparePairing(ref.peer, body);
      case 'keygen':
        return this.#prepareKeyGeneration(body);
      case 'key': {
        const { key, signers, rest } = await this.#amongSigners(body, 'request');
        return signers.ok ? key.prepareSignature(ref.keyId, signers.value, signingRequestOf(rest)) : signers;
      }
      case 'proof': {
        const { key, signers, rest } = await this.#amongSigners(body, 'epoch');
        return signers.ok ? key.prepareProof(ref.keyId, signers.value, wholeNumberOf(rest)) : signers;
      }
      case 'reshare': {
        const { key } = await this.#open();
        return key.prepareResharing(ref.keyId, resharingRequestOf(body));
      }
    }
  }

  /** A new set-up does not lift a ban: only a replacement of the banned co-signer does. */
  async #preparePairing(peer: PartyIndex, body: unknown): Promise<Result<SessionPlan, Refused>> {
    fieldsOf(body, []);
    const { membership } = await this.#open();
    if (!membership.peers.has(peer)) return refused(refusal('malformed', 'peer'));
    if (this.#pair.isBanned(peer)) return refused(refusal('peer-banned', null, peer));
    const self = membership.own.index;
    const store = (setup: Parameters<PairStore['store']>[0]) => this.#pair.store(setup, membership.keyEncryption);
    return accepted(preparePairing({ self, peer, store }));
  }

  /**
   * Refuses `malformed`, what `policyInForce` refuses, and `policy-mismatch` for a policy that
   * names other co-signers, which can be older than a rotation.
   */
  async #prepareKeyGeneration(body: unknown): Promise<Result<SessionPlan, Refused>> {
    const fields = fieldsOf(body, ['scheme', 'policy']);
    const [scheme, named] = [schemeOf(fields['scheme']), policyNameOf(fields['policy'])];
    const { membership } = await this.#open();
    const { own, peers, parties } = membership;
    const vault = this.#vaultOf(named.vaultId);
    const inForce = policyInForce(await vault.policies(null), named);
    if (!inForce.ok) return inForce;
    const policy = inForce.value;
    const threshold = policy.signingThreshold;
    if (threshold < minSigners(parties.length) || threshold > parties.length)
      return refused(refusal('malformed', 'signingThreshold'));
    if (!pinsMatch(policy, membership)) return refused(refusal('policy-mismatch', 'cosigners'));
    const store = async (share: KeyShare, statement: Uint8Array) => {
      const fault = await vault.pin(named);
      if (fault !== null) return fault;
      const stored = await sealedShare(membership, share, statement);
      const name = objectName({ kind: 'key', keyId: share.keyId });
      await this.env.NODE.getByName(name).install(stored, named.vaultId);
      return null;
    };
    return accepted(prepareKeyGeneration({ scheme, own, peers, parties, policy, store }));
  }

  #vaultOf(vaultId: VaultId): CosignerVault {
    const name = objectName({ kind: 'vault', vaultId });
    if (this.#reader?.vaultId !== vaultId) {
      this.#reader = { vaultId, vault: new VaultReader(() => this.env.NODE.getByName(name)) };
    }
    return this.#reader.vault;
  }

  /**
   * Returns the signers, which have to include this co-signer, and the other field of the request.
   */
  async #amongSigners(body: unknown, field: string) {
    const { membership, key } = await this.#open();
    const fields = fieldsOf(body, ['signers', field]);
    const signers = listOf(fields['signers'], 5, partyOf);
    const pinned = signers.every((party) => membership.parties.includes(party));
    const isAGroup = isAscending(signers) && pinned && signers.includes(membership.own.index);
    return {
      key,
      signers: isAGroup ? accepted(signers) : refused(refusal('malformed', 'signers')),
      rest: fields[field],
    };
  }

  #open(): Promise<Components> {
    this.#rooms ??= this.#buildComponents();
    return this.#rooms;
  }

  async #buildComponents(): Promise<Components> {
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
    return { membership, sessions, key };
  }
}
