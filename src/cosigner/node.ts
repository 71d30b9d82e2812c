import { DurableObject } from 'cloudflare:workers';
import type { CosignerEnv } from '#cosigner/environment.ts';
import { type Membership, membershipOf } from '#cosigner/membership.ts';
import { prepareKeyGeneration } from '#cosigner/key-generation.ts';
import { KeyKeeper, sharePlace } from '#cosigner/key-keeper.ts';
import { Ledger } from '#cosigner/ledger.ts';
import { PairKeeper, type PairState } from '#cosigner/pair-keeper.ts';
import { preparePairing } from '#cosigner/pairing.ts';
import type { Preparation } from '#cosigner/protocol.ts';
import { type Refused, refusal } from '#cosigner/refusal.ts';
import { witnessedRecordOf } from '#cosigner/signed-record.ts';
import { signingRequestOf } from '#cosigner/signing-request.ts';
import { type Permit, Sessions } from '#cosigner/sessions.ts';
import {
  byPartyOf,
  bytesOf,
  envelopeOf,
  fieldsOf,
  hexOf,
  listOf,
  Malformed,
  mandateOf,
  partyOf,
  policyOf,
  schemeOf,
  textOf,
  wholeNumberOf,
} from '#cosigner/wire.ts';
import type { Policy } from '#domain/policy.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import { fewestSigners, type PartyIndex } from '#mpc/party.ts';
import { encodeKeyShare, type KeyShare, seal, type SealedRecord } from '#mpc/share.ts';

/** Which object of the node is meant: the share of a key, the set-up with a peer, or one run of a key generation. */
export type Place =
  | { readonly kind: 'key'; readonly keyId: string }
  | { readonly kind: 'pair'; readonly peer: PartyIndex }
  | { readonly kind: 'keygen'; readonly run: string };

export type NodeAction = 'open' | 'start' | 'round' | 'policy' | 'recovery' | 'signed' | 'witness';

export function objectName(place: Place): string {
  switch (place.kind) {
    case 'key':
      return `key:${place.keyId}`;
    case 'pair':
      return `pair:${place.peer}`;
    case 'keygen':
      return `keygen:${place.run}`;
  }
}

/** Throws `Malformed` for an object that is none of a key. */
function keyOf(place: Place): string {
  if (place.kind !== 'key') throw new Malformed('only a key has this');
  return place.keyId;
}

interface Rooms {
  readonly membership: Membership;
  readonly sessions: Sessions;
  readonly key: KeyKeeper;
}

/**
 * One Durable Object class for everything that a co-signer keeps. Thin: it reads what the coordinator sends, and joins the
 * keepers, the ledger and the sessions.
 */
export class CosignerNode extends DurableObject<CosignerEnv> {
  readonly #ledger: Ledger;
  readonly #pair: PairKeeper;
  #rooms: Promise<Rooms> | null = null;

  constructor(ctx: DurableObjectState, env: CosignerEnv) {
    super(ctx, env);
    this.#ledger = new Ledger(ctx.storage.sql);
    this.#pair = new PairKeeper(this.#ledger);
  }

  /** Serves one request of the coordinator. Refuses `malformed` first, then what the action refuses. */
  async serve(place: Place, action: NodeAction, body: unknown): Promise<Result<unknown, Refused>> {
    try {
      return await this.#act(place, action, body);
    } catch (error) {
      if (error instanceof Malformed) return refused(refusal('malformed', error.message));
      throw error;
    }
  }

  /** For this node's key objects. */
  pairState(known: string | null): PairState {
    return this.#pair.state(known);
  }

  /** For this node's key objects. */
  isBanned(): boolean {
    return this.#ledger.ban() !== null;
  }

  /** For this node's key objects: leave for one round with this peer, or null. */
  permit(): string | null {
    return this.#pair.permit(Date.now());
  }

  release(permit: string): void {
    this.#pair.release(permit);
  }

  ban(step: string): void {
    this.#pair.ban(step, Date.now());
  }

  /** For this node's key generation: the share that everybody has confirmed. */
  async install(record: SealedRecord, keyId: string, policies: readonly Policy[]): Promise<void> {
    const { key } = await this.#open();
    key.install({ record, keyId, policies });
  }

  async #act(place: Place, action: NodeAction, body: unknown): Promise<Result<unknown, Refused>> {
    const { sessions, key } = await this.#open();
    switch (action) {
      case 'open': {
        const prepared = await this.#prepare(place, body);
        return prepared.ok ? accepted(await sessions.open(prepared.value)) : prepared;
      }
      case 'start': {
        const { nonces, openings } = fieldsOf(body, ['nonces', 'openings']);
        return sessions.start({
          nonces: byPartyOf(nonces, (nonce) => hexOf(nonce, 32)),
          openings: byPartyOf(openings, envelopeOf),
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
      case 'policy': {
        const { policy, mandate } = fieldsOf(body, ['policy', 'mandate']);
        return key.adopt(policyOf(policy), mandate === null ? null : mandateOf(mandate));
      }
      case 'signed': {
        const { transactionId } = fieldsOf(body, ['transactionId']);
        return key.signedFor(keyOf(place), textOf(transactionId, 64));
      }
      case 'witness':
        return key.witness(keyOf(place), witnessedRecordOf(body));
      case 'recovery': {
        fieldsOf(body, []);
        return key.recoveryPackage(keyOf(place));
      }
    }
  }

  async #prepare(place: Place, body: unknown): Promise<Result<Preparation, Refused>> {
    switch (place.kind) {
      case 'pair':
        return this.#preparePairing(place.peer, body);
      case 'keygen':
        return this.#prepareKeyGeneration(body);
      case 'key':
        return this.#prepareSigning(place.keyId, body);
    }
  }

  /** A ban is not lifted by making a new set-up: that takes an operator. */
  async #preparePairing(peer: PartyIndex, body: unknown): Promise<Result<Preparation, Refused>> {
    fieldsOf(body, []);
    const { membership } = await this.#open();
    if (!membership.peers.has(peer)) return refused(refusal('malformed', 'peer'));
    if (this.#ledger.ban() !== null) return refused(refusal('peer-banned', null, peer));
    const self = membership.own.index;
    const store = (setup: Parameters<PairKeeper['store']>[0]) => this.#pair.store(setup, membership.keyEncryption);
    return accepted(preparePairing({ self, peer, store }));
  }

  async #prepareKeyGeneration(body: unknown): Promise<Result<Preparation, Refused>> {
    const fields = fieldsOf(body, ['scheme', 'threshold', 'policies']);
    const scheme = schemeOf(fields['scheme']);
    const threshold = wholeNumberOf(fields['threshold']);
    const policies = listOf(fields['policies'], 1000, policyOf);
    const { membership } = await this.#open();
    const { own, peers, parties } = membership;
    if (threshold < fewestSigners(parties.length) || threshold > parties.length || policies.length === 0)
      return refused(refusal('malformed', 'threshold'));
    const store = async (share: KeyShare) => {
      const record = await seal(membership.keyEncryption, sharePlace(own.index, share.keyId), encodeKeyShare(share));
      const name = objectName({ kind: 'key', keyId: share.keyId });
      await this.env.NODE.getByName(name).install(record, share.keyId, policies);
    };
    return accepted(prepareKeyGeneration({ scheme, own, peers, parties, threshold, policies, store }));
  }

  async #prepareSigning(keyId: string, body: unknown): Promise<Result<Preparation, Refused>> {
    const { membership, key } = await this.#open();
    const fields = fieldsOf(body, ['signers', 'request']);
    const signers = listOf(fields['signers'], 5, partyOf);
    const ascending = signers.every((party, i) => i === 0 || (signers[i - 1] ?? party) < party);
    const pinned = signers.every((party) => membership.parties.includes(party));
    if (!ascending || !pinned || !signers.includes(membership.own.index))
      return refused(refusal('malformed', 'signers'));
    if (fields['request'] === null) return key.prepareProof(keyId, signers);
    return key.prepareSignature(keyId, signers, signingRequestOf(fields['request']));
  }

  #open(): Promise<Rooms> {
    this.#rooms ??= this.#furnish();
    return this.#rooms;
  }

  async #furnish(): Promise<Rooms> {
    const membership = await membershipOf(this.env);
    const ledger = this.#ledger;
    const pairObject = (peer: PartyIndex) => this.env.NODE.getByName(objectName({ kind: 'pair', peer }));
    const key = new KeyKeeper({
      membership,
      ledger,
      pair: async (peer, known) => pairObject(peer).pairState(known),
      isBanned: async (peer) => pairObject(peer).isBanned(),
    });
    const sessions = new Sessions({
      membership,
      ledger,
      ban: async ({ culprit, step }) => pairObject(culprit).ban(step),
      permit: (participants) => this.#permitFor(participants.filter((party) => party !== membership.own.index)),
    });
    return { membership, sessions, key };
  }

  /** One permit of every pair that takes part, or none at all. */
  async #permitFor(peers: readonly PartyIndex[]): Promise<Permit | null> {
    const pairs = peers.map((peer) => this.env.NODE.getByName(objectName({ kind: 'pair', peer })));
    const permits = await Promise.all(pairs.map(async (pair) => pair.permit()));
    const release = () => {
      const given = pairs.map(async (pair, i) => {
        const permit = permits[i] ?? null;
        if (permit !== null) await pair.release(permit);
      });
      this.ctx.waitUntil(Promise.all(given));
    };
    if (permits.every((permit) => permit !== null)) return release;
    release();
    return null;
  }
}
