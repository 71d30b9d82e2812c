import type { CosignerStorage } from '#cosigner/tables/storage.ts';
import type { PairState } from '#cosigner/session/pair-store.ts';
import type { PartyIndex } from '#mpc/party.ts';

/** Releases the permit of one round, after its outcome is written. */
export type RoundPermit = () => void;

/** The object of a pair at this co-signer, which all keys call (pair-store.ts). A call may fail. */
export interface PairObject {
  readonly pairState: (peer: PartyIndex, known: string | null) => Promise<PairState>;
  readonly isBanned: (peer: PartyIndex) => Promise<boolean>;
  readonly permit: (peer: PartyIndex) => Promise<string | null>;
  readonly release: (permit: string) => Promise<void>;
  readonly ban: (peer: PartyIndex, step: string) => Promise<void>;
}

interface SessionPeersContext {
  /** The storage of the object whose sessions these are. */
  readonly storage: CosignerStorage;
  /** The pinned identity key of a peer. */
  readonly identityOf: (peer: PartyIndex) => string;
  readonly pairObject: (peer: PartyIndex) => PairObject;
  /** Keeps the object alive until a promise settles. */
  readonly waitUntil: (promise: Promise<unknown>) => void;
}

/**
 * The peers of the sessions of one object: their bans, their permits and their pair set-ups.
 *
 * A ban is written to the storage of this object before the answer leaves, and only then shared
 * with the object of the pair. A cheater that overloads the object of the pair would otherwise
 * learn one bit of the long-lived choice string in each of any number of sessions.
 */
export class SessionPeers {
  readonly #context: SessionPeersContext;

  constructor(context: SessionPeersContext) {
    this.#context = context;
  }

  /** Bans the identity of a peer. Never fails once the own row is written. */
  async ban(peer: PartyIndex, step: string): Promise<void> {
    const { storage, identityOf } = this.#context;
    storage.putBan(identityOf(peer), step, Date.now());
    await this.#share(peer, step);
  }

  async isBanned(peer: PartyIndex): Promise<boolean> {
    return this.#isBannedHere(peer) || this.#context.pairObject(peer).isBanned(peer);
  }

  /** @param known the id of the set-up that the caller has */
  async state(peer: PartyIndex, known: string | null): Promise<PairState> {
    const isBanned = this.#isBannedHere(peer);
    const state = await this.#context.pairObject(peer).pairState(peer, known);
    return isBanned ? { ...state, banned: true } : state;
  }

  /** Returns the release of one permit from every peer, or null without any permit. */
  async permit(peers: readonly PartyIndex[]): Promise<RoundPermit | null> {
    if (peers.some((peer) => this.#isBannedHere(peer))) return null;
    const pairs = peers.map((peer) => this.#context.pairObject(peer));
    const permits = await Promise.all(peers.map(async (peer, i) => (await pairs[i]?.permit(peer)) ?? null));
    const release = () => {
      const releases = pairs.map(async (pair, i) => {
        const permit = permits[i] ?? null;
        if (permit !== null) await pair.release(permit);
      });
      this.#context.waitUntil(Promise.all(releases));
    };
    if (permits.every((permit) => permit !== null)) return release;
    release();
    return null;
  }

  /** Reports whether a session of this object banned the peer. Shares the ban again, then. */
  #isBannedHere(peer: PartyIndex): boolean {
    const { storage, identityOf, waitUntil } = this.#context;
    const step = storage.ban(identityOf(peer));
    if (step !== null) waitUntil(this.#share(peer, step));
    return step !== null;
  }

  async #share(peer: PartyIndex, step: string): Promise<void> {
    try {
      await this.#context.pairObject(peer).ban(peer, step);
    } catch (error) {
      // This object refuses the peer by its own row, and shares the ban again when it does.
      console.error(JSON.stringify({ event: 'ban-not-shared', peer, step, error: String(error) }));
    }
  }
}
