import type { CosignerStorage } from '#cosigner/tables/storage.ts';
import { bytesToHex } from '@noble/hashes/utils.js';
import { encodePairSetup, type PairSetup } from '#mpc/ecdsa/pair-setup.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { type KeyEncryptionSecret, seal, type SealContext, type SealedRecord } from '#mpc/share.ts';

/**
 * The maximum of concurrent rounds of one pair, over all keys. A cheating peer learns at most one
 * bit of the long-lived choice string for each round that was admitted before the ban. So it learns
 * at most 16 of 128 bits, whatever runs in parallel.
 */
const MAX_ROUNDS_UNDER_WAY = 16;

/**
 * A permit that was not released after this time counts as lost, for example because its object was
 * moved.
 */
const PERMIT_MS = 60_000;

/** The state of a pair that a key object needs. */
export interface PairState {
  readonly banned: boolean;
  /** Null when the pair has no set-up. */
  readonly setupId: string | null;
  /** The creation time of the set-up; 0 when there is none. */
  readonly madeAtMs: number;
  /** Null when the caller has this set-up already. */
  readonly sealed: SealedRecord | null;
}

/** The set-up with one peer, its ban, and the rounds that are in progress with it. */
export class PairStore {
  readonly #storage: CosignerStorage;
  readonly #identityOf: (peer: PartyIndex) => string;
  readonly #underWay = new Map<string, number>();

  constructor(storage: CosignerStorage, identityOf: (peer: PartyIndex) => string) {
    this.#storage = storage;
    this.#identityOf = identityOf;
  }

  state(peer: PartyIndex, known: string | null): PairState {
    const stored = this.#storage.sealed.inUse();
    const setupId = stored?.label ?? null;
    return {
      banned: this.isBanned(peer),
      setupId,
      madeAtMs: stored?.madeAtMs ?? 0,
      sealed: setupId === known ? null : (stored?.record ?? null),
    };
  }

  /** Returns a permit for one round, or null. */
  permit(peer: PartyIndex, nowMs: number): string | null {
    for (const [permit, atMs] of this.#underWay) if (atMs + PERMIT_MS < nowMs) this.#underWay.delete(permit);
    if (this.isBanned(peer) || this.#underWay.size >= MAX_ROUNDS_UNDER_WAY) return null;
    const permit = crypto.randomUUID();
    this.#underWay.set(permit, nowMs);
    return permit;
  }

  release(permit: string): void {
    this.#underWay.delete(permit);
  }

  /**
   * Reports whether the currently pinned identity of this peer is banned. A machine that replaces
   * the peer has another identity, which is not banned.
   */
  isBanned(peer: PartyIndex): boolean {
    return this.#storage.ban(this.#identityOf(peer)) !== null;
  }

  /**
   * Bans the identity key, until the operator of this co-signer pins another key for the peer. The
   * set-up is deleted with the ban: a cheater that got another identity and kept its storage would
   * otherwise continue with the choice string of which it learned bits.
   */
  ban(peer: PartyIndex, step: string, atMs: number): void {
    this.#storage.putBan(this.#identityOf(peer), step, atMs);
    this.#storage.sealed.deleteAll();
  }

  async store(setup: PairSetup, secrets: readonly KeyEncryptionSecret[]): Promise<void> {
    const madeAtMs = Date.now();
    const record = await seal(secrets, pairContext(setup.self, setup.peer, madeAtMs), encodePairSetup(setup));
    const label = bytesToHex(setup.setupId);
    this.#storage.sealed.put({ epoch: PAIR_EPOCH, baseEpoch: 0, isActive: true, madeAtMs, label, record });
  }
}

/** A pair has one set-up: a new one replaces the previous one. */
const PAIR_EPOCH = 1;

export function pairContext(cosigner: PartyIndex, peer: PartyIndex, madeAtMs: number): SealContext {
  return { kind: 'pair', node: cosigner, name: String(peer), epoch: PAIR_EPOCH, madeAtMs };
}
