import { type Aborted, abortedBy, bannedBy, completed, type RoundResult } from '#mpc/abort.ts';
import { decodeRound1, encodeRound2, type Round1Message } from '#mpc/ecdsa/messages.ts';
import {
  type CheckedSession,
  echoOf,
  lagrange,
  messageContext,
  pairWith,
  voleSid,
  zeroShare,
} from '#mpc/ecdsa/session.ts';
import { extendAsSender, type SenderExtension } from '#mpc/ecdsa/ot-extension.ts';
import type { AfterRound1, AsBob, Round1State } from '#mpc/ecdsa/sign-round1.ts';
import { SingleUse } from '#mpc/single-use.ts';
import { answerAsAlice } from '#mpc/ecdsa/vole.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { encodePoint, Point, SECRETS } from '#mpc/secp256k1.ts';
import { addSecrets, type SecretScalar } from '#mpc/secret-scalar.ts';
import { equalBytes } from '#mpc/transcript.ts';

/** The state of a signer for one peer from here on. */
export interface WithPeer extends AsBob {
  readonly commitment: Uint8Array;
  /** Outputs of the vector OLE where self is Alice: c^u and c^v. */
  readonly c: readonly [SecretScalar, SecretScalar];
}

export interface AfterRound2 {
  readonly session: CheckedSession;
  readonly r: SecretScalar;
  readonly phi: SecretScalar;
  readonly R: Point;
  readonly keyShare: SecretScalar;
  readonly publicShare: Point;
  readonly echo: Uint8Array;
  readonly withPeer: ReadonlyMap<PartyIndex, WithPeer>;
}

/** Memory only, single use. */
export type Round2State = SingleUse<AfterRound2>;

interface CheckedRound1 {
  readonly before: AfterRound1;
  readonly received: ReadonlyMap<PartyIndex, Round1Message>;
  readonly extensions: ReadonlyMap<PartyIndex, SenderExtension>;
}

/** Memory only, single use. */
export type CheckedRound1State = SingleUse<CheckedRound1>;

/**
 * Round 2, Protocol 3.6, step 7: answer each peer's vector OLE and open the nonce. No answer leaves
 * before every peer's message passed. Refuses what `checkRound1` does.
 */
export function signRound2(
  state: Round1State,
  inbox: ReadonlyMap<PartyIndex, Uint8Array>,
): RoundResult<{ state: Round2State; messages: ReadonlyMap<PartyIndex, Uint8Array> }> {
  const checked = checkRound1(state, inbox);
  return checked.ok ? completed(answerRound1(checked.value)) : checked;
}

/**
 * Checks the messages of every peer, and answers nothing yet. When several signatures share their
 * rounds, all of them are checked before one is answered: a refusal that took longer the later it
 * failed would show a cheating peer WHICH of its probes failed, although it may learn only one bit
 * of Delta from a round.
 *
 * Refuses, in this order: a message that is missing, of the wrong length, or of another session (no
 * ban); a failed OT extension check (BAN: each one reveals to the peer a bit of Delta, see
 * attacks.test.ts).
 */
export function checkRound1(
  state: Round1State,
  inbox: ReadonlyMap<PartyIndex, Uint8Array>,
): RoundResult<CheckedRound1State> {
  const before = state.take();
  const { session } = before;
  // Ours: terms and framing first. Nothing here is secret.
  const received = receiveRound1(session, inbox);
  if (!received.ok) return received;
  // Functionality 3.5 with P_j as Bob, its first message: the check of the OT extension (KOS15
  // figure 10, step 3 of its check).
  const extensions = new Map<PartyIndex, SenderExtension>();
  for (const [peer, { extension: message }] of received.value) {
    const extension = extendAsSender(voleSid(session, [peer, session.self]), pairWith(session, peer).asAlice, message);
    if (extension === null) return bannedBy(peer, 'sign-2/ot-extension');
    extensions.set(peer, extension);
  }
  return completed(new SingleUse({ before, received: received.value, extensions }));
}

/** Answers the checked messages. */
export function answerRound1(checked: CheckedRound1State): {
  state: Round2State;
  messages: ReadonlyMap<PartyIndex, Uint8Array>;
} {
  const { before, received, extensions } = checked.take();
  const { session, r, phi, R } = before;

  // Step 7: sk_i = lagrange_i (share_i + tweak) + zeta_i, where the zetas are fresh and sum to
  // zero; pk_i = sk_i G. The Lagrange coefficients sum to 1, so a tweak added to each share adds up
  // to the tweak once.
  const tweaked = addSecrets(SECRETS, session.secretShare, SECRETS.of(session.tweak));
  const keyShare = SECRETS.multiplyAdd(SECRETS.of(lagrange(session)), tweaked, zeroShare(session));
  const publicShare = Point.multiple(keyShare);
  // Ours: the echo of what every signer sent in step 6.
  const commitments = new Map([[session.self, before.commitment]]);
  for (const [peer, { commitment }] of received) commitments.set(peer, commitment);
  const echo = echoOf(session, commitments);

  const withPeer = new Map<PartyIndex, WithPeer>();
  const messages = new Map<PartyIndex, Uint8Array>();
  for (const [peer, { commitment }] of received) {
    const extension = extensions.get(peer);
    if (extension === undefined) throw new Error(`no checked message of party ${peer}`);
    const { kept, message } = answerPeer({ ...before, keyShare, publicShare, echo }, peer, extension);
    withPeer.set(peer, { ...kept, commitment });
    messages.set(peer, message);
  }
  return { state: new SingleUse({ session, r, phi, R, keyShare, publicShare, echo, withPeer }), messages };
}

type Answering = AfterRound1 & Pick<AfterRound2, 'keyShare' | 'publicShare' | 'echo'>;

/** Step 7, for one P_j. */
function answerPeer(
  own: Answering,
  peer: PartyIndex,
  extension: SenderExtension,
): { kept: Omit<WithPeer, 'commitment'>; message: Uint8Array } {
  const { session, r, phi, keyShare } = own;
  const asBob = own.asBob.get(peer);
  if (asBob === undefined) throw new Error(`round 1 kept no state for party ${peer}`);

  // Step 7: answer the vector OLE as Alice with the inputs (r_i, sk_i).
  const inputs = [r, keyShare] as const;
  const sid = voleSid(session, [peer, session.self]);
  const { c, reply } = answerAsAlice(sid, pairWith(session, peer).asAlice, { inputs, extension });

  // Step 7: Gamma^u = c^u G, Gamma^v = c^v G, psi = phi_i - chi_i,j; send them with the opening of
  // R_i and pk_i.
  const gammas = c.map((output) => Point.multiple(output));
  const points = [own.R, ...gammas, own.publicShare].map(encodePoint);
  const context = messageContext(session, 2, [session.self, peer]);
  const message = encodeRound2({
    context,
    echo: own.echo,
    salt: own.salt,
    points,
    psi: addSecrets(SECRETS, phi, SECRETS.negate(asBob.chi)),
    reply,
  });
  return { kept: { ...asBob, c }, message };
}

function receiveRound1(
  session: CheckedSession,
  inbox: ReadonlyMap<PartyIndex, Uint8Array>,
): { readonly ok: true; readonly value: ReadonlyMap<PartyIndex, Round1Message> } | Aborted {
  const received = new Map<PartyIndex, Round1Message>();
  for (const peer of session.peers) {
    const bytes = inbox.get(peer);
    if (bytes === undefined) return abortedBy(peer, 'sign-2/missing');
    const message = decodeRound1(bytes);
    if (message === null) return abortedBy(peer, 'sign-2/malformed');
    if (!equalBytes(message.context, messageContext(session, 1, [peer, session.self])))
      return abortedBy(peer, 'sign-2/context');
    received.set(peer, message);
  }
  return completed(received);
}
