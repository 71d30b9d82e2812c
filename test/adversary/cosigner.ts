import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import type { CosignerConfig } from '#cosigner/configuration.ts';
import { ExportLog } from '#cosigner/key/export-log.ts';
import { CosignerKey } from '#cosigner/key/key.ts';
import { policiesBytes } from '#cosigner/key/key-generation.ts';
import { isAttested } from '#cosigner/policy/attestation.ts';
import type { StoredShare } from '#cosigner/storage.ts';
import { CosignerStorage } from '#cosigner/storage.ts';
import type { CosignerSet } from '#cosigner/cosigner-set.ts';
import { loadCosignerSet } from '#cosigner/cosigner-set.ts';
import type { PolicyWithMandate } from '#cosigner/signed-document.ts';
import { statePolicy } from '#cosigner/policy/policy-statement.ts';
import { readChain } from '#cosigner/policy/policy-chain.ts';
import { policyWithMandateOf } from '#cosigner/signed-document.ts';
import { sealedShare } from '#cosigner/key/share-store.ts';
import { Malformed } from '#cosigner/request-parser.ts';
import type { CosignerPin } from '#domain/policy/cosigner-pin.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import type { SignedStatement } from '#domain/policy/statement.ts';
import { encodePolicy } from '#cosigner-client/sync-policies.ts';
import { identitySecrets, publicIdentity } from '#mpc/identity.ts';
import type { CosignerIdentity } from '#mpc/envelope.ts';
import { importIdentity } from '#mpc/envelope.ts';
import { keyIdOf } from '#mpc/keygen/confirm.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { present } from '../chains/evm/cast.ts';
import type { DealtKey } from '../mpc/dealt-key.ts';
import { registrationIn } from '../cosigner/vault-scene.ts';
import { dealKey, party } from '../mpc/dealt-key.ts';
import { Database, objectSql } from '../objects/memory-sql.ts';
import { FEE_CEILINGS } from './networks.ts';

export type Signatures = ReadonlyMap<PartyIndex, Uint8Array>;

/** The co-signers of a vault: their number, the threshold, and their key and identities. */
export interface Group {
  readonly parties: readonly PartyIndex[];
  readonly threshold: number;
  readonly key: DealtKey;
  readonly keyId: string;
  readonly memberships: ReadonlyMap<PartyIndex, CosignerSet>;
  readonly shares: ReadonlyMap<PartyIndex, StoredShare>;
  /** The identity pins that the people's devices have. */
  readonly pins: readonly CosignerPin[];
  /** Identities that mallory has made, one for each co-signer, and the pins that name them. */
  readonly impostors: ReadonlyMap<PartyIndex, CosignerIdentity>;
  readonly forgedPins: readonly CosignerPin[];
}

const GROUPS = new Map<string, Promise<Group>>();

/**
 * Returns the group of this size. Each size is dealt once, so all games share its key and
 * identities.
 */
export function groupOf(threshold: number, count: number): Promise<Group> {
  const name = `${threshold} of ${count}`;
  const known = GROUPS.get(name) ?? newGroup(threshold, count);
  GROUPS.set(name, known);
  return known;
}

async function newGroup(threshold: number, count: number): Promise<Group> {
  const parties = Array.from({ length: count }, (_, i) => party(i + 1));
  const key = dealKey(threshold, parties);
  const keyId = keyIdOf('ecdsa-secp256k1', key.publicKey);
  const memberships = new Map<PartyIndex, CosignerSet>();
  const shares = new Map<PartyIndex, StoredShare>();
  const secretOf = (self: PartyIndex) => bytesToHex(sha256(utf8ToBytes(`the identity of co-signer ${self}`)));
  const peers = Object.fromEntries(parties.map((self) => [String(self), publicIdentity(secretOf(self))]));
  const maxFees = Object.entries(FEE_CEILINGS).map(([chain, units]) => [chain, units.toString()]);
  for (const self of parties) {
    const env: CosignerConfig = {
      NODE_INDEX: String(self),
      PEERS: JSON.stringify(peers),
      MAX_FEES: JSON.stringify(Object.fromEntries(maxFees)),
      IDENTITY_SECRET: secretOf(self),
      KEY_ENCRYPTION_SECRETS: JSON.stringify([{ id: 'k1', secret: secretOf(self) }]),
    };
    const membership = await loadCosignerSet(env);
    memberships.set(self, membership);
    const { publicKey, publicShares } = key;
    const known = { scheme: 'ecdsa-secp256k1', keyId, epoch: 1, threshold, publicKey, publicShares } as const;
    const share = { ...known, self, secret: present(key.shares.get(self)) };
    shares.set(self, await sealedShare(membership, share, new Uint8Array(32)));
  }
  const pins = parties.map((index) => ({ index, signing: present(peers[String(index)]).signing }));
  const impostors = new Map<PartyIndex, CosignerIdentity>();
  for (const self of parties) impostors.set(self, await importIdentity(self, identitySecrets(secretOfImpostor(self))));
  const forgedPins = parties.map((index) => ({ index, signing: publicIdentity(secretOfImpostor(index)).signing }));
  return { parties, threshold, key, keyId, memberships, shares, pins, impostors, forgedPins };
}

function secretOfImpostor(index: PartyIndex): string {
  return bytesToHex(sha256(utf8ToBytes(`mallory as co-signer ${index}`)));
}

/**
 * An honest co-signer: the production code over a storage of its own, whose memory a restart
 * clears.
 */
export class HonestCosigner {
  readonly index: PartyIndex;
  db = new Database();
  readonly #group: Group;
  storage: CosignerStorage;
  cosignerKey: CosignerKey;

  constructor(group: Group, index: PartyIndex) {
    this.index = index;
    this.#group = group;
    [this.storage, this.cosignerKey] = this.#awake();
  }

  get #membership(): CosignerSet {
    return present(this.#group.memberships.get(this.index));
  }

  /** Restarts the co-signer: its memory is lost. */
  restart(): void {
    [this.storage, this.cosignerKey] = this.#awake();
  }

  #awake(): readonly [CosignerStorage, CosignerKey] {
    const sql = objectSql(this.db);
    const storage = new CosignerStorage(sql);
    const context = {
      membership: this.#membership,
      storage,
      exportLog: new ExportLog(sql),
      registration: registrationIn(sql),
      // The games play the rounds without pair set-ups.
      peers: {
        state: async () => ({ banned: false, setupId: 'paired', madeAtMs: 1, sealed: null }),
        isBanned: async () => false,
      },
    };
    return [storage, new CosignerKey(context)];
  }

  /**
   * Checks policies as at key generation (src/cosigner/object.ts). Returns the policies that the
   * co-signer would pin, or the code of its refusal.
   */
  async readPolicies(sent: readonly AdoptedPolicy[], attestations: Signatures): Promise<readonly Policy[] | string> {
    try {
      const chain = await readChain(sent.map(received), {
        nowMs: Date.now(),
        isJoining: false,
        isAttested: (policy) => isAttested(this.#membership, policy, attestations),
      });
      return chain.ok ? chain.value : chain.refusal.code;
    } catch (error) {
      if (error instanceof Malformed) return 'malformed';
      throw error;
    }
  }

  /**
   * Stores the key with these policies. Returns false when the storage refuses them; the co-signer
   * then has no key and starts again.
   */
  installed(policies: readonly Policy[]): boolean {
    try {
      this.cosignerKey.install(present(this.#group.shares.get(this.index)), policies);
      return true;
    } catch {
      this.forget();
      return false;
    }
  }

  /** Discards the storage, because a key generation that failed is repeated with another object. */
  forget(): void {
    this.db.close();
    this.db = new Database();
    this.restart();
  }

  /** Returns 'adopted', or the code of the refusal. */
  async adopt(sent: AdoptedPolicy, attestations: Signatures): Promise<string> {
    try {
      const answer = await this.cosignerKey.adopt(this.#group.keyId, received(sent), attestations);
      return answer.ok ? 'adopted' : answer.refusal.code;
    } catch (error) {
      if (error instanceof Malformed) return 'malformed';
      throw error;
    }
  }

  /** Returns the co-signer's attestation of a policy; null when it has not adopted the policy. */
  async attest(version: number): Promise<Uint8Array | null> {
    const answer = await this.cosignerKey.attest(version);
    return answer.ok ? hexToBytes(answer.value.attestation) : null;
  }

  /**
   * Returns the co-signer's signed statement of the policy that it has in force, over the nonce of
   * a verifier.
   *
   * @param other a key that is in no session of the game, with the policy that this co-signer has
   * for it
   */
  async state(nonce: string, other?: { readonly keyId: string; readonly policy: Policy }): Promise<SignedStatement> {
    const { storage } = this;
    const held = other === undefined ? storage.policies() : [other.policy];
    const context = {
      membership: this.#membership,
      storage: { policies: () => held, sealed: () => storage.sealed() },
      keyId: other?.keyId ?? this.#group.keyId,
      nowMs: Date.now(),
    };
    const stated = await statePolicy(context, { nonce });
    if (!stated.ok) throw new Error('the co-signer has a key');
    return stated.value;
  }

  close(): void {
    this.db.close();
  }
}

/**
 * Returns the name of a list of policies in the session of a key generation, which all participants
 * sign.
 */
export function chainName(policies: readonly Policy[]): string {
  return bytesToHex(policiesBytes(policies));
}

const READ = new Map<string, PolicyWithMandate>();
const MAX_READ = 2_000;

/**
 * Returns a policy as a co-signer reads it from the wire. Reading decompresses the key of each
 * device, and the games send few policies many times, so equal documents are read once.
 */
function received(adopted: AdoptedPolicy): PolicyWithMandate {
  const sent = encodePolicy(adopted);
  const text = JSON.stringify(sent);
  const known = READ.get(text) ?? policyWithMandateOf(JSON.parse(text));
  if (READ.size >= MAX_READ) READ.clear();
  READ.set(text, known);
  return known;
}
