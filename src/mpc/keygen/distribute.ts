import { abortedBy, type Aborted, completed, type RoundResult } from '#mpc/abort.ts';
import { SingleUse } from '#mpc/ecdsa/single-use.ts';
import { commitments, evaluate } from '#mpc/keygen/feldman.ts';
import { knows, PROOF_BYTES } from '#mpc/keygen/proof-of-knowledge.ts';
import type { AfterReveal, RevealState } from '#mpc/keygen/reveal.ts';
import { commitToPackage, peersOf } from '#mpc/keygen/session.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { encodeScalar, parsePoint, type Point, POINT_BYTES } from '#mpc/secp256k1.ts';
import { equalBytes, taggedHash } from '#mpc/transcript.ts';

const SALT_BYTES = 32;

interface AfterDistribute extends AfterReveal {
  /** Feldman commitments of every party, the own included. */
  readonly points: ReadonlyMap<PartyIndex, readonly Point[]>;
  /** H(every package): what everybody must have seen alike. */
  readonly echo: Uint8Array;
}

export type DistributeState = SingleUse<AfterDistribute>;

/**
 * Round 2: check every opening, then give each peer its value of the own polynomial. The messages are secret: the channel
 * encrypts them, because a coordinator relays them.
 *
 * Refuses: an opening of the wrong length, one that is not what was committed to, a malformed point, and a missing proof that
 * its sender knows the constant term (the rogue-key attack).
 */
export function distribute(
  state: RevealState,
  inbox: ReadonlyMap<PartyIndex, Uint8Array>,
): RoundResult<{ readonly state: DistributeState; readonly messages: ReadonlyMap<PartyIndex, Uint8Array> }> {
  const own = state.take();
  const { session } = own;
  const points = new Map<PartyIndex, readonly Point[]>();
  const packages = new Map<PartyIndex, Uint8Array>();
  for (const party of session.parties) {
    const opened = party === session.self ? ownPackage(own) : openPackage(own, party, inbox.get(party));
    if (!opened.ok) return opened;
    points.set(party, opened.value.points);
    packages.set(party, opened.value.encoded);
  }
  const echo = taggedHash('keygen/echo', session.sid, Uint8Array.of(session.threshold), ...packages.values());
  const messages = new Map(
    peersOf(session).map((peer) => [peer, encodeScalar(evaluate(own.polynomial, peer))] as const),
  );
  return completed({ state: new SingleUse({ ...own, points, echo }), messages });
}

interface OpenedPackage {
  readonly points: readonly Point[];
  readonly encoded: Uint8Array;
}

function ownPackage({ polynomial, encoded }: AfterReveal): { readonly ok: true; readonly value: OpenedPackage } {
  return completed({ points: commitments(polynomial), encoded });
}

function openPackage(
  { session, theirCommitments }: AfterReveal,
  party: PartyIndex,
  message: Uint8Array | undefined,
): { readonly ok: true; readonly value: OpenedPackage } | Aborted {
  const length = session.threshold * POINT_BYTES + PROOF_BYTES;
  if (message?.length !== length + SALT_BYTES) return abortedBy(party, 'keygen-distribute/length');
  const [encoded, salt] = [message.slice(0, length), message.slice(length)];
  const commitment = theirCommitments.get(party);
  if (commitment === undefined || !equalBytes(commitToPackage(session, party, { encoded, salt }), commitment)) {
    return abortedBy(party, 'keygen-distribute/commitment');
  }
  const points: Point[] = [];
  for (let k = 0; k < session.threshold; k++) {
    const point = parsePoint(encoded.subarray(k * POINT_BYTES, (k + 1) * POINT_BYTES));
    if (point === null) return abortedBy(party, 'keygen-distribute/point');
    points.push(point);
  }
  const proof = encoded.subarray(session.threshold * POINT_BYTES);
  const context = { sid: session.sid, prover: party };
  return knows(context, points[0]!, proof)
    ? completed({ points, encoded })
    : abortedBy(party, 'keygen-distribute/proof');
}
