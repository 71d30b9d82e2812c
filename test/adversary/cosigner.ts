import { nameOf } from '#devices/policy-succession.ts';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { CosignerConfig } from '#cosigner/configuration.ts';
import { ExportLog } from '#cosigner/key/export-log.ts';
import { CosignerKey } from '#cosigner/key/key.ts';
import type { AdoptionContext, AttestationAnswer } from '#cosigner/policy/adoption.ts';
import { adopt, attest } from '#cosigner/policy/adoption.ts';
import { VaultPolicies } from '#cosigner/policy/vault-policies.ts';
import { attestationKeysOf, type AttestationStage } from '#cosigner/policy/attestation.ts';
import type { StoredShare } from '#cosigner/tables/sealed-table.ts';
import { CosignerStorage } from '#cosigner/tables/storage.ts';
import type { CosignerSet } from '#cosigner/cosigner-set.ts';
import { loadCosignerSet } from '#cosigner/cosigner-set.ts';
import { statePolicy } from '#cosigner/policy/policy-statement.ts';
import { sealedShare } from '#cosigner/key/share-store.ts';
import { Malformed } from '#cosigner/request-parser.ts';
import type { CosignerPin } from '#domain/access/cosigner-pin.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { AdoptedPolicy } from '#domain/policy/policy-change.ts';
import type { SignedStatement } from '#domain/policy/statement.ts';
import { encodePolicy } from '#cosigner-client/bring-policies.ts';
import { identitySecrets, publicIdentity } from '#mpc/identity.ts';
import type { CosignerIdentity } from '#mpc/envelope.ts';
import { importIdentity } from '#mpc/envelope.ts';
import { keyIdOf } from '#mpc/keygen/confirm.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { present } from '../chains/evm/cast.ts';
import type { DealtKey } from '../mpc/dealt-key.ts';
import { vaultObject } from '../cosigner/vault-scene.ts';
import { vaultId } from '../domain/cast.ts';
import { dealKey, party } from '../mpc/dealt-key.ts';
import { Database, objectSql } from '../objects/memory-sql.ts';
import { dealsAs } from './dealing.ts';
import { FEE_CEILINGS } from './networks.ts';

type Signatures = ReadonlyMap<PartyIndex, Uint8Array>;
export type SignaturesByStage = Readonly<Record<AttestationStage, Signatures>>;

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
  dealsAs(keyId, dealKey(threshold, parties, key.secretKey));
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
  vault: VaultPolicies;
  cosignerKey: CosignerKey;

  constructor(group: Group, index: PartyIndex) {
    this.index = index;
    this.#group = group;
    [this.storage, this.vault, this.cosignerKey] = this.#awake();
  }

  get #membership(): CosignerSet {
    return present(this.#group.memberships.get(this.index));
  }

  /** Restarts the co-signer: its memory is lost. */
  restart(): void {
    [this.storage, this.vault, this.cosignerKey] = this.#awake();
  }

  #awake(): readonly [CosignerStorage, VaultPolicies, CosignerKey] {
    const sql = objectSql(this.db);
    const storage = new CosignerStorage(sql);
    const vault = new VaultPolicies(sql);
    const context = {
      membership: this.#membership,
      storage,
      exportLog: new ExportLog(sql),
      vaultOf: () => vaultObject(vault),
      // The games play the rounds without pair set-ups.
      peers: {
        state: async () => ({ banned: false, setupId: 'paired', madeAtMs: Number.MAX_SAFE_INTEGER, sealed: null }),
        isBanned: async () => false,
      },
    };
    return [storage, vault, new CosignerKey(context)];
  }

  /** The policy that this co-signer has in force. */
  get inForce(): Policy {
    return present(this.vault.at(this.vault.version()));
  }

  /** Stores the share of the key, when the policy in force is the one of the key generation. */
  installed(policy: Policy): boolean {
    if (this.vault.pin(nameOf(policy)) !== null) return false;
    this.cosignerKey.install(present(this.#group.shares.get(this.index)), policy.vaultId);
    return true;
  }

  /** Discards the storage, because a key generation that failed is repeated with another object. */
  forget(): void {
    this.db.close();
    this.db = new Database();
    this.restart();
  }

  /** Returns 'adopted', or the code of the refusal. */
  adopt(sent: readonly AdoptedPolicy[], attestations: SignaturesByStage): Promise<string> {
    return codeOf(async () => {
      const answer = await adopt(this.#adoption(), sent.map(encodePolicy), attestations);
      return answer.ok ? 'adopted' : answer.refusal.code;
    });
  }

  /** Returns the co-signer's attestation of a policy, or the code of the refusal. */
  async attest(adopting: AdoptedPolicy): Promise<AttestationAnswer | string> {
    let given: AttestationAnswer | null = null;
    const code = await codeOf(async () => {
      const answer = await attest(this.#adoption(), nameOf(adopting.policy), [encodePolicy(adopting)]);
      if (!answer.ok) return answer.refusal.code;
      given = answer.value;
      return 'chosen';
    });
    return given ?? code;
  }

  #adoption(): AdoptionContext {
    const membership = this.#membership;
    return { membership, keys: attestationKeysOf(membership), vaultId, vault: this.vault, now: Date.now };
  }

  /**
   * Returns the co-signer's signed statement of the policy that it has in force, over the nonce of
   * a verifier.
   *
   * @param other a key that is in no session of the game, with the policy that this co-signer has
   * for it
   */
  async state(nonce: string, other?: { readonly keyId: string; readonly policy: Policy }): Promise<SignedStatement> {
    const context = {
      membership: this.#membership,
      keyId: other?.keyId ?? this.#group.keyId,
      policy: other?.policy ?? this.inForce,
      epoch: 1,
      nowMs: Date.now(),
    };
    return statePolicy(context, { nonce });
  }

  close(): void {
    this.db.close();
  }
}

/** Returns the code that a call gives, or 'malformed'. */
async function codeOf(call: () => Promise<string>): Promise<string> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof Malformed) return 'malformed';
    throw error;
  }
}
