import { bytesToHex, hexToBytes, randomBytes } from '@noble/hashes/utils.js';
import type { CosignerConfig } from '#cosigner/configuration.ts';
import { CosignerStorage } from '#cosigner/tables/storage.ts';
import { loadCosignerSet, pinnedSigningKeys } from '#cosigner/cosigner-set.ts';
import { PairStore } from '#cosigner/session/pair-store.ts';
import type { PairObject } from '#cosigner/session/session-peers.ts';
import { SessionPeers } from '#cosigner/session/session-peers.ts';
import type { Openings } from '#cosigner/session/opening.ts';
import type { SessionPlan } from '#cosigner/session/protocol.ts';
import type { RoundAnswer, RoundMessage } from '#cosigner/session/sessions.ts';
import { Sessions } from '#cosigner/session/sessions.ts';
import { accepted } from '#domain/result.ts';
import { publicIdentity } from '#mpc/identity.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { party } from '../../mpc/dealt-key.ts';
import { memorySql } from '../../objects/memory-sql.ts';

/**
 * The sessions of two co-signers in this process, each with its own storage and its own pair
 * object. Co-signer 1 is honest. Co-signer 2 is mallory: a test makes her cheat by giving her other
 * rounds. The test is the coordinator between them.
 */

export const HONEST = party(1);
export const MALLORY = party(2);

/** The only protocol, which both co-signers support. */
const PROTOCOL = 'aa'.repeat(32);

type PeerRound = Pick<RoundMessage, 'sid' | 'round'>;

export interface Cosigner {
  readonly index: PartyIndex;
  readonly sql: SqlStorage;
  readonly storage: CosignerStorage;
  readonly pair: PairStore;
  readonly peers: SessionPeers;
  readonly sessions: Sessions;
  /** The permits, releases and bans, in order. */
  readonly log: string[];
}

/** What a co-signer of the test waits for, as for its pair object. */
interface Waits {
  /** A ban is written to the pair object after this promise. */
  waitBeforeBan: () => Promise<void>;
  /** A permit is answered by the pair object after this promise. */
  waitAfterPermit: () => Promise<void>;
}

export interface Pair extends Waits {
  readonly honest: Cosigner;
  readonly mallory: Cosigner;
}

export async function twoCosigners(): Promise<Pair> {
  const secrets = [1, 2].map(() => bytesToHex(randomBytes(32)));
  const peers = Object.fromEntries(secrets.map((secret, i) => [String(i + 1), publicIdentity(secret)]));
  const pair = { waitBeforeBan: async () => {}, waitAfterPermit: async () => {} };
  const [honest, mallory] = await Promise.all(
    secrets.map((secret, i) => {
      const env = {
        NODE_INDEX: String(i + 1),
        PEERS: JSON.stringify(peers),
        IDENTITY_SECRET: secret,
        KEY_ENCRYPTION_SECRETS: JSON.stringify([{ id: 'k1', secret: bytesToHex(randomBytes(32)) }]),
      };
      return cosigner(env, pair);
    }),
  );
  if (honest === undefined || mallory === undefined) throw new Error('there are two');
  return Object.assign(pair, { honest, mallory });
}

async function cosigner(env: CosignerConfig, waits: Waits): Promise<Cosigner> {
  const membership = await loadCosignerSet(env);
  const { index } = membership.own;
  const sql = memorySql();
  const storage = new CosignerStorage(sql);
  const pair = new PairStore(new CosignerStorage(memorySql()), pinnedSigningKeys(env));
  const log: string[] = [];
  const pairObject: PairObject = {
    pairState: async (peer, known) => pair.state(peer, known),
    isBanned: async (peer) => pair.isBanned(peer),
    permit: async (peer) => {
      const permit = pair.permit(peer, Date.now());
      log.push(permit === null ? 'no permit' : 'permit');
      await waits.waitAfterPermit();
      return permit;
    },
    release: async (permit) => {
      log.push('release');
      pair.release(permit);
    },
    ban: async (peer, step) => {
      await waits.waitBeforeBan();
      log.push('ban');
      pair.ban(peer, step, Date.now());
    },
  };
  const identityOf = pinnedSigningKeys(env);
  const peers = new SessionPeers({ storage, identityOf, pairObject: () => pairObject, waitUntil: () => {} });
  const sessions = new Sessions({ membership, storage, protocols: [PROTOCOL], peers });
  return { index, sql, storage, pair, peers, sessions, log };
}

/** A session of both co-signers: its current round, and the last answer of each. */
export interface Begun {
  readonly sid: Uint8Array;
  round: number;
  readonly said: Map<PartyIndex, RoundAnswer>;
}

/** @param prepare returns the session plan of each co-signer */
export async function begin(pair: Pair, prepare: (self: PartyIndex) => SessionPlan): Promise<Begun> {
  return startBoth(pair, await openBoth(pair, prepare));
}

/** @param prepare returns the session plan of each co-signer; null opens the session ahead */
export async function openBoth(pair: Pair, prepare: (self: PartyIndex) => SessionPlan | null): Promise<Openings> {
  const opened = await Promise.all(
    [pair.honest, pair.mallory].map(async ({ index, sessions }) => {
      const plan = prepare(index);
      const answer = await sessions.open(PROTOCOL, plan === null ? null : async () => accepted(plan));
      if (!answer.ok) throw new Error(`${index} does not open: ${answer.refusal.code}`);
      return [index, answer.value] as const;
    }),
  );
  const nonces = new Map(opened.map(([index, { nonce }]) => [index, nonce] as const));
  const openings = new Map(opened.map(([index, { opening }]) => [index, bytesOf(opening)] as const));
  return { nonces, openings };
}

/**
 * Relays the openings of both co-signers, and starts the session. @param prepare returns the
 * session plan of each co-signer for a session that was opened ahead
 */
export async function startBoth(
  pair: Pair,
  opened: Openings,
  prepare?: (self: PartyIndex) => SessionPlan,
): Promise<Begun> {
  const said = new Map<PartyIndex, RoundAnswer>();
  for (const { index, sessions } of [pair.honest, pair.mallory]) {
    const late = prepare === undefined ? {} : { prepare: async () => accepted(prepare(index)) };
    const started = await sessions.start({ ...opened, receipts: new Map(), ...late });
    if (!started.ok) throw new Error(`${index} does not start: ${started.refusal.code}`);
    said.set(index, started.value);
  }
  const sid = hexToBytes([...said.values()][0]?.sid ?? '');
  return { sid, round: 1, said };
}

/** Returns the next request to a co-signer, with the envelopes that its peer has sent last. */
export function nextFor(receiver: Cosigner, { sid, round, said }: Begun): RoundMessage {
  const envelopes = new Map<PartyIndex, Uint8Array>();
  for (const [from, { envelopes: sent }] of said) {
    const envelope = sent?.[String(receiver.index)];
    if (from !== receiver.index && envelope !== undefined) envelopes.set(from, envelope);
  }
  return { sid, round: round + 1, envelopes };
}

/** Runs the next round of both co-signers. Throws when one of them refuses. */
export async function goOn(pair: Pair, begun: Begun): Promise<void> {
  const both = [pair.honest, pair.mallory];
  const requests = both.map((one) => [one, nextFor(one, begun)] as const);
  for (const [{ index, sessions }, request] of requests) {
    const answer = await sessions.round(request);
    if (!answer.ok) throw new Error(`${index} refuses: ${answer.refusal.code} ${answer.refusal.detail}`);
    begun.said.set(index, answer.value);
  }
  begun.round += 1;
}

/** Returns the round of a session according to the storage of a co-signer. */
export function writtenRound({ sql }: Cosigner, { sid }: Pick<PeerRound, 'sid'>): number {
  const [row] = sql.exec<{ round: number }>('SELECT round FROM session WHERE sid = ?', bytesToHex(sid)).toArray();
  return row?.round ?? 0;
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(Buffer.from(base64, 'base64'));
}
