import { concatBytes } from '@noble/hashes/utils.js';
import { abortedBy, abortedByOneOf, completed, type RoundResult } from '#mpc/abort.ts';
import type { SigningInputs } from '#mpc/frost/group-commitment.ts';
import { bindCommitments } from '#mpc/frost/group-commitment.ts';
import type { FrostKey, Suite } from '#mpc/frost/suite.ts';
import { commitmentList, identifierOf, malformedAmong, publicPackage, suiteOf } from '#mpc/frost/suite.ts';
import { inGroupOf } from '#mpc/scheme-group.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { equalBytes, equalParts } from '#mpc/transcript.ts';

const SHARE_BYTES = 32;
const COMMITMENT_BYTES = 32;

/**
 * RFC 9591 section 5.3, Signature Share Aggregation, by the coordinator, which holds no secret: R
 * is the group's commitment, z the sum of the shares, and the plain standard of the scheme verifies
 * both together, by code without any notion of thresholds. R is taken from the first signer as long
 * as the signature verifies, since computing it takes as long as all other work here. Otherwise R
 * is computed from the commitments. When that fails too, each share is checked alone, to identify
 * the sender of the wrong one (section 5.4, identifiable abort). Returns 64 bytes, R and z as the
 * standard encodes them, and never a signature that does not verify.
 *
 * Refuses: a malformed share (its sender); two views of the commitments (one of the signers,
 * without evidence which); commitments that are not points (their sender); a wrong share (its
 * sender).
 */
export async function aggregate(input: {
  readonly key: FrostKey;
  readonly message: Uint8Array;
  readonly partials: ReadonlyMap<PartyIndex, Uint8Array>;
}): Promise<RoundResult<Uint8Array>> {
  const { key, message, partials } = input;
  const suite = suiteOf(key.scheme);
  const ordered = [...partials].toSorted(([one], [other]) => one - other);
  const signers = ordered.map(([signer]) => signer);
  const first = ordered[0]?.[1];
  if (first === undefined) throw new Error('a signature has no signers');
  const length = SHARE_BYTES + COMMITMENT_BYTES + signers.length * 2 * suite.pointBytes;
  for (const [signer, partial] of partials) {
    if (partial.length !== length) return abortedBy(signer, 'frost-aggregate/malformed');
  }
  const seen = (partial: Uint8Array) => partial.subarray(SHARE_BYTES + COMMITMENT_BYTES);
  const agreed = seen(first);
  if (!ordered.every(([, partial]) => equalBytes(seen(partial), agreed)))
    return abortedByOneOf(signers, 'frost-aggregate/commitments');
  const parts = equalParts(agreed, signers.length);
  const commitments = new Map(signers.map((signer, i) => [signer, parts[i] ?? new Uint8Array()] as const));
  const shares = ordered.map(([signer, partial]) => ({ signer, bytes: partial.slice(0, SHARE_BYTES) }));
  const turn = { key, message, commitments };
  const z = sum(key, shares);
  if (z !== null) {
    const claimed = concatBytes(first.subarray(SHARE_BYTES, SHARE_BYTES + COMMITMENT_BYTES), z);
    if (await suite.verify(claimed, message, key.publicKey)) return completed(claimed);
    const commitment = commitmentOf(turn);
    const worked = commitment === null ? null : concatBytes(commitment, z);
    if (worked !== null && (await suite.verify(worked, message, key.publicKey))) return completed(worked);
  }
  const malformed = malformedAmong(key.scheme, commitments);
  if (malformed !== null) return abortedBy(malformed, 'frost-aggregate/commitments');
  const wrong = shares.find((share) => !isGenuine(suite, turn, share));
  return wrong === undefined
    ? abortedByOneOf(signers, 'frost-aggregate/signature')
    : abortedBy(wrong.signer, 'frost-aggregate/share');
}

interface Share {
  readonly signer: PartyIndex;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Returns null when a share is not a scalar. */
function sum({ scheme }: FrostKey, shares: readonly Share[]): Uint8Array | null {
  return inGroupOf(scheme, ({ order, parseScalar, encodeScalar }) => {
    const scalars = shares.map(({ bytes }) => parseScalar(bytes));
    if (!scalars.every((scalar) => scalar !== null)) return null;
    return encodeScalar(scalars.reduce((total, scalar) => (total + scalar) % order, 0n));
  });
}

/** Returns null when a commitment of a signer is not a point. */
function commitmentOf(turn: SigningInputs): Uint8Array | null {
  try {
    return bindCommitments(turn, () => true).commitment;
  } catch {
    return null;
  }
}

function isGenuine(suite: Suite, { key, message, commitments }: SigningInputs, { signer, bytes }: Share): boolean {
  const list = commitmentList(suite, commitments);
  try {
    return suite.frost.verifyShare(publicPackage(suite, key), list, message, identifierOf(suite, signer), bytes);
  } catch {
    return false;
  }
}
