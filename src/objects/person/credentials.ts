import { SESSION_SECONDS } from '#domain/access/session.ts';
import type { TokenId, UserId } from '#domain/id.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import type { PersonEnv } from '#objects/person/environment.ts';
import type { IssuedCredential } from '#objects/person/storage.ts';
import type { NewAccessToken, TokenView } from '#objects/token/access-token.ts';
import type { NewSession } from '#objects/token/session.ts';
import { insertAccessToken, markDeleted, MAX_ACCESS_TOKENS, tokensOf } from '#store/access-tokens.ts';
import { insertSession, MAX_SESSIONS, sessionsOf } from '#store/sessions.ts';

/** A user with the session of the request. */
export interface SessionOwner {
  readonly userId: UserId;
  readonly sessionId: TokenId;
}

/** The credentials of one person: each has its own object, and an entry in the directory. */
export class PersonCredentials {
  readonly #env: PersonEnv;

  constructor(env: PersonEnv) {
    this.#env = env;
  }

  /**
   * Creates a token and enters it in the directory, which counts the tokens of the user in the same
   * statement. A token that is one too many was never shown, and is withdrawn. Refuses
   * `too-many-access-tokens`.
   *
   * @param isReported whether the owner is notified
   */
  async createToken(token: NewAccessToken, isReported = true): Promise<Result<TokenView, Refusal>> {
    const { id } = token;
    const stub = this.token(id);
    const made = await stub.create(token, isReported);
    if (made === null) throw new Error('a new token is not created, because it was withdrawn');
    const { createdAtMs } = made;
    if (await insertAccessToken(this.#env.DB, { id, userId: token.user.id, createdAtMs })) return accepted(made);
    await stub.withdrawUnused();
    return refused({ code: 'too-many-access-tokens', limit: MAX_ACCESS_TOKENS });
  }

  /**
   * Creates a session. It enters the list of the user's sessions before it gives access to
   * anything, so that a logout of all sessions ends every one. Too many of them end the oldest.
   */
  async createSession(session: NewSession): Promise<Result<number, Refusal>> {
    const { id, user } = session;
    await insertSession(this.#env.DB, { id, userId: user.id, createdAtMs: Date.now() });
    const createdAtMs = await this.session(id).create(session);
    if (createdAtMs === null) throw new Error('a new session is not created, because it was withdrawn');
    const ids = await this.sessionsOf(user.id);
    const oldest = ids.slice(0, Math.max(0, ids.length - MAX_SESSIONS));
    await Promise.all(oldest.map((one) => this.session(one).end()));
    return accepted(createdAtMs);
  }

  async withdraw(credential: IssuedCredential): Promise<'withdrawn' | 'used'> {
    if (credential.kind === 'identity') return credential.isReleased ? 'used' : 'withdrawn';
    const { id, kind } = credential;
    if (kind === 'session') return this.session(id).withdrawUnused();
    const withdrawal = await this.token(id).withdrawUnused();
    // The directory counts the tokens of a user, and this one counts no more.
    if (withdrawal === 'withdrawn') await markDeleted(this.#env.DB, id, Date.now());
    return withdrawal;
  }

  /** Ends the sessions of the last day, and on request the tokens that were made in them. */
  async endSessions({ userId, sessionId }: SessionOwner, withTokens: boolean): Promise<void> {
    const ids = [...new Set([...(await this.sessionsOf(userId)), sessionId])];
    await Promise.all(ids.map((id) => this.session(id).end()));
    if (!withTokens) return;
    const tokens = await Promise.all((await tokensOf(this.#env.DB, userId)).map((id) => this.token(id).read(userId)));
    for (const token of tokens) {
      const madeIn = token.ok ? token.value.madeIn : null;
      if (token.ok && madeIn !== null && ids.includes(madeIn)) await this.endToken(token.value.id);
    }
  }

  /** Ends a token permanently. Idempotent, also for an id that no token has. */
  async endToken(id: TokenId): Promise<void> {
    await this.token(id).end();
    await markDeleted(this.#env.DB, id, Date.now());
  }

  /** Returns the sessions of the last day, the oldest first. Some have ended. */
  sessionsOf(userId: UserId): Promise<readonly TokenId[]> {
    return sessionsOf(this.#env.DB, userId, Date.now() - SESSION_SECONDS * 1000);
  }

  token(id: TokenId) {
    return this.#env.ACCESS_TOKEN.getByName(`token:${id}`);
  }

  session(id: TokenId) {
    return this.#env.SESSION.getByName(`session:${id}`);
  }
}
