import type { RoundResult } from '#mpc/abort.ts';
import { completed } from '#mpc/abort.ts';
import { walletOf, walletShare } from '#mpc/derivation/derivation.ts';
import { aggregate } from '#mpc/frost/aggregate.ts';
import { commitToNonces } from '#mpc/frost/commit.ts';
import { signShare } from '#mpc/frost/sign.ts';
import type { FrostKey, FrostScheme, FrostShare } from '#mpc/frost/suite.ts';
import { commitmentList, identifierOf, isFrostShare, publicPackage, suiteOf } from '#mpc/frost/suite.ts';
import { inGroupOf } from '#mpc/scheme-group.ts';
import { commitments, evaluate, evaluateInExponent, randomPolynomial } from '#mpc/keygen/feldman.ts';
import type { PartyIndex } from '#mpc/party.ts';
import type { KeyShare } from '#mpc/share.ts';
import { equalParts } from '#mpc/transcript.ts';
import { party } from '../dealt-key.ts';

export interface Room {
  readonly key: FrostKey;
  readonly shares: ReadonlyMap<PartyIndex, FrostShare>;
}

/**
 * Returns a key that is dealt in one place, unlike any key of Conclave, for tests of signing alone.
 */
export function dealt(scheme: FrostScheme, n: number, threshold: number, fixed: readonly bigint[] = []): Room {
  const parties = Array.from({ length: n }, (_, i) => party(i + 1));
  return inGroupOf(scheme, (group) => {
    const polynomial = fixed.length > 0 ? fixed.map(group.secrets.of) : randomPolynomial(group, threshold);
    const points = commitments(group, polynomial);
    const publicKey = group.encodePoint(points[0]!);
    const publicShares = new Map(
      parties.map((one) => [one, group.encodePoint(evaluateInExponent(group, points, one))] as const),
    );
    const shares = parties.map((self) => {
      const secret = evaluate(group, polynomial, self);
      return [self, { scheme, keyId: 'k', epoch: 1, self, threshold, secret, publicKey, publicShares }] as const;
    });
    return { key: { scheme, threshold, publicKey, publicShares }, shares: new Map(shares) };
  });
}

/** Returns the same key on a chain. */
export function onChain({ key, shares }: Room, chain: string): Room {
  const derived = [...shares].map(([self, share]) => [self, frost(walletShare(share, chain))] as const);
  return { key: walletOf(key, chain), shares: new Map(derived) };
}

function frost(share: KeyShare): FrostShare {
  if (!isFrostShare(share)) throw new Error('a share of another scheme');
  return share;
}

/** Returns the message that one receiver gets in place of the sent one. */
type Tamper = (from: PartyIndex, to: PartyIndex, bytes: Uint8Array) => Uint8Array | null;

interface Sitting {
  readonly message: Uint8Array;
  readonly signers: readonly PartyIndex[];
  /** Changes the commitments in transit. */
  readonly tamper?: Tamper;
  /** Changes the partial signatures on the way to the coordinator. */
  readonly give?: (from: PartyIndex, partial: Uint8Array) => Uint8Array;
}

/**
 * Runs the honest code of all signers and of the coordinator, with the given changes to the
 * messages between them.
 */
export async function sign(room: Room, sitting: Sitting): Promise<RoundResult<Uint8Array>> {
  const partials = partialsOf(room, sitting);
  return partials.ok ? aggregate({ key: room.key, message: sitting.message, partials: partials.value }) : partials;
}

/**
 * Signs without changes, for tests of chains. The signature is combined synchronously with noble.
 */
export function signedNow(room: Room, { message, signers }: Pick<Sitting, 'message' | 'signers'>): Uint8Array {
  const partials = partialsOf(room, { message, signers });
  if (!partials.ok) throw new Error(partials.abort.step);
  const suite = suiteOf(room.key.scheme);
  const [any] = partials.value.values();
  const parts = equalParts((any ?? new Uint8Array()).subarray(SHARE_BYTES + COMMITMENT_BYTES), signers.length);
  const reported = new Map(signers.toSorted((a, b) => a - b).map((signer, i) => [signer, parts[i]!] as const));
  const shares = [...partials.value].map(
    ([signer, partial]) => [identifierOf(suite, signer), Uint8Array.from(partial.subarray(0, SHARE_BYTES))] as const,
  );
  const list = commitmentList(suite, reported);
  return suite.frost.aggregate(publicPackage(suite, room.key), list, message, Object.fromEntries(shares));
}

const SHARE_BYTES = 32;
const COMMITMENT_BYTES = 32;

function partialsOf(
  room: Room,
  { message, signers, tamper, give }: Sitting,
): RoundResult<ReadonlyMap<PartyIndex, Uint8Array>> {
  const first = new Map(
    signers.map((self) => [self, commitToNonces({ share: room.shares.get(self)!, signers, message })] as const),
  );
  const partials = new Map<PartyIndex, Uint8Array>();
  for (const self of signers) {
    const inbox = new Map<PartyIndex, Uint8Array>();
    for (const from of signers.filter((one) => one !== self)) {
      const sent = Uint8Array.from(first.get(from)!.message);
      const bytes = tamper === undefined ? sent : tamper(from, self, sent);
      if (bytes !== null) inbox.set(from, bytes);
    }
    const round = signShare(first.get(self)!.state, inbox);
    if (!round.ok) return round;
    partials.set(self, give === undefined ? round.value : give(self, Uint8Array.from(round.value)));
  }
  return completed(partials);
}
