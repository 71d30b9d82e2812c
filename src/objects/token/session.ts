import { DurableObject } from 'cloudflare:workers';
import { constantTimeEqual } from '#domain/constant-time-equal.ts';
import type { RateLimitPolicy } from '#domain/access/rate-limit.ts';
import type { Session, SessionFault } from '#domain/access/session.ts';
import { sessionFault } from '#domain/access/session.ts';
import type { UserProfile, Withdrawal } from '#domain/access/access-token.ts';
import type { TokenId } from '#domain/id.ts';
import type { CoordinatorConfig } from '#objects/configuration.ts';
import type { LimitState } from '#objects/token/rate-limiter.ts';
import { RateLimiter } from '#objects/token/rate-limiter.ts';
import { sessionCodec } from '#objects/token/documents.ts';
import type { ObjectSchema } from '#store/object-schema.ts';
import { createState, stateVersion, upgradeState } from '#store/object-schema.ts';

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

/** `withdrawn` as for an access token. */
const TABLES = `
  CREATE TABLE session (only_row INTEGER PRIMARY KEY CHECK (only_row = 0), document TEXT NOT NULL);
  CREATE TABLE withdrawn (only_row INTEGER PRIMARY KEY CHECK (only_row = 0));
`;

/** The state of a session's object. See `ObjectSchema` before you change it. */
const SESSION_SCHEMA: ObjectSchema = { name: 'session', migrations: [(sql) => void sql.exec(TABLES)] };

/**
 * One login: its record, and the windows of its rate limits. Nothing else holds it, so a logout
 * takes effect everywhere at once.
 */
export class SessionObject extends DurableObject<CoordinatorConfig> {
  readonly #meter: RateLimiter;
  #session: Session | null = null;

  constructor(ctx: DurableObjectState, env: CoordinatorConfig) {
    super(ctx, env);
    upgradeState(ctx.storage, SESSION_SCHEMA);
    this.#meter = new RateLimiter(ctx, 'session', env.RATE_LIMITS);
    this.#session = this.#stored();
    if (this.#session !== null) void ctx.blockConcurrencyWhile(() => this.#meter.load());
  }

  /**
   * Creates the session, and returns when it began. Idempotent: an existing session does not
   * change. Returns null for one that was withdrawn before.
   */
  create(input: NewSession): number | null {
    if (this.#session !== null) return this.#session.createdAtMs;
    if (this.#isWithdrawn()) return null;
    const session = { ...input, createdAtMs: Date.now(), endedAtMs: null, firstUsedAtMs: null };
    this.ctx.storage.transactionSync(() => {
      createState(this.ctx.storage.sql, SESSION_SCHEMA);
      this.#store(session);
    });
    return session.createdAtMs;
  }

  /**
   * Authenticates a secret and counts the request, in this order.
   *
   * @param request.secretHash lower-case hex SHA-256
   */
  admit(request: { readonly secretHash: string; readonly policy: RateLimitPolicy }): SessionAdmission {
    const fault = this.#fault(request.secretHash);
    if (this.#session === null || fault !== null) return { outcome: 'unauthenticated', fault: fault ?? 'unknown' };
    if (this.#session.firstUsedAtMs === null) this.#store({ ...this.#session, firstUsedAtMs: Date.now() });
    const { admitted, limit } = this.#meter.count(request.policy, Date.now());
    if (!admitted) return { outcome: 'limited', limit };
    return { outcome: 'admitted', sessionId: this.#session.id, user: this.#session.user, limit };
  }

  /** Withdraws the session as `AccessTokenObject.withdrawUnused` withdraws a token. */
  withdrawUnused(): Withdrawal {
    if (this.#session === null) {
      this.ctx.storage.transactionSync(() => {
        createState(this.ctx.storage.sql, SESSION_SCHEMA);
        this.ctx.storage.sql.exec('INSERT OR IGNORE INTO withdrawn (only_row) VALUES (0)');
      });
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

  #fault(secretHash: string): SessionFault | null {
    if (this.#session === null) return 'unknown';
    const { lastUsedAtMs } = this.#meter;
    return sessionFault(this.#session, { secretHash, lastUsedAtMs, nowMs: Date.now() }, constantTimeEqual);
  }

  #store(session: Session): void {
    this.ctx.storage.sql.exec(
      'INSERT OR REPLACE INTO session (only_row, document) VALUES (0, ?)',
      sessionCodec.encode(session),
    );
    this.#session = session;
  }

  /** Trying sessions that do not exist leaves nothing behind. */
  #stored(): Session | null {
    const { sql } = this.ctx.storage;
    if (stateVersion(sql) === 0) return null;
    const row = sql.exec<{ document: string }>('SELECT document FROM session').toArray()[0];
    return row === undefined ? null : sessionCodec.decode(row.document);
  }

  #isWithdrawn(): boolean {
    const { sql } = this.ctx.storage;
    return stateVersion(sql) > 0 && sql.exec('SELECT 1 FROM withdrawn').toArray().length > 0;
  }
}
