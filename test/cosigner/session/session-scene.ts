import { bytesToHex, hexToBytes, randomBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { CosignerStorage } from '#cosigner/tables/storage.ts';
import { loadCosignerSet } from '#cosigner/cosigner-set.ts';
import type { SessionPlan, Round } from '#cosigner/session/protocol.ts';
import { aborted, finished, sent } from '#cosigner/session/protocol.ts';
import { Sessions } from '#cosigner/session/sessions.ts';
import { byPartyOf, envelopeOf } from '#cosigner/request-parser.ts';
import { refused } from '#domain/result.ts';
import { bannedBy } from '#mpc/abort.ts';
import { publicIdentity } from '#mpc/identity.ts';
import type { PartyIndex } from '#mpc/party.ts';
import { equalBytes, taggedHash } from '#mpc/transcript.ts';
import type { CosignerClient } from '#cosigner-client/client.ts';
import { memorySql } from '../../objects/memory-sql.ts';
import { party } from '../../mpc/dealt-key.ts';

/**
 * The release that a co-signer runs: the protocols that it supports, the newest first, and a
 * constant for each protocol.
 */
export interface Release {
  readonly protocols: readonly string[];
  /**
   * Returns a constant of the protocol. Two co-signers with different constants find each other's
   * messages wrong, and ban each other.
   */
  readonly constantOf: (protocol: string) => string;
}

interface OpenBody {
  readonly protocol: string;
}

interface StartBody {
  readonly nonces: Readonly<Record<string, string>>;
  readonly openings: Readonly<Record<string, string>>;
}

interface RoundBody {
  readonly sid: string;
  readonly round: number;
  readonly envelopes: Readonly<Record<string, Uint8Array>>;
}

/**
 * The sessions of a co-signer in this process. Their protocol has one message, the hash of a
 * constant that both co-signers must have.
 */
export class SessionCosigner implements CosignerClient {
  readonly index: PartyIndex;
  /** The protocol steps at which this co-signer has banned its peer. */
  readonly bans: string[] = [];
  /** The protocols of the received requests to open a session. */
  readonly requests: string[] = [];
  readonly #sessions: Sessions;
  readonly #release: Release;

  private constructor(index: PartyIndex, membership: Awaited<ReturnType<typeof loadCosignerSet>>, release: Release) {
    this.index = index;
    this.#release = release;
    this.#sessions = new Sessions({
      membership,
      storage: new CosignerStorage(memorySql()),
      protocols: release.protocols,
      peers: { ban: async (_peer, step) => void this.bans.push(step), permit: async () => () => {} },
    });
  }

  /** Returns two co-signers that have pinned each other, each with its own release. */
  static async two(first: Release, second: Release): Promise<readonly [SessionCosigner, SessionCosigner]> {
    const secrets = [bytesToHex(randomBytes(32)), bytesToHex(randomBytes(32))] as const;
    const peers = { 1: publicIdentity(secrets[0]), 2: publicIdentity(secrets[1]) };
    const cosigner = async (index: 1 | 2, release: Release) => {
      const secret = secrets[index - 1] ?? '';
      const membership = await loadCosignerSet({
        NODE_INDEX: String(index),
        PEERS: JSON.stringify(peers),
        IDENTITY_SECRET: secret,
        KEY_ENCRYPTION_SECRETS: JSON.stringify([{ id: 'test', secret: '22'.repeat(32) }]),
      });
      return new SessionCosigner(party(index), membership, release);
    };
    return [await cosigner(1, first), await cosigner(2, second)];
  }

  async call(path: string, body: unknown): ReturnType<CosignerClient['call']> {
    const answer = await this.#serve(path.split('/').at(-1) ?? '', body);
    return answer.ok ? answer : refused({ cosigner: this.index, ...answer.refusal });
  }

  async #serve(action: string, body: unknown) {
    switch (action) {
      case 'open': {
        const { protocol } = body as OpenBody;
        this.requests.push(protocol);
        const preparation = this.#prepare(this.#release.constantOf(protocol));
        return this.#sessions.open(protocol, async () => ({ ok: true, value: preparation }));
      }
      case 'start': {
        const { nonces, openings } = body as StartBody;
        const receipts = new Map();
        return this.#sessions.start({
          nonces: byPartyOf(nonces, String),
          openings: byPartyOf(openings, envelopeOf),
          receipts,
        });
      }
      default: {
        const { sid, round, envelopes } = body as RoundBody;
        const message = { sid: hexToBytes(sid), round, envelopes: byPartyOf(envelopes, envelopeOf) };
        return this.#sessions.round(message);
      }
    }
  }

  #prepare(constant: string): SessionPlan {
    const peer = party(3 - this.index);
    const expected = (sid: Uint8Array) => taggedHash('test/constant', sid, utf8ToBytes(constant));
    const last = (sid: Uint8Array): Round => ({
      run: async (inbox) =>
        equalBytes(inbox.get(peer) ?? new Uint8Array(), expected(sid))
          ? finished({ sid: bytesToHex(sid) })
          : aborted(bannedBy(peer, 'test/constant').abort),
    });
    const begin = (sid: Uint8Array): Round => ({
      run: async () => sent(new Map([[peer, expected(sid)]]), last(sid)),
    });
    const participants = [party(1), party(2)];
    return { participants, purpose: 'test', context: new Uint8Array(), opening: null, isRateLimited: true, begin };
  }
}
