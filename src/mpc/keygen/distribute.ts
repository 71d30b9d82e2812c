import { abortedBy, type Aborted, completed, type RoundResult } from '#mpc/abort.ts';
import { SingleUse } from '#mpc/single-use.ts';
import { commitments, evaluate } from '#mpc/keygen/feldman.ts';
import { verifyKnowledge, proofBytes } from '#mpc/keygen/proof-of-knowledge.ts';
import type { AfterReveal, RevealState } from '#mpc/keygen/reveal.ts';
import { commitToPackage, dealersOf, peersOf } from '#mpc/keygen/session.ts';
import type { GroupPoint } from '#mpc/group.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { equalBytes, taggedHash } from '#mpc/transcript.ts';

const SALT_BYTES = 32;

interface AfterDistribute<P extends GroupPoint<P>> extends AfterReveal<P> {
  /** Feldman commitments of every party, the own included. */
  readonly points: ReadonlyMap<PartyIndex, readonly P[]>;
  /** H(every package): all parties must have received the same. */
  readonly echo: Uint8Array;
}

export type DistributeState<P extends GroupPoint<P>> = SingleUse<AfterDistribute<P>>;

/**
 * Round 2: check every opening, then send each peer its value of the own polynomial. The messages
 * are secret: the channel encrypts them, because a coordinator relays them.
 *
 * Refuses: an opening of the wrong length, one that does not match its commitment, a malformed
 * point, a missing proof that its sender knows the constant term (the rogue-key attack), and in a
 * resharing a constant term that is not the sender's part.
 */
export function distribute<P extends GroupPoint<P>>(
  state: RevealState<P>,
  inbox: ReadonlyMap<PartyIndex, Uint8Array>,
): RoundResult<{ readonly state: DistributeState<P>; readonly messages: ReadonlyMap<PartyIndex, Uint8Array> }> {
  const own = state.take();
  const { session } = own;
  const { group } = session;
  const points = new Map<PartyIndex, readonly P[]>();
  const packages = new Map<PartyIndex, Uint8Array>();
  for (const party of dealersOf(session)) {
    const opened = party === session.self ? ownPackage(own) : openPackage(own, party, inbox.get(party));
    if (!opened.ok) return opened;
    points.set(party, opened.value.points);
    packages.set(party, opened.value.encoded);
  }
  const echo = taggedHash('keygen/echo', session.sid, Uint8Array.of(session.threshold), ...packages.values());
  const deals = own.polynomial.length > 0;
  const messages = new Map(
    peersOf(session).map((peer) => {
      return [peer, deals ? group.secrets.reveal(evaluate(group, own.polynomial, peer)) : new Uint8Array()] as const;
    }),
  );
  return completed({ state: new SingleUse({ ...own, points, echo }), messages });
}

interface OpenedPackage<P> {
  readonly points: readonly P[];
  readonly encoded: Uint8Array;
}

function ownPackage<P extends GroupPoint<P>>({
  session,
  polynomial,
  encoded,
}: AfterReveal<P>): { readonly ok: true; readonly value: OpenedPackage<P> } {
  return completed({ points: commitments(session.group, polynomial), encoded });
}

function openPackage<P extends GroupPoint<P>>(
  { session, theirCommitments }: AfterReveal<P>,
  party: PartyIndex,
  message: Uint8Array | undefined,
): { readonly ok: true; readonly value: OpenedPackage<P> } | Aborted {
  const { group, sid } = session;
  const { pointBytes } = group;
  const length = session.threshold * pointBytes + proofBytes(group);
  if (message?.length !== length + SALT_BYTES) return abortedBy(party, 'keygen-distribute/length');
  const [encoded, salt] = [message.slice(0, length), message.slice(length)];
  const commitment = theirCommitments.get(party);
  if (commitment === undefined || !equalBytes(commitToPackage(session, party, { encoded, salt }), commitment)) {
    return abortedBy(party, 'keygen-distribute/commitment');
  }
  const points: P[] = [];
  for (let k = 0; k < session.threshold; k++) {
    const point = group.parsePoint(encoded.subarray(k * pointBytes, (k + 1) * pointBytes));
    if (point === null) return abortedBy(party, 'keygen-distribute/point');
    points.push(point);
  }
  const proof = encoded.subarray(session.threshold * pointBytes);
  const context = { group, sid, prover: party };
  if (!verifyKnowledge(context, points[0]!, proof)) return abortedBy(party, 'keygen-distribute/proof');
  const part = session.resharing?.points.get(party);
  if (part !== undefined && !part.equals(points[0]!)) return abortedBy(party, 'keygen-distribute/part');
  return completed({ points, encoded });
}
