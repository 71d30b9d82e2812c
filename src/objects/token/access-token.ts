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
  isPrevious,
  managedToken,
  ownToken,
  rotatedToken,
  updatedToken,
} from '#domain/access/access-token.ts';
import type { AccessRefusal } from '#domain/access/refusal.ts';
import type { TokenGrant, TokenScope } from '#domain/access/token-grant.ts';
import { isAcceptedFrom, TOKEN_SCOPES } from '#domain/access/token-grant.ts';
import { constantTimeEqual } from '#domain/constant-time-equal.ts';
import type { TokenId, UserId } from '#domain/id.ts';
import type { RateLimitPolicy } from '#domain/access/rate-limit.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import type { Result } from '#domain/result.ts';
import { accepted } from '#domain/result.ts';
import type { CoordinatorConfig } from '#objects/configuration.ts';
import { CredentialStorage, credentialSchema } from '#objects/token/credential-storage.ts';
import { accessTokenCodec } from '#objects/token/documents.ts';
import type { Client, LimitState } from '#objects/token/rate-limiter.ts';
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
  | { readonly outcome: 'limited'; readonly limit: LimitState }
  | { readonly outcome: 'refused'; readonly refusal: AccessRefusal }
  | { readonly outcome: 'unauthenticated'; readonly fault: AdmissionFault };

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
}

/** The caller of a management endpoint. The object itself adds the time. */
export type TokenOwner = Omit<TokenManager, 'nowMs'>;

/** A token in its owner's view, without any hash of a secret. */
export interface TokenView extends Omit<AccessToken, 'secretHash' | 'previous'> {
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

/** A token from before the scopes gives access to everything. */
function addGrants(sql: SqlStorage): void {
  const add =
    "UPDATE token SET document = json_set(document, '$.v', 2, '$.scopes', json(?), '$.vaultIds', NULL, '$.networks', NULL)";
  sql.exec(add, JSON.stringify(TOKEN_SCOPES));
}

export const TOKEN_SCHEMA = credentialSchema('access token', 'token', [addGrants]);

/**
 * One personal access token: its record, and the windows of its rate limits. Authentication and
 * limit are one call, so a request costs one hop. Nothing else holds the token, so a withdrawal
 * takes effect everywhere at once.
 */
export class AccessTokenObject extends DurableObject<CoordinatorConfig> {
  readonly #meter: RateLimiter;
  readonly #stored: CredentialStorage<AccessToken>;
  #token: AccessToken | null = null;

  constructor(ctx: DurableObjectState, env: CoordinatorConfig) {
    super(ctx, env);
    upgradeState(ctx.storage, TOKEN_SCHEMA);
    this.#meter = new RateLimiter(ctx, 'token', env.RATE_LIMITS);
    const terms = { schema: TOKEN_SCHEMA, table: 'token', codec: accessTokenCodec } as const;
    this.#stored = new CredentialStorage(ctx.storage, terms);
    this.#token = this.#stored.read();
    if (this.#token !== null) void ctx.blockConcurrencyWhile(() => this.#meter.load());
  }

  /**
   * Creates the token. Idempotent: an existing token does not change. Returns null for one that was
   * withdrawn before.
   */
  create(input: NewAccessToken): TokenView | null {
    if (this.#token !== null) return this.#view(this.#token);
    if (this.#stored.isWithdrawn()) return null;
    const nowMs = Date.now();
    const fresh = { enabled: true, previous: null, rotatedAtMs: null, deletedAtMs: null, firstUsedAtMs: null };
    const token = { ...input, ...fresh, createdAtMs: nowMs, updatedAtMs: nowMs };
    this.#stored.create(token);
    this.#token = token;
    return this.#view(token);
  }

  /**
   * Authenticates a secret and counts the request, in this order: an unauthenticated request does
   * not use the quota of the token's owner, and neither does one from an address that the token
   * excludes. One without the scope does. An expired token is disabled here (spec part 5 rule 5).
   */
  admit(request: Presentation): TokenAdmission {
    const nowMs = Date.now();
    const token = this.#token;
    if (token === null) return { outcome: 'unauthenticated', fault: 'unknown' };
    const fault = admissionFault(token, { secretHash: request.secretHash, nowMs }, constantTimeEqual);
    if (fault !== null) {
      if (fault === 'expired') this.#store({ ...token, enabled: false });
      return { outcome: 'unauthenticated', fault };
    }
    const { scope, client } = request;
    if (!isAcceptedFrom(token, client.address)) return { outcome: 'refused', refusal: { code: 'address-not-allowed' } };
    // Stored before the answer: a token that was used once is never issued again in place of a lost
    // answer.
    if (token.firstUsedAtMs === null) this.#store({ ...token, firstUsedAtMs: nowMs });
    const { admitted, limit } = this.#meter.count(request.policy, nowMs, client);
    if (!admitted) return { outcome: 'limited', limit };
    const { scopes, vaultIds, networks, expiresAt } = token;
    if (scope !== null && !scopes.includes(scope)) {
      return { outcome: 'refused', refusal: { code: 'insufficient-scope', scope } };
    }
    const isSuperseded = isPrevious(token, request.secretHash, constantTimeEqual);
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
    if (token.deletedAtMs === null) {
      this.#store({ ...token, enabled: false, previous: null, updatedAtMs: nowMs, deletedAtMs: nowMs });
    }
    return 'withdrawn';
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
   */
  rotate(owner: TokenOwner, seed: Uint8Array): Result<RotatedToken, Refusal> {
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
    return rotated.ok ? accepted({ view: rotated.value, secret }) : rotated;
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
    const { secretHash: _secretHash, previous, ...rest } = token;
    const previousUntilMs = previous !== null && Date.now() < previous.untilMs ? previous.untilMs : null;
    const { lastUsedAtMs, lastClient } = this.#meter;
    return { ...rest, lastUsedAtMs, lastClient, previousUntilMs };
  }

  #store(token: AccessToken): void {
    this.#stored.put(token);
    this.#token = token;
  }
}
