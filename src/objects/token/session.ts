import { DurableObject } from 'cloudflare:workers';
import { constantTimeEqual } from '#domain/constant-time-equal.ts';
import type { RateLimitPolicy } from '#domain/access/rate-limit.ts';
import type { Session, SessionFault } from '#domain/access/session.ts';
import { SESSION_SECONDS, sessionFault } from '#domain/access/session.ts';
import type { UserProfile, Withdrawal } from '#domain/access/access-token.ts';
import type { TokenId } from '#domain/id.ts';
import type { CoordinatorConfig } from '#objects/configuration.ts';
import type { Client, LimitState } from '#objects/token/rate-limiter.ts';
import { RateLimiter } from '#objects/token/rate-limiter.ts';
import { CredentialStorage, credentialSchema } from '#objects/token/credential-storage.ts';
import { sessionCodec } from '#objects/token/documents.ts';
import { upgradeState } from '#store/object-schema.ts';

export type NewSession = Pick<Session, 'id' | 'user' | 'secretHash'>;

export type SessionAdmission =
  | {
      readonly outcome: 'admitted';
      readonly sessionId: TokenId;
      readonly user: UserProfile;
      readonly limit: LimitState;
    }
  | { readonly outcome: 'limited'; readonly limit: LimitState }
  | { readonly outcome: 'unauthenticated'; readonly fault: SessionFault };

export const SESSION_SCHEMA = credentialSchema('session', 'session');

/**
 * One login: its record, and the windows of its rate limits. Nothing else holds it, so a logout
 * takes effect everywhere at once.
 */
export class SessionObject extends DurableObject<CoordinatorConfig> {
  readonly #meter: RateLimiter;
  readonly #stored: CredentialStorage<Session>;
  #session: Session | null = null;

  constructor(ctx: DurableObjectState, env: CoordinatorConfig) {
    super(ctx, env);
    upgradeState(ctx.storage, SESSION_SCHEMA);
    this.#meter = new RateLimiter(ctx, 'session', env.RATE_LIMITS);
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

  /**
   * Authenticates a secret and counts the request, in this order.
   *
   * @param request.secretHash lower-case hex SHA-256
   */
  admit(request: {
    readonly secretHash: string;
    readonly policy: RateLimitPolicy;
    readonly client: Client;
  }): SessionAdmission {
    const fault = this.#fault(request.secretHash);
    if (this.#session === null || fault !== null) return { outcome: 'unauthenticated', fault: fault ?? 'unknown' };
    if (this.#session.firstUsedAtMs === null) this.#store({ ...this.#session, firstUsedAtMs: Date.now() });
    const { admitted, limit } = this.#meter.count(request.policy, Date.now(), request.client);
    if (!admitted) return { outcome: 'limited', limit };
    return { outcome: 'admitted', sessionId: this.#session.id, user: this.#session.user, limit };
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
