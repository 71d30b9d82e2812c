import { concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import type { PeerMessages, SessionPlan } from '#cosigner/session/protocol.ts';
import type { CosignerSet } from '#cosigner/cosigner-set.ts';
import type { EphemeralKey } from '#mpc/channel.ts';
import { EXCHANGE_KEY_BYTES } from '#mpc/channel.ts';
import { verifyAsCosigner } from '#mpc/envelope.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { taggedHash } from '#mpc/transcript.ts';

/**
 * What each co-signer contributes before a session has an id: a nonce, its ephemeral key, and the
 * part of its protocol. It is signed, so that a coordinator that alters it must neither make an
 * honest co-signer look like a cheater nor replace the key of a co-signer by its own.
 *
 * A session that is opened ahead has no plan yet. Its opening has no part of a protocol: no signing
 * nonce exists before the request that it is for. It is signed without the data of the plan, which
 * the session id covers.
 */

/** A session that this co-signer has opened, with its secret for it. */
export interface Opened {
  readonly sinceMs: number;
  /** Null for a session that is opened ahead. */
  readonly plan: SessionPlan | null;
  readonly protocol: string;
  readonly ephemeral: EphemeralKey;
}

/** The nonces and openings of all participants, by the co-signer that gave them. */
export interface Openings {
  readonly nonces: ReadonlyMap<PartyIndex, string>;
  readonly openings: ReadonlyMap<PartyIndex, Uint8Array>;
}

const SIGNATURE_BYTES = 64;

/**
 * Returns the opening of a co-signer without its signature: its ephemeral key, and then the part of
 * its protocol, which may be empty.
 */
export function contributionOf({ plan, ephemeral }: Opened): Uint8Array {
  return concatBytes(ephemeral.publicKey, plan?.opening ?? new Uint8Array());
}

export function protocolPart(contributions: PeerMessages): PeerMessages {
  return new Map([...contributions].map(([party, bytes]) => [party, bytes.slice(EXCHANGE_KEY_BYTES)] as const));
}

/**
 * Returns what a co-signer signs with its identity: the opening, its sender, the protocol, and the
 * data that the participants must agree on, unless the session is opened ahead.
 */
export function openingStatement(
  { plan, protocol }: Opened,
  party: PartyIndex,
  { nonce, contribution }: { readonly nonce: string; readonly contribution: Uint8Array },
): Uint8Array {
  const [version, drawn] = [hexToBytes(protocol), hexToBytes(nonce)];
  if (plan === null) return taggedHash('cosigner/opening-ahead', version, Uint8Array.of(party), drawn, contribution);
  const { purpose, context, participants } = plan;
  const position = Uint8Array.of(party, ...participants);
  return taggedHash(`cosigner/opening/${purpose}`, version, context, position, drawn, contribution);
}

/**
 * Returns the openings of all participants, or null when one of the others did not sign its
 * opening.
 */
export async function verifiedOpenings(
  { own, peers }: Pick<CosignerSet, 'own' | 'peers'>,
  opened: Opened,
  { participants, nonces, openings }: Openings & Pick<SessionPlan, 'participants'>,
): Promise<PeerMessages | null> {
  const all = new Map([[own.index, contributionOf(opened)]]);
  for (const party of participants) {
    if (party === own.index) continue;
    const [peer, bytes, nonce] = [peers.get(party), openings.get(party), nonces.get(party)];
    if (peer === undefined || bytes === undefined || nonce === undefined) return null;
    if (bytes.length < EXCHANGE_KEY_BYTES + SIGNATURE_BYTES) return null;
    const [contribution, signature] = [bytes.slice(0, -SIGNATURE_BYTES), bytes.slice(-SIGNATURE_BYTES)];
    const statement = openingStatement(opened, party, { nonce, contribution });
    if (!(await verifyAsCosigner(peer, statement, signature))) return null;
    all.set(party, contribution);
  }
  return all;
}

/**
 * Returns the session id: a hash over the nonce and opening of every participant, and over all data
 * that they have to agree on.
 */
export function sessionId(
  { participants, purpose, context }: SessionPlan,
  protocol: string,
  { nonces, contributions }: { readonly nonces: ReadonlyMap<PartyIndex, string>; readonly contributions: PeerMessages },
): Uint8Array {
  const parts = participants.flatMap((party) => [
    hexToBytes(nonces.get(party) ?? ''),
    contributions.get(party) ?? new Uint8Array(),
  ]);
  return taggedHash(`cosigner/sid/${purpose}`, hexToBytes(protocol), context, Uint8Array.from(participants), ...parts);
}
