import { DurableObject } from 'cloudflare:workers';
import { constantTimeEqual } from '#domain/constant-time-equal.ts';
import type { RateLimitPolicy } from '#domain/access/rate-limit.ts';
import type { Session, SessionFault } from '#domain/access/session.ts';
import { SESSION_SECONDS, sessionFault } from '#domain/access/session.ts';
import type { UserProfile, Withdrawal } from '#domain/access/access-token.ts';
import type { TokenId } from '#domain/id.ts';
import type { CredentialEnv } from '#objects/token/credential-environment.ts';
import type { LimitState } from '#objects/token/quotas.ts';
import type { Client, Limited } from '#objects/token/rate-limiter.ts';
import { RateLimiter } from '#objects/token/rate-limiter.ts';
import { CredentialStorage, credentialSchema } from '#objects/token/credential-storage.ts';
import { sessionCodec } from '#objects/token/documents.ts';
import { upgradeState } from '#store/object-schema.ts';

export type NewSession = Pick<Session, 'id' | 'user' | 'secretHash'>;

/** An open session, without any hash of its secret. */
export interface SessionView extends Pick<Session, 'id' | 'createdAtMs'> {
  readonly lastUsedAtMs: number | null;
  /** The client of the last request; null before the first. */
  readonly lastClient: Client | null;
}

export type SessionAdmission =
  | {
      readonly outcome: 'admitted';
      readonly sessionId: TokenId;
      readonly user: UserProfile;
      readonly limit: LimitState;
    }
  | Limited
  | Unauthenticated;

interface Unauthenticated {
  readonly outcome: 'unauthenticated';
  readonly fault: SessionFault;
}

/** A request that presents a session. */
interface Presentation {
  /** Lower-case hex SHA-256 of the presented secret. */
  readonly secretHash: string;
  readonly policy: RateLimitPolicy;
  readonly client: Client;
}

export const SESSION_SCHEMA = credentialSchema('session', 'session');

/**
 * One login: its record, and the windows of its rate limits. Nothing else holds it, so a logout
 * takes effect everywhere at once.
 */
export class SessionObject extends DurableObject<CredentialEnv> {
  readonly #meter: RateLimiter;
  readonly #stored: CredentialStorage<Session>;
  #session: Session | null = null;

  constructor(ctx: DurableObjectState, env: CredentialEnv) {
    super(ctx, env);
    upgradeState(ctx.storage, SESSION_SCHEMA);
    this.#meter = new RateLimiter(ctx, 'session', env);
    const terms = { schema: SESSION_SCHEMA, table: 'session', codec: sessionCodec } as const;
    this.#stored = new CredentialStorage(ctx.storage, terms);
    this.#session = this.#stored.read();
    if (this.#session !== null) void ctx.blockConcurrencyWhile(() => this.#meter.load());
  }

  /**
   * Creates the session, and returns when it began. Idempotent: an existing session does not
   * change. Returns null for one that was withdrawn before.
   */
  create(input: NewSession): number | null {
    if (this.#session !== null) return this.#session.createdAtMs;
    if (this.#stored.isWithdrawn()) return null;
    const session = { ...input, createdAtMs: Date.now(), endedAtMs: null, firstUsedAtMs: null };
    this.#stored.create(session);
    this.#session = session;
    return session.createdAtMs;
  }

  /** Authenticates a secret and counts the request, in this order. */
  async admit({ secretHash, policy, client }: Presentation): Promise<SessionAdmission> {
    const early = this.#authenticated(secretHash);
    if ('outcome' in early) return early;
    const used = await this.#meter.takeBudget(early.user.id, policy);
    // The session may have ended meanwhile.
    const session = this.#authenticated(secretHash);
    if ('outcome' in session) return session;
    if (used !== null) return { outcome: 'limited', of: 'user', limit: used };
    const { admitted, limit } = this.#meter.count(policy, Date.now(), client);
    if (!admitted) return { outcome: 'limited', of: 'credential', limit };
    return { outcome: 'admitted', sessionId: session.id, user: session.user, limit };
  }

  /** Withdraws the session as `AccessTokenObject.withdrawUnused` withdraws a token. */
  withdrawUnused(): Withdrawal {
    if (this.#session === null) {
      this.#stored.withdraw();
      return 'withdrawn';
    }
    if (this.#session.firstUsedAtMs !== null) return 'used';
    this.end();
    return 'withdrawn';
  }

  /**
   * Reports whether a stream may continue. It uses no quota and does not count as a use of the
   * session.
   */
  isOpen(secretHash: string): boolean {
    return this.#fault(secretHash) === null;
  }

  /** Returns the session to its user or an operator; null when it is not open. */
  read(): SessionView | null {
    if (this.#session === null || this.#fault(this.#session.secretHash) !== null) return null;
    const { id, createdAtMs } = this.#session;
    const { lastUsedAtMs, lastClient } = this.#meter;
    return { id, createdAtMs, lastUsedAtMs, lastClient };
  }

  /** Logs out. Idempotent. */
  end(): void {
    if (this.#session?.endedAtMs === null) this.#store({ ...this.#session, endedAtMs: Date.now() });
  }

  /**
   * Deletes an expired session: an object that was written is billed until it is empty.
   * Returns false for a session that may still be open, and does nothing to it.
   */
  async erase(): Promise<boolean> {
    if (this.#session !== null && Date.now() < this.#session.createdAtMs + SESSION_SECONDS * 1000) return false;
    this.#session = null;
    await this.#stored.erase();
    return true;
  }

  #authenticated(secretHash: string): Session | Unauthenticated {
    const fault = this.#fault(secretHash);
    const session = this.#session;
    if (session === null || fault !== null) return { outcome: 'unauthenticated', fault: fault ?? 'unknown' };
    if (session.firstUsedAtMs !== null) return session;
    const used = { ...session, firstUsedAtMs: Date.now() };
    this.#store(used);
    return used;
  }

  #fault(secretHash: string): SessionFault | null {
    if (this.#session === null) return 'unknown';
    const { lastUsedAtMs } = this.#meter;
    return sessionFault(this.#session, { secretHash, lastUsedAtMs, nowMs: Date.now() }, constantTimeEqual);
  }

  #store(session: Session): void {
    this.#stored.put(session);
    this.#session = session;
  }
}
