import { addressOn } from '#chains/inspect/address-on.ts';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import type { VaultId } from '#domain/id.ts';
import type { Intent } from '#domain/transaction/intent.ts';
import type { Policy } from '#domain/policy/policy.ts';
import type { SignedStatement } from '#domain/policy/statement.ts';
import type { ExportList } from '#domain/policy/export-list.ts';
import { exportListBytes } from '#domain/policy/export-list.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import {
  checkRequest,
  CREATION_TOLERANCE_MS,
  type CheckedRequest,
  type SigningRequest,
} from '#cosigner/policy/approval-check.ts';
import type { ExportLog } from '#cosigner/key/export-log.ts';
import type { CosignerSet } from '#cosigner/cosigner-set.ts';
import { type CosignerStorage } from '#cosigner/tables/storage.ts';
import { recordOf } from '#cosigner/tables/signed-table.ts';
import { type StoredShare } from '#cosigner/tables/sealed-table.ts';
import type { CosignerVault, VaultView } from '#cosigner/policy/vault-policies.ts';
import { pairContext } from '#cosigner/session/pair-store.ts';
import type { SessionPeers } from '#cosigner/session/session-peers.ts';
import { statePolicy } from '#cosigner/policy/policy-statement.ts';
import { policyHashOf } from '#devices/policy-succession.ts';
import type { SessionPlan } from '#cosigner/session/protocol.ts';
import { receiptBytes, receiptFault } from '#cosigner/policy/receipt.ts';
import { needsReceipts } from '#domain/policy/policy.ts';
import { type Refused, refusal } from '#cosigner/refusal.ts';
import { signedRecoveryPackage } from '#cosigner/key/recovery-export.ts';
import { keyProofDigest } from '#cosigner/key/proof-digest.ts';
import type { ResharingRequest } from '#cosigner/key/resharing.ts';
import { prepareResharing } from '#cosigner/key/resharing.ts';
import type { ShareTest } from '#cosigner/self-test.ts';
import type { HeldShare } from '#cosigner/key/share-store.ts';
import { ShareStore } from '#cosigner/key/share-store.ts';
import type { AttestedRecord } from '#cosigner/policy/signed-record.ts';
import { attestRecords, importRecord } from '#cosigner/policy/signed-record.ts';
import { type Pairs, prepareSigning } from '#cosigner/session/signing.ts';
import { bindingContext } from '#cosigner/session/signing-request.ts';
import { walletKey, walletShare } from '#mpc/derivation/derivation.ts';
import { decodePairSetup, type PairSetup } from '#mpc/ecdsa/pair-setup.ts';
import { signAsCosigner } from '#mpc/envelope.ts';
import type { PartyIndex } from '#mpc/party.ts';
import type { RecoveryPackage } from '#mpc/recovery/package.ts';
import { type KeyShare, unseal } from '#mpc/share.ts';

export interface CosignerKeyContext {
  readonly membership: CosignerSet;
  readonly storage: CosignerStorage;
  readonly exportLog: ExportLog;
  readonly vaultOf: (vaultId: VaultId) => CosignerVault;
  readonly peers: Pick<SessionPeers, 'state' | 'isBanned'>;
}

/** A key has one wallet for each chain of its family. */
const MAX_WALLETS = 16;

/** The share of a key on one chain. */
interface Wallet {
  readonly address: string;
  readonly share: KeyShare;
}

/** One share of one key: it checks the purpose, the approvals and the co-signers of each use. */
export class CosignerKey {
  readonly #context: CosignerKeyContext;
  readonly #pairs = new Map<PartyIndex, PairSetup & { readonly id: string }>();
  readonly #wallets = new Map<string, Wallet>();
  readonly #shares: ShareStore;

  constructor(context: CosignerKeyContext) {
    this.#context = context;
    this.#shares = new ShareStore(context.membership, context.storage);
  }

  /** Opens the share of a key anew. */
  testShare(keyId: string): Promise<ShareTest> {
    return this.#shares.test(keyId);
  }

  /**
   * Returns the plan of a session that signs what a quorum approved. Refuses `malformed` (the
   * signers are not exactly the threshold), and what `#committable` and the pairs refuse. At its
   * start: `session-over` (the policy changed after the opening), `receipt-missing`.
   */
  async prepareSignature(
    keyId: string,
    signers: readonly PartyIndex[],
    request: SigningRequest,
  ): Promise<Result<SessionPlan, Refused>> {
    const { storage, membership } = this.#context;
    const isBanned = (peer: PartyIndex) => this.#context.peers.isBanned(peer);
    const committable = await this.#committable(keyId, request);
    if (!committable.ok) return committable;
    const { share, wallet, checked } = committable.value;
    if (signers.length !== share.threshold) return refused(refusal('malformed', 'signers'));
    const pairs = await this.#pairsFor(share, signers);
    if (!pairs.ok) return pairs;
    const { transactionId } = request.intent;
    const { policy } = checked;
    const record = recordOf(transactionId, request.attempt, checked);
    const session = {
      share: wallet.share,
      signers,
      messages: checked.signedMessages,
      occasion: bindingContext(request, policy),
      admit: async (receipts: ReadonlyMap<PartyIndex, Uint8Array>) => {
        const fault = needsReceipts(policy)
          ? await receiptFault({ membership, keyId, signers, record, policy, isBanned }, receipts)
          : null;
        return fault ?? ((await this.#isInForce(policy)) ? null : refusal('session-over', 'policy'));
      },
      commitTo: () => {
        const written = storage.signed.signOnce(transactionId, request.attempt, { ...checked, record: true });
        return written.ok ? null : written.refusal;
      },
      stillAllowed: async () => {
        const again = await this.#check(wallet, request);
        const isSame = again.ok && policyHashOf(again.value.policy) === policyHashOf(policy);
        return isSame && this.#shares.activeEpoch() === share.epoch;
      },
    };
    return accepted(prepareSigning(session, pairs.value));
  }

  /**
   * Writes the row and returns the receipt for bytes that others sign (receipt.ts). Refuses what
   * `#committable` refuses, and `second-digest`.
   */
  async receipt(keyId: string, request: SigningRequest): Promise<Result<{ readonly receipt: string }, Refused>> {
    const { storage, membership } = this.#context;
    const committable = await this.#committable(keyId, request);
    if (!committable.ok) return committable;
    const { checked } = committable.value;
    // The check awaits, so a policy change can land meanwhile.
    if (!(await this.#isInForce(checked.policy))) return this.receipt(keyId, request);
    const { transactionId } = request.intent;
    const written = storage.signed.signOnce(transactionId, request.attempt, { ...checked, record: true });
    if (!written.ok) return written;
    const record = recordOf(transactionId, request.attempt, checked);
    return accepted({
      receipt: bytesToHex(await signAsCosigner(membership.own, receiptBytes(keyId, record, checked.policy))),
    });
  }

  /**
   * Returns what this co-signer would commit to for a request, with its share and wallet. Refuses
   * `unknown-key`, `share-too-old`, `wrong-wallet` (no wallet on this chain), what `checkRequest`
   * refuses, `before-its-time` (see `#mayHaveLostRow`), `second-digest`.
   */
  async #committable(
    keyId: string,
    request: SigningRequest,
  ): Promise<Result<{ readonly share: KeyShare; readonly wallet: Wallet; readonly checked: CheckedRequest }, Refused>> {
    const { storage } = this.#context;
    const current = await this.#shares.current(keyId);
    if (!current.ok) return current;
    const share = current.value;
    const wallet = this.#walletOn(share, request.intent.chain);
    if (wallet === null) return refused(refusal('wrong-wallet'));
    const checked = await this.#check(wallet, request);
    if (!checked.ok) return checked;
    const { transactionId } = request.intent;
    if (this.#mayHaveLostRow(request.intent)) return refused(refusal('before-its-time'));
    const free = storage.signed.signOnce(transactionId, request.attempt, { ...checked.value, record: false });
    if (!free.ok) return free;
    return accepted({ share, wallet, checked: checked.value });
  }

  /**
   * Reports whether a lost row may have committed this co-signer to bytes of an intent. No attempt
   * and no purpose is exempt: a cancellation of an executed payment would use another nonce, and
   * burn the approved fee. The row of any attempt, its own or an attested one, fixes the nonce.
   */
  #mayHaveLostRow({ transactionId, createdAtMs }: Intent): boolean {
    const { storage } = this.#context;
    const sinceMs = storage.sealed.remembersSinceMs();
    // `checkRequest` bounds how far an intent can be dated ahead of its signature, so intents that
    // were signed before the loss are older than this.
    const isOlder = createdAtMs < sinceMs + CREATION_TOLERANCE_MS;
    return sinceMs > 0 && isOlder && storage.signed.recordsOf(transactionId).length === 0;
  }

  /**
   * Returns the plan of a session that proves that the shares of an epoch work, over a text that is
   * valid on no chain. Refuses `unknown-key`, `other-epoch`, `malformed` and what the pairs refuse.
   */
  async prepareProof(
    keyId: string,
    signers: readonly PartyIndex[],
    epoch: number,
  ): Promise<Result<SessionPlan, Refused>> {
    const held = await this.#shares.ofEpoch(keyId, epoch);
    if (!held.ok) return held;
    const share = held.value;
    if (signers.length !== share.threshold) return refused(refusal('malformed', 'signers'));
    const pairs = await this.#pairsFor(share, signers);
    if (!pairs.ok) return pairs;
    const session = {
      share,
      signers,
      messages: [keyProofDigest(keyId)],
      occasion: utf8ToBytes('conclave/key-proof/v1'),
      commitTo: () => null,
      stillAllowed: async () => true,
    };
    return accepted(prepareSigning(session, pairs.value));
  }

  /**
   * Returns the signed statement of the policy in force in the vault of this key. Refuses
   * `unknown-key`. Throws `Malformed`.
   */
  async state(keyId: string, body: unknown): Promise<Result<SignedStatement, Refused>> {
    const epoch = this.#shares.activeEpoch();
    const view = await this.#vaultView(null);
    if (epoch === 0 || view === null) return refused(refusal('unknown-key'));
    const { membership } = this.#context;
    return accepted(await statePolicy({ membership, keyId, policy: view.current, epoch, nowMs: Date.now() }, body));
  }

  /** See `prepareResharing`. */
  prepareResharing(keyId: string, request: ResharingRequest): Promise<Result<SessionPlan, Refused>> {
    return prepareResharing({ ...this.#context, shares: this.#shares }, keyId, request);
  }

  /** See `ShareStore.held`. */
  held(keyId: string): Promise<readonly HeldShare[]> {
    return this.#shares.held(keyId);
  }

  /** See `ShareStore.activate`. */
  activate(keyId: string, order: Parameters<ShareStore['activate']>[1]): Promise<Result<null, Refused>> {
    return this.#shares.activate(keyId, order);
  }

  /** See `attestRecords`. Refuses `unknown-key`. */
  async signedFor(keyId: string, transactionId: string) {
    if (this.#shares.activeEpoch() === 0) return refused(refusal('unknown-key'));
    return accepted(await attestRecords(this.#context, keyId, transactionId));
  }

  /** Refuses `unknown-key`, `share-too-old`, and what `importRecord` refuses. */
  async importRecord(keyId: string, seen: AttestedRecord): Promise<Result<null, Refused>> {
    const current = await this.#shares.current(keyId);
    if (!current.ok) return current;
    const share = current.value;
    const walletOn = (chain: string) => this.#walletOn(share, chain);
    return importRecord(this.#context, keyId, { ...seen, threshold: share.threshold, walletOn });
  }

  /**
   * Records the export and returns the share, sealed for the pinned offline key and signed. Refuses
   * `no-recovery-key`, `unknown-key`, `share-too-old`, `too-many-exports`, `seal-differs`.
   */
  async recoveryPackage(keyId: string): Promise<Result<RecoveryPackage, Refused>> {
    const { recoveryKey } = this.#context.membership;
    if (recoveryKey === null) return refused(refusal('no-recovery-key'));
    const current = await this.#shares.current(keyId);
    if (!current.ok) return current;
    const { epoch } = current.value;
    const isRecorded = this.#context.exportLog.record({ atMs: Date.now(), epoch, recoveryKey });
    if (!isRecorded) return refused(refusal('too-many-exports'));
    return signedRecoveryPackage(this.#context.membership.own, { recoveryKey, share: current.value });
  }

  /**
   * Returns the exports of a key with the hex signature of this co-signer over them and the nonce
   * of the reader. Refuses `unknown-key`.
   */
  async exports(keyId: string, nonce: string): Promise<Result<ExportList & { readonly signature: string }, Refused>> {
    if (this.#shares.activeEpoch() === 0) return refused(refusal('unknown-key'));
    const { own } = this.#context.membership;
    const list = { keyId, node: own.index, nonce, exports: this.#context.exportLog.list() };
    return accepted({ ...list, signature: bytesToHex(await signAsCosigner(own, exportListBytes(list))) });
  }

  /** Stores a new share once, with the vault whose object has the policies. */
  install(stored: StoredShare, vaultId: VaultId): void {
    const { storage } = this.#context;
    if (storage.sealed.inUse() !== null) return;
    storage.putVaultId(vaultId);
    storage.sealed.put({ ...stored, baseEpoch: 0, isActive: true });
  }

  /** Refuses `policy-behind`, and what `checkRequest` refuses. */
  async #check({ address }: Wallet, request: SigningRequest): Promise<Result<CheckedRequest, Refused>> {
    const { storage, membership } = this.#context;
    const view = await this.#vaultView(request.intent.policyVersion);
    if (view === null) return refused(refusal('policy-behind', '0'));
    return checkRequest(request, {
      ...view,
      wallet: address,
      nowMs: Date.now(),
      feeCeilings: membership.feeCeilings,
      isRecorded: (transactionId, intentDigest) => storage.signed.isRecorded(transactionId, intentDigest),
    });
  }

  async #isInForce(policy: Policy): Promise<boolean> {
    const view = await this.#vaultView(null);
    return view !== null && policyHashOf(view.current) === policyHashOf(policy);
  }

  /**
   * Reads the policies from the object of the vault, which is the only place with policies. Returns
   * null when they are not pinned: the object has lost its storage, and what it has since then was
   * chosen by the coordinator alone.
   */
  async #vaultView(version: number | null): Promise<VaultView | null> {
    const vaultId = this.#context.storage.vaultId();
    const view = vaultId === null ? null : await this.#context.vaultOf(vaultId).policies(version);
    return view?.isPinned === true ? view : null;
  }

  /**
   * Returns the wallet of this key on a chain, or null. Decompressing the key costs as much as the
   * rest of the check, so results are cached. A coordinator may name any chain, so the cache is
   * bounded.
   */
  #walletOn(share: KeyShare, chain: string): Wallet | null {
    const known = this.#wallets.get(chain);
    if (known?.share.epoch === share.epoch) return known;
    const address = addressOn(chain, share.scheme, walletKey(share, chain));
    if (address === null) return null;
    const wallet = { address, share: walletShare(share, chain) };
    if (known !== undefined || this.#wallets.size < MAX_WALLETS) this.#wallets.set(chain, wallet);
    return wallet;
  }

  /**
   * Returns the pairs with the other signers. A banned peer is refused. Only ECDSA needs set-ups.
   */
  async #pairsFor({ scheme }: KeyShare, signers: readonly PartyIndex[]): Promise<Result<Pairs, Refused>> {
    const peers = signers.filter((signer) => signer !== this.#context.membership.own.index);
    if (scheme === 'ecdsa-secp256k1') return this.#pairsWith(peers);
    for (const peer of peers)
      if (await this.#context.peers.isBanned(peer)) return refused(refusal('peer-banned', null, peer));
    return accepted(new Map());
  }

  async #pairsWith(peers: readonly PartyIndex[]): Promise<Result<Pairs, Refused>> {
    const { membership } = this.#context;
    for (const peer of peers) {
      const state = await this.#context.peers.state(peer, this.#pairs.get(peer)?.id ?? null);
      if (state.banned) return refused(refusal('peer-banned', null, peer));
      if (state.setupId === null) return refused(refusal('not-paired', null, peer));
      if (state.sealed === null) continue;
      const bytes = await unseal(
        membership.keyEncryption,
        pairContext(membership.own.index, peer, state.madeAtMs),
        state.sealed,
      );
      if (bytes === null) throw new Error('a pair set-up cannot be opened with the secrets of this co-signer');
      this.#pairs.set(peer, { ...decodePairSetup(bytes), id: state.setupId });
    }
    return accepted(new Map(this.#pairs));
  }
}
