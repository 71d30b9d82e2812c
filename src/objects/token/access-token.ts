import { DurableObject } from 'cloudflare:workers';
import type {
  AccessToken,
  AdmissionFault,
  AdmittedToken,
  TokenChange,
  TokenManager,
  UserProfile,
  Withdrawal,
} from '#domain/access/access-token.ts';
import {
  admissionFault,
  deletedToken,
  endedToken,
  isPrevious,
  managedToken,
  ownToken,
  rotatedToken,
  updatedToken,
} from '#domain/access/access-token.ts';
import type { AccessRefusal } from '#domain/access/refusal.ts';
import type { TokenGrant, TokenScope } from '#domain/access/token-grant.ts';
import type { CredentialEvent } from '#domain/activity/account-notification.ts';
import { isAcceptedFrom, TOKEN_SCOPES } from '#domain/access/token-grant.ts';
import { constantTimeEqual } from '#domain/constant-time-equal.ts';
import type { TokenId, UserId } from '#domain/id.ts';
import type { RateLimitPolicy } from '#domain/access/rate-limit.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';
import type { CredentialEnv } from '#objects/token/credential-environment.ts';
import { CredentialStorage, credentialSchema } from '#objects/token/credential-storage.ts';
import { accessTokenCodec } from '#objects/token/documents.ts';
import type { LimitState } from '#objects/token/quotas.ts';
import type { OwnerEvent } from '#objects/token/owner-events.ts';
import { OwnerEvents } from '#objects/token/owner-events.ts';
import type { Client, Limited } from '#objects/token/rate-limiter.ts';
import { RateLimiter } from '#objects/token/rate-limiter.ts';
import { hashOfSecret, rotatedSecret } from '#objects/token/secret.ts';
import { upgradeState } from '#store/object-schema.ts';

export type TokenAdmission =
  | {
      readonly outcome: 'admitted';
      readonly tokenId: TokenId;
      readonly user: UserProfile;
      readonly token: AdmittedToken;
      readonly limit: LimitState;
    }
  | Limited
  | { readonly outcome: 'refused'; readonly refusal: AccessRefusal }
  | { readonly outcome: 'unauthenticated'; readonly fault: AdmissionFault };

type Unadmitted = Extract<TokenAdmission, { readonly outcome: 'unauthenticated' | 'refused' }>;

/** A request that presents a token. */
interface Presentation {
  /** Lower-case hex SHA-256 of the presented secret. */
  readonly secretHash: string;
  readonly policy: RateLimitPolicy;
  /** The scope that the request requires; null when every token may send it. */
  readonly scope: TokenScope | null;
  readonly client: Client;
}

export interface NewAccessToken extends TokenGrant {
  readonly id: TokenId;
  readonly user: UserProfile;
  readonly name: string;
  readonly expiresAt: number | null;
  readonly secretHash: string;
  readonly madeIn: TokenId | null;
}

/** The caller of a management endpoint. The object itself adds the time. */
export type TokenOwner = Omit<TokenManager, 'nowMs'>;

/** A token in its owner's view, without any hash of a secret. */
export interface TokenView extends Omit<AccessToken, 'secretHash' | 'previous' | 'isSuspended'> {
  readonly lastUsedAtMs: number | null;
  /** The client of the last request; null before the first. */
  readonly lastClient: Client | null;
  /** Until when the secret before the last rotation works; null when none does. */
  readonly previousUntilMs: number | null;
}

export interface RotatedToken {
  readonly view: TokenView;
  /** The new secret, which only its holder may see. */
  readonly secret: string;
}

/** Events of the same moment are in one message: a token is often used as soon as it is made. */
const FIRST_MESSAGE_MS = 5_000;
/** A message without an effect is sent again after this time. */
const RESEND_EVENTS_MS = 60_000;

/** A token from before the scopes gives access to everything. */
function addGrants(sql: SqlStorage): void {
  const add =
    "UPDATE token SET document = json_set(document, '$.v', 2, '$.scopes', json(?), '$.vaultIds', NULL, '$.networks', NULL)";
  sql.exec(add, JSON.stringify(TOKEN_SCOPES));
}

/** A token from before has no suspension, and the session in which it was made is not known. */
function addSuspension(sql: SqlStorage): void {
  sql.exec(
    "UPDATE token SET document = json_set(document, '$.v', 3, '$.isSuspended', json('false'), '$.madeIn', NULL)",
  );
}

export const TOKEN_SCHEMA = credentialSchema('access token', 'token', [addGrants, addSuspension]);

/**
 * One personal access token: its record, and the windows of its rate limits. Authentication and
 * limit are one call, so a request costs one hop. Nothing else holds the token, so a withdrawal
 * takes effect everywhere at once.
 */
export class AccessTokenObject extends DurableObject<CredentialEnv> {
  readonly #meter: RateLimiter;
  readonly #stored: CredentialStorage<AccessToken>;
  readonly #events: OwnerEvents;
  #token: AccessToken | null = null;

  constructor(ctx: DurableObjectState, env: CredentialEnv) {
    super(ctx, env);
    upgradeState(ctx.storage, TOKEN_SCHEMA);
    this.#meter = new RateLimiter(ctx, 'token', env);
    const terms = { schema: TOKEN_SCHEMA, table: 'token', codec: accessTokenCodec } as const;
    this.#stored = new CredentialStorage(ctx.storage, terms);
    this.#token = this.#stored.read();
    this.#events = new OwnerEvents(ctx.storage.kv);
    if (this.#token !== null) void ctx.blockConcurrencyWhile(() => this.#meter.load());
  }

  /**
   * Creates the token. Idempotent: an existing token does not change. Returns null for one that was
   * withdrawn before.
   *
   * @param isReported whether the owner is notified; not of the first credential, which the owner
   *   has just received
   */
  create(input: NewAccessToken, isReported: boolean): TokenView | null {
    if (this.#token !== null) return this.#view(this.#token);
    if (this.#stored.isWithdrawn()) return null;
    const nowMs = Date.now();
    const fresh = {
      enabled: true,
      isSuspended: false,
      previous: null,
      rotatedAtMs: null,
      deletedAtMs: null,
      firstUsedAtMs: null,
    };
    const token = { ...input, ...fresh, createdAtMs: nowMs, updatedAtMs: nowMs };
    this.#stored.create(token);
    this.#token = token;
    if (isReported) this.#report({ kind: 'token-created', address: null });
    return this.#view(token);
  }

  /**
   * Authenticates a secret and counts the request, in this order: an unauthenticated request does
   * not use the quota of the token's owner, and neither does one from an address that the token
   * excludes. One without the scope does. An expired token is disabled here (spec part 5 rule 5).
   */
  async admit(request: Presentation): Promise<TokenAdmission> {
    const early = this.#authenticated(request);
    if ('outcome' in early) return early;
    const used = await this.#meter.takeBudget(early.user.id, request.policy);
    // The token may have ended meanwhile.
    const token = this.#authenticated(request);
    if ('outcome' in token) return token;
    return used === null ? this.#counted(token, request) : { outcome: 'limited', of: 'user', limit: used };
  }

  #authenticated({ secretHash, client }: Presentation): AccessToken | Unadmitted {
    const nowMs = Date.now();
    const token = this.#token;
    if (token === null) return { outcome: 'unauthenticated', fault: 'unknown' };
    const fault = admissionFault(token, { secretHash, nowMs }, constantTimeEqual);
    if (fault !== null) {
      if (fault === 'expired') this.#store({ ...token, enabled: false });
      return { outcome: 'unauthenticated', fault };
    }
    if (!isAcceptedFrom(token, client.address)) return { outcome: 'refused', refusal: { code: 'address-not-allowed' } };
    if (token.firstUsedAtMs !== null) return token;
    // Stored before the answer: a token that was used once is never issued again in place of a lost
    // answer.
    const used = { ...token, firstUsedAtMs: nowMs };
    this.#store(used);
    return used;
  }

  #counted(token: AccessToken, { secretHash, policy, scope, client }: Presentation): TokenAdmission {
    const nowMs = Date.now();
    const { admitted, limit } = this.#meter.count(policy, nowMs, client);
    if (!admitted) return { outcome: 'limited', of: 'credential', limit };
    if (this.#events.observe(client.address, nowMs)) this.#send();
    const { scopes, vaultIds, networks, expiresAt } = token;
    if (scope !== null && !scopes.includes(scope)) {
      return { outcome: 'refused', refusal: { code: 'insufficient-scope', scope } };
    }
    const isSuperseded = isPrevious(token, secretHash, constantTimeEqual);
    const admittedToken = { scopes, vaultIds, networks, expiresAt, isSuperseded };
    return { outcome: 'admitted', tokenId: token.id, user: token.user, token: admittedToken, limit };
  }

  /**
   * Withdraws the token unless its secret was ever presented: the answer with the secret was lost,
   * and another token replaces it. The check and the write are one turn, so a first use comes
   * either before it or never.
   */
  withdrawUnused(): Withdrawal {
    const token = this.#token;
    if (token === null) {
      this.#stored.withdraw();
      return 'withdrawn';
    }
    if (token.firstUsedAtMs !== null) return 'used';
    const nowMs = Date.now();
    if (token.deletedAtMs === null) this.#store(endedToken(token, nowMs));
    return 'withdrawn';
  }

  /**
   * Suspends the token while its user is disabled, or ends the suspension. The owner cannot.
   * Idempotent.
   */
  suspend(isSuspended: boolean): void {
    if (this.#token !== null) this.#store({ ...this.#token, isSuspended });
  }

  /** Ends the token permanently for an operator. Idempotent. */
  end(): void {
    if (this.#token !== null && this.#token.deletedAtMs === null) this.#store(endedToken(this.#token, Date.now()));
  }

  /** Returns the token. Refuses `access-token-not-found`. */
  read(userId: UserId): Result<TokenView, Refusal> {
    return this.#shown(ownToken(this.#token, userId));
  }

  /**
   * Changes the token, for every request that begins after the answer. Refuses what `updatedToken`
   * refuses.
   */
  update(owner: TokenOwner, change: TokenChange): Result<TokenView, Refusal> {
    return this.#changed(updatedToken(this.#token, change, { ...owner, nowMs: Date.now() }));
  }

  /**
   * Rotates the secret, and returns the new one. Refuses what `rotatedToken` refuses. The secret
   * before it works for five more minutes. In that time the same seed gives the same secret again
   * and changes nothing: the response with it was lost. The value before the rotation is enough for
   * that, because the seed proves that its holder requested the rotation.
   *
   * @param seed 32 bytes that only the caller of this rotation can repeat
   * @param address of the caller, of which the owner is notified
   */
  rotate(owner: TokenOwner, seed: Uint8Array, address: string | null): Result<RotatedToken, Refusal> {
    const by = { ...owner, nowMs: Date.now() };
    const token = this.#token;
    const before = token?.previous ?? null;
    const repeated = before === null || by.nowMs >= before.untilMs ? null : rotatedSecret(seed, before.secretHash);
    if (token !== null && repeated !== null && hashOfSecret(repeated) === token.secretHash) {
      const repeater = by.token === null ? null : { ...by.token, isSuperseded: false };
      const own = managedToken(token, { ...by, token: repeater });
      return own.ok ? accepted({ view: this.#view(own.value), secret: repeated }) : own;
    }
    const secret = rotatedSecret(seed, token?.secretHash ?? '');
    const rotated = this.#changed(rotatedToken(token, hashOfSecret(secret), by));
    if (!rotated.ok) return rotated;
    this.#report({ kind: 'token-rotated', address });
    return accepted({ view: rotated.value, secret });
  }

  /**
   * Returns the events of which the owner is to be notified, with the owner and the name of the
   * token. Null without a token.
   */
  openEvents(): { readonly userId: UserId; readonly name: string; readonly events: readonly OwnerEvent[] } | null {
    const token = this.#token;
    return token === null ? null : { userId: token.user.id, name: token.name, events: this.#events.open(Date.now()) };
  }

  /** Records that the owner was notified of the events up to a number. Idempotent. */
  completeEvents(number: number): void {
    if (this.#token !== null) this.#events.complete(number);
  }

  /** Sends a message for the open events, until a consumer has delivered them. */
  override async alarm(): Promise<void> {
    const [token, nowMs] = [this.#token, Date.now()];
    const [oldest] = this.#events.open(nowMs);
    if (token === null || oldest === undefined) return;
    // The pause doubles.
    await this.ctx.storage.setAlarm(nowMs + Math.max(RESEND_EVENTS_MS, nowMs - oldest.atMs));
    await this.env.NOTIFICATION_QUEUE.send({ tokenId: token.id });
  }

  /** Deletes the token permanently. Refuses what `deletedToken` refuses. */
  remove(owner: TokenOwner): Result<TokenView, Refusal> {
    return this.#changed(deletedToken(this.#token, { ...owner, nowMs: Date.now() }));
  }

  /**
   * Empties the object of a deleted token, which is billed until it is empty. Nothing can present
   * or create the token again: its id was random. Returns false for another token, and
   * does nothing to it.
   */
  async erase(): Promise<boolean> {
    if (this.#token !== null && this.#token.deletedAtMs === null) return false;
    this.#token = null;
    await this.#stored.erase();
    return true;
  }

  /** The output gate holds the answer until the change is on disk. */
  #changed(change: Result<AccessToken, Refusal>): Result<TokenView, Refusal> {
    if (change.ok) this.#store(change.value);
    return this.#shown(change);
  }

  #shown(token: Result<AccessToken, Refusal>): Result<TokenView, Refusal> {
    return token.ok ? accepted(this.#view(token.value)) : token;
  }

  #view(token: AccessToken): TokenView {
    const { secretHash: _secretHash, previous, isSuspended: _isSuspended, ...rest } = token;
    const previousUntilMs = previous !== null && Date.now() < previous.untilMs ? previous.untilMs : null;
    const { lastUsedAtMs, lastClient } = this.#meter;
    return { ...rest, lastUsedAtMs, lastClient, previousUntilMs };
  }

  #report(event: CredentialEvent): void {
    this.#events.add(event, Date.now());
    this.#send();
  }

  /** The alarm is written in the turn of the event, so no crash loses the message. */
  #send(): void {
    void this.ctx.storage.setAlarm(Date.now() + FIRST_MESSAGE_MS);
  }

  #store(token: AccessToken): void {
    this.#stored.put(token);
    this.#token = token;
  }
}
