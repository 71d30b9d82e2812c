import { base32 } from '#mpc/keygen/base32.ts';
import { abortedBy, completed, type RoundResult } from '#mpc/abort.ts';
import { SingleUse } from '#mpc/single-use.ts';
import type { DistributeState } from '#mpc/keygen/distribute.ts';
import { evaluate, evaluateInExponent, sumCommitments } from '#mpc/keygen/feldman.ts';
import { dealersOf, peersOf } from '#mpc/keygen/session.ts';
import type { KeyScheme } from '#domain/asset/chain.ts';
import type { GroupPoint } from '#mpc/group.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { sumSecrets } from '#mpc/secret-scalar.ts';
import type { KeyShare } from '#mpc/share.ts';
import { taggedHash } from '#mpc/transcript.ts';

/** The epoch of the shares of a new key. */
export const FIRST_EPOCH = 1;
const KEY_ID_LENGTH = 26;

interface AfterConfirm {
  readonly share: KeyShare;
}

export type ConfirmState = SingleUse<AfterConfirm>;

/**
 * Round 3: check every received share against its dealer's commitments, and add them up. Every
 * party must sign the same statement: it covers all packages, the session and the key. The key is
 * usable only with all n signatures over it, so a dealer that sent different values to two parties
 * leaves all parties without a key, instead of two parties with different keys.
 *
 * Refuses: a share that is missing, malformed, or not on its dealer's committed polynomial (its
 * dealer); a group key that is the identity.
 */
export function confirm<P extends GroupPoint<P>>(
  state: DistributeState<P>,
  inbox: ReadonlyMap<PartyIndex, Uint8Array>,
): RoundResult<{ readonly state: ConfirmState; readonly statement: Uint8Array }> {
  const { session, polynomial, points, echo } = state.take();
  const { scheme, group } = session;
  const values = [evaluate(group, polynomial, session.self)];
  for (const peer of peersOf(session)) {
    if (!points.has(peer)) continue;
    const value = group.secrets.parse(inbox.get(peer) ?? new Uint8Array());
    if (value === null || group.secrets.isZero(value)) return abortedBy(peer, 'keygen-confirm/share');
    if (!group.multiplyGenerator(value).equals(evaluateInExponent(group, points.get(peer)!, session.self))) {
      return abortedBy(peer, 'keygen-confirm/share');
    }
    values.push(value);
  }
  const sum = sumCommitments(dealersOf(session).map((dealer) => points.get(dealer)!));
  const secret = sumSecrets(group.secrets, values);
  const key = sum[0]!;
  const culprit = peersOf(session)[0]!;
  if (key.is0() || group.secrets.isZero(secret)) return abortedBy(culprit, 'keygen-confirm/key');
  const publicKey = group.encodePoint(key);
  const publicShares = new Map(
    session.parties.map((party) => [party, group.encodePoint(evaluateInExponent(group, sum, party))] as const),
  );
  const share: KeyShare = {
    scheme,
    keyId: keyIdOf(scheme, publicKey),
    epoch: session.resharing?.epoch ?? FIRST_EPOCH,
    self: session.self,
    threshold: session.threshold,
    secret,
    publicKey,
    publicShares,
  };
  const statement = taggedHash('keygen/confirmation', session.sid, echo, publicKey, ...publicShares.values());
  return completed({ state: new SingleUse({ share }), statement });
}

/** Returns base32 of the first 130 bits of H("vault-key/v1" | scheme | group key). */
export function keyIdOf(scheme: KeyScheme, publicKey: Uint8Array): string {
  const digest = taggedHash('vault-key/v1', new TextEncoder().encode(scheme), publicKey);
  return base32(digest).slice(0, KEY_ID_LENGTH);
}
