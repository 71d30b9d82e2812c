import { bytesToHex } from '@noble/hashes/utils.js';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { CosignerStorage } from '#cosigner/tables/storage.ts';
import type { StoredShare } from '#cosigner/tables/sealed-table.ts';
import type { CosignerSet } from '#cosigner/cosigner-set.ts';
import type { ShareTest } from '#cosigner/self-test.ts';
import type { Refused } from '#cosigner/refusal.ts';
import { refusal } from '#cosigner/refusal.ts';
import { signAsCosigner, verifyAsCosigner } from '#mpc/envelope.ts';
import type { PartyIndex } from '#mpc/party.ts';
import type { KeyShare, SealContext } from '#mpc/share.ts';
import { decodeKeyShare, encodeKeyShare, publicSharesText, seal, unseal } from '#mpc/share.ts';

/** The public description of a share of this co-signer that is in use or waits for activation. */
export interface HeldShare {
  readonly epoch: number;
  readonly isActive: boolean;
  /** Hex of the statement about the share that every co-signer signed. */
  readonly statement: string;
  /** Co-signer number to the hex of its point. */
  readonly publicShares: Readonly<Record<string, string>>;
  /**
   * Co-signer number to the hex of its signature that it stored its share: the receipt of this
   * co-signer, and the receipts that activated this share.
   */
  readonly receipts: Readonly<Record<string, string>>;
}

/**
 * Ours: how many shares wait at once in normal use. Above it a co-signer takes part in one dealing
 * in each interval, so that a coordinator that completes no dealing cannot fill its storage. A
 * waiting share cannot be deleted alone, because another co-signer may use one of the same dealing.
 */
const MAX_WAITING = 32;
const DEALING_INTERVAL_MS = 60 * 60 * 1000;

/**
 * The shares of one key that a co-signer has, one for each epoch: the one in use, and those that
 * wait until every co-signer has its own.
 *
 * By its receipt a co-signer states that it has a share of an epoch. It keeps this share from then
 * on, and accepts no share of an epoch that is not newer than all its shares. The receipts of all
 * co-signers activate an epoch. They are stored, and older shares are deleted then. So every
 * co-signer has the newest epoch that is in use anywhere, and a co-signer that uses it has what
 * each other one needs to use it too. When a change of epochs is interrupted at any point and any
 * co-signers are lost, the remaining ones can complete it. While none of them uses the new shares,
 * they sign with each other as before.
 */
export class ShareStore {
  readonly #membership: CosignerSet;
  readonly #storage: CosignerStorage;
  readonly #opened = new Map<number, KeyShare>();

  constructor(membership: CosignerSet, storage: CosignerStorage) {
    this.#membership = membership;
    this.#storage = storage;
  }

  /**
   * Returns the share in use. Refuses `unknown-key`, `share-too-old` (older than the time that the
   * operator set).
   */
  async current(keyId: string): Promise<Result<KeyShare, Refused>> {
    const stored = this.#storage.sealed.inUse();
    if (stored === null) return refused(refusal('unknown-key'));
    if (stored.madeAtMs < this.#membership.sharesSinceMs) return refused(refusal('share-too-old'));
    return accepted(await this.#open(keyId, stored));
  }

  /** Opens the share in use anew, whatever is in memory. */
  async test(keyId: string): Promise<ShareTest> {
    const stored = this.#storage.sealed.inUse();
    if (stored === null) return { epoch: null, madeAtMs: null, fault: 'missing' };
    const { epoch, madeAtMs } = stored;
    this.#opened.delete(epoch);
    try {
      await this.#open(keyId, stored);
    } catch {
      return { epoch, madeAtMs, fault: 'unreadable' };
    }
    return { epoch, madeAtMs, fault: madeAtMs < this.#membership.sharesSinceMs ? 'too-old' : null };
  }

  /** Returns the share of an epoch, in use or waiting. Refuses `unknown-key`, `other-epoch`. */
  async ofEpoch(keyId: string, epoch: number): Promise<Result<KeyShare, Refused>> {
    const active = this.#storage.sealed.inUse();
    if (active?.epoch === epoch) return this.current(keyId);
    const stored = this.#storage.sealed.all().find((one) => one.epoch === epoch);
    if (stored !== undefined) return accepted(await this.#open(keyId, stored));
    return refused(active === null ? refusal('unknown-key') : refusal('other-epoch', String(active.epoch)));
  }

  /** Returns the epoch of the share in use, or 0. */
  activeEpoch(): number {
    return this.#storage.sealed.inUse()?.epoch ?? 0;
  }

  /** Returns the newest epoch of which this co-signer has a share, or 0. */
  newestEpoch(): number {
    return Math.max(0, ...this.#storage.sealed.all().map(({ epoch }) => epoch));
  }

  /** Reports whether too many shares wait for this co-signer to take part in a dealing now. */
  isFull(nowMs: number): boolean {
    const waiting = this.#storage.sealed.all().filter(({ isActive }) => !isActive);
    const sinceMs = nowMs - (waiting.at(-1)?.madeAtMs ?? 0);
    return waiting.length >= MAX_WAITING && Math.abs(sinceMs) < DEALING_INTERVAL_MS;
  }

  /**
   * Stores a share until all co-signers have theirs. Throws for an epoch that is not newer than all
   * its epochs.
   */
  async hold(share: KeyShare, { base, statement }: { readonly base: number; readonly statement: Uint8Array }) {
    const stored = await sealedShare(this.#membership, share, statement);
    if (share.epoch <= this.newestEpoch()) throw new Error('the epoch of a share is not newer than every stored one');
    this.#storage.sealed.put({ ...stored, baseEpoch: base, isActive: false });
  }

  /**
   * Returns what a coordinator needs to complete a change of epochs: the share in use and the
   * newest waiting ones. It refuses nothing: the list of a co-signer without the key is empty.
   */
  async held(keyId: string): Promise<readonly HeldShare[]> {
    const all: HeldShare[] = [];
    const stored = this.#storage.sealed.all();
    for (const one of stored.filter(({ isActive }, i) => isActive || i >= stored.length - MAX_WAITING)) {
      const { epoch, label: statement, isActive } = one;
      const { publicShares } = await this.#open(keyId, one);
      const { own } = this.#membership;
      const receipt = await signAsCosigner(own, receiptBytes({ keyId, epoch, statement, cosigner: own.index }));
      all.push({
        epoch,
        isActive,
        statement,
        publicShares: publicSharesText(publicShares),
        receipts: { ...one.receipts, [String(own.index)]: bytesToHex(receipt) },
      });
    }
    return all;
  }

  /**
   * Activates the share of an epoch after every co-signer confirmed that it has its own, and
   * deletes older shares. Repeating it, or naming a past epoch, changes nothing. Refuses, in order:
   * `unknown-key` (no share of that epoch), `not-enough-witnesses` (a receipt is missing).
   */
  async activate(
    keyId: string,
    { epoch, receipts }: { readonly epoch: number; readonly receipts: ReadonlyMap<PartyIndex, Uint8Array> },
  ): Promise<Result<null, Refused>> {
    if (this.activeEpoch() >= epoch) return accepted(null);
    const stored = this.#storage.sealed.all().find((one) => one.epoch === epoch);
    if (stored === undefined) return refused(refusal('unknown-key'));
    const believed: Record<string, string> = {};
    for (const [party, peer] of this.#membership.peers) {
      const bytes = receiptBytes({ keyId, epoch, statement: stored.label, cosigner: party });
      const receipt = receipts.get(party) ?? new Uint8Array();
      if (!(await verifyAsCosigner(peer, bytes, receipt))) return refused(refusal('not-enough-witnesses', null, party));
      believed[String(party)] = bytesToHex(receipt);
    }
    this.#storage.sealed.activate(epoch, { receipts: believed, nowMs: Date.now() });
    for (const old of this.#opened.keys()) if (old < epoch) this.#opened.delete(old);
    return accepted(null);
  }

  async #open(keyId: string, { epoch, madeAtMs, record }: StoredShare): Promise<KeyShare> {
    const known = this.#opened.get(epoch);
    if (known !== undefined) return known;
    const { own, keyEncryption } = this.#membership;
    const bytes = await unseal(keyEncryption, shareContext(own.index, { keyId, epoch, madeAtMs }), record);
    if (bytes === null) throw new Error('a share cannot be opened with the secrets of this co-signer');
    const share = decodeKeyShare(keyId, bytes);
    this.#opened.set(epoch, share);
    return share;
  }
}

/** Returns a share in its stored form, with the current time. */
export async function sealedShare(
  { own, keyEncryption }: CosignerSet,
  share: KeyShare,
  statement: Uint8Array,
): Promise<StoredShare> {
  const madeAtMs = Date.now();
  const { epoch } = share;
  const record = await seal(keyEncryption, shareContext(own.index, { ...share, madeAtMs }), encodeKeyShare(share));
  return { epoch, madeAtMs, label: bytesToHex(statement), record };
}

function shareContext(
  cosigner: PartyIndex,
  { keyId, epoch, madeAtMs }: { readonly keyId: string; readonly epoch: number; readonly madeAtMs: number },
): SealContext {
  return { kind: 'share', node: cosigner, name: keyId, epoch, madeAtMs };
}

/** The statement of a co-signer that it has a share. */
interface Receipt {
  readonly keyId: string;
  readonly epoch: number;
  readonly statement: string;
  readonly cosigner: PartyIndex;
}

export function receiptBytes({ keyId, epoch, statement, cosigner }: Receipt): Uint8Array<ArrayBuffer> {
  return canonicalBytes('conclave/share-held/v1', [
    ['keyId', keyId],
    ['epoch', String(epoch)],
    ['statement', statement],
    ['node', String(cosigner)],
  ]);
}
