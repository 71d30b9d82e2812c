import { randomBytes } from '@noble/hashes/utils.js';
import type { RoundResult } from '#mpc/abort.ts';
import { walletOf, walletShare } from '#mpc/derivation/derivation.ts';
import { combinePartials, type EcdsaSignature } from '#mpc/ecdsa/combine.ts';
import type { SignSession } from '#mpc/ecdsa/session.ts';
import { signRound1, type Round1State } from '#mpc/ecdsa/sign-round1.ts';
import { signRound2, type Round2State } from '#mpc/ecdsa/sign-round2.ts';
import { signRound3 } from '#mpc/ecdsa/sign-round3.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { encodePoint, GENERATOR, parsePoint } from '#mpc/secp256k1.ts';
import type { KeyShare } from '#mpc/share.ts';
import { dealKey, dealPairs, type DealtKey } from '../dealt-key.ts';

/**
 * Parties with a mailbox between them that a test may read and change. Messages are bytes, copied
 * on delivery.
 */
export interface Room {
  readonly key: DealtKey;
  readonly sessionFor: (self: PartyIndex, signers: readonly PartyIndex[], terms: Terms) => SignSession;
}

export interface Terms {
  readonly sid: Uint8Array;
  readonly tweak?: bigint;
}

export function openRoom(threshold: number, parties: readonly PartyIndex[]): Room {
  const key = dealKey(threshold, parties);
  const pairs = dealPairs(parties);
  return {
    key,
    sessionFor: (self, signers, { sid, tweak = 0n }) => ({
      sid,
      self,
      signers,
      secretShare: key.shares.get(self)!,
      publicKey: key.publicKey,
      publicShares: key.publicShares,
      tweak,
      pairs: pairs.get(self)!,
    }),
  };
}

/** Returns the same parties with the derived key of a chain. */
export function onChain({ key, sessionFor }: Room, chain: string): Room {
  const share = (self: PartyIndex): KeyShare => {
    const { publicKey, publicShares } = key;
    const terms = { scheme: 'ecdsa-secp256k1', keyId: 'k', epoch: 1, threshold: 2 } as const;
    return walletShare({ ...terms, self, secret: key.shares.get(self)!, publicKey, publicShares }, chain);
  };
  const parties = [...key.shares.keys()];
  const { publicKey, publicShares } = walletOf({ scheme: 'ecdsa-secp256k1', ...key }, chain);
  const shares = new Map(parties.map((self) => [self, share(self).secret]));
  return {
    key: { ...key, publicKey, publicShares, shares },
    sessionFor: (self, signers, terms) => {
      const { secret: secretShare, publicKey: own, publicShares: all } = share(self);
      return { ...sessionFor(self, signers, terms), secretShare, publicKey: own, publicShares: all };
    },
  };
}

/** The messages of a round by sender and receiver: mail.get(from).get(to). */
export type Mail = Map<PartyIndex, Map<PartyIndex, Uint8Array>>;

export function post(mail: Mail, from: PartyIndex, messages: ReadonlyMap<PartyIndex, Uint8Array>): void {
  mail.set(from, new Map([...messages].map(([to, bytes]) => [to, bytes.slice()])));
}

export function inboxOf(mail: Mail, to: PartyIndex): ReadonlyMap<PartyIndex, Uint8Array> {
  const inbox = new Map<PartyIndex, Uint8Array>();
  for (const [from, messages] of mail) {
    const bytes = messages.get(to);
    if (bytes !== undefined) inbox.set(from, bytes.slice());
  }
  return inbox;
}

export function accepted<T>(result: RoundResult<T>): T {
  if (!result.ok) throw new Error(`aborted at ${result.abort.step} by ${result.abort.culprit}`);
  return result.value;
}

export interface AfterRound1 {
  readonly states: ReadonlyMap<PartyIndex, Round1State>;
  readonly mail: Mail;
}

export function playRound1(room: Room, signers: readonly PartyIndex[], terms: Terms): AfterRound1 {
  const states = new Map<PartyIndex, Round1State>();
  const mail: Mail = new Map();
  for (const self of signers) {
    const { state, messages } = signRound1(room.sessionFor(self, signers, terms));
    states.set(self, state);
    post(mail, self, messages);
  }
  return { states, mail };
}

export interface AfterRound2 {
  readonly states: ReadonlyMap<PartyIndex, Round2State>;
  readonly mail: Mail;
}

export function playRound2({ states, mail }: AfterRound1): AfterRound2 {
  const next = new Map<PartyIndex, Round2State>();
  const nextMail: Mail = new Map();
  for (const [self, state] of states) {
    const round = accepted(signRound2(state, inboxOf(mail, self)));
    next.set(self, round.state);
    post(nextMail, self, round.messages);
  }
  return { states: next, mail: nextMail };
}

export function playRound3({ states, mail }: AfterRound2, digest: Uint8Array): ReadonlyMap<PartyIndex, Uint8Array> {
  return new Map([...states].map(([self, state]) => [self, accepted(signRound3(state, inboxOf(mail, self), digest))]));
}

export function freshTerms(): Terms {
  return { sid: randomBytes(32) };
}

export function tweakedKey(key: DealtKey, tweak: bigint): Uint8Array {
  return tweak === 0n ? key.publicKey : encodePoint(parsePoint(key.publicKey)!.add(GENERATOR.multiplyPublic(tweak)));
}

export function sign(
  room: Room,
  signers: readonly PartyIndex[],
  order: { digest: Uint8Array; tweak?: bigint },
): RoundResult<EcdsaSignature> {
  const { digest, tweak = 0n } = order;
  const partials = playRound3(playRound2(playRound1(room, signers, { ...freshTerms(), tweak })), digest);
  return combinePartials({ publicKey: tweakedKey(room.key, tweak), digest, partials });
}
