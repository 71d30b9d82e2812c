import { DurableObject } from 'cloudflare:workers';
import type { CredentialReset } from '#domain/access/credential-reset.ts';
import {
  ended,
  isOpen,
  MAX_RESETS_A_DAY,
  newReset,
  resetDelayMs,
  resetStateAt,
} from '#domain/access/credential-reset.ts';
import type { RequestedCancellation } from '#domain/access/reset-cancellation.ts';
import { cancellationRefusal } from '#domain/access/reset-cancellation.ts';
import { isAddedByOperator } from '#domain/access/token-grant.ts';
import type { CredentialResetId, TokenId, UserId } from '#domain/id.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import { DAY_MS } from '#domain/policy/rules.ts';
import type { NewAccessToken, TokenView } from '#objects/token/access-token.ts';
import type { UserAccess } from '#objects/person/access.ts';
import { ANNOUNCEMENT_RETRY_MS, ResetAnnouncements } from '#objects/person/announcements.ts';
import type { CreationAdmission, RequestedCreation } from '#objects/person/budgets.ts';
import { PersonBudgets } from '#objects/person/budgets.ts';
import { grantFault } from '#objects/person/grant.ts';
import { PersonAccess } from '#objects/person/access.ts';
import type { RequestedAct } from '#objects/person/access-storage.ts';
import type { SessionOwner } from '#objects/person/credentials.ts';
import { PersonCredentials } from '#objects/person/credentials.ts';
import type { CreationKey } from '#objects/person/creation-keys.ts';
import type { PersonEnv } from '#objects/person/environment.ts';
import type { Grant, IssuedCredential } from '#objects/person/storage.ts';
import { PERSON_SCHEMA, PersonStorage } from '#objects/person/storage.ts';
import { StreamSlots } from '#objects/person/stream-slots.ts';
import { upgradeState } from '#store/object-schema.ts';
import type { NewSession } from '#objects/token/session.ts';
import type { Lease, LeaseRequest } from '#objects/token/user-budget.ts';
import { errorText } from '#store/error-text.ts';
import { deleteIdentities } from '#store/identities.ts';

/** The number of newest resets that an operator sees. */
const SHOWN_RESETS = 20;

/**
 * The object of one user: the source of truth for how many credentials an operator may issue, and
 * for whether the user is disabled. The first credential comes by enrolment and can be issued again
 * until the user has used it, because an answer can be lost. A later one comes by a reset, after a
 * delay in which members can cancel it. A user creates others by a login or in a session.
 *
 * Every credential is created in the turn of this object. An operator who disables the user
 * therefore reaches each one.
 */
export class PersonObject extends DurableObject<PersonEnv> {
  readonly #storage: PersonStorage;
  readonly #announcements: ResetAnnouncements;
  readonly #streams: StreamSlots;
  readonly #budgets: PersonBudgets;
  readonly #access: PersonAccess;
  readonly #credentials: PersonCredentials;
  /** Credentials are issued one after the other: each waits for the objects of the previous one. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(ctx: DurableObjectState, env: PersonEnv) {
    super(ctx, env);
    upgradeState(ctx.storage, PERSON_SCHEMA);
    this.#storage = new PersonStorage(ctx.storage.sql);
    this.#announcements = new ResetAnnouncements(ctx, this.#storage);
    this.#streams = new StreamSlots(ctx.storage.kv);
    this.#budgets = new PersonBudgets(ctx, env.RATE_LIMITS);
    this.#credentials = new PersonCredentials(env);
    this.#access = new PersonAccess(env, {
      credentials: this.#credentials,
      storage: this.#storage,
      write: (writes) => this.#write(writes),
    });
  }

  /** Registers a new user, before the directory has the user. Idempotent. */
  open(account: { readonly isServiceAccount: boolean }): void {
    this.ctx.storage.transactionSync(() => this.#storage.open(account));
  }

  /**
   * Creates a token under a grant. Refuses, in order: `user-disabled`, `credential-reset-required`
   * (for the enrolment), what `grantFault` refuses, `too-many-access-tokens`.
   */
  issueToken(grant: Grant, token: NewAccessToken): Promise<Result<TokenView, Refusal>> {
    const isReported = grant !== 'enrolment';
    return this.#issue(grant, { kind: 'access-token', id: token.id }, () =>
      this.#credentials.createToken(token, isReported),
    );
  }

  /**
   * Adds a token to a service account that has used a credential, and records it in the vaults of
   * the account. Refuses, in order: `user-disabled`, `credential-reset-required` for another user
   * and for a token that approves or manages tokens, `too-many-access-tokens`.
   */
  addServiceToken(token: NewAccessToken, serviceKey: string): Promise<Result<TokenView, Refusal>> {
    return this.#issuing(async () => {
      const isAllowed = this.#storage.isServiceAccount() && isAddedByOperator(token);
      if (!isAllowed) return refused({ code: 'credential-reset-required' });
      const made = await this.#credentials.createToken(token);
      const { id: tokenId, user } = token;
      if (made.ok) await this.#access.act(user.id, { kind: 'add-credential', tokenId }, serviceKey);
      return made;
    });
  }

  /**
   * Creates a token for the user, who is logged in. Refuses, in order: `user-disabled`,
   * `session-invalid` when the session has ended meanwhile, `too-many-access-tokens`.
   */
  issueOwnToken(token: NewAccessToken): Promise<Result<TokenView, Refusal>> {
    return this.#issuing(async () => {
      const { madeIn } = token;
      const isOver = madeIn !== null && (await this.#credentials.session(madeIn).read()) === null;
      return isOver ? refused({ code: 'session-invalid' }) : this.#credentials.createToken(token);
    });
  }

  /** Ends every session of the user, and the tokens that were made in them if `withTokens`. */
  endSessions(caller: SessionOwner, withTokens: boolean): Promise<void> {
    return this.#inTurn(() => this.#credentials.endSessions(caller, withTokens));
  }

  /** Creates a session under a grant, and returns when it began. Refuses as `issueToken` does. */
  issueSession(grant: Grant, session: NewSession): Promise<Result<number, Refusal>> {
    return this.#issue(grant, { kind: 'session', id: session.id }, () => this.#credentials.createSession(session));
  }

  /**
   * Allows the user to log in with another identity, under a reset and once. Refuses as
   * `issueToken` does.
   */
  releaseIdentity(id: CredentialResetId, userId: UserId): Promise<Result<boolean, Refusal>> {
    return this.#issue(id, { kind: 'identity', isReleased: false }, async () => {
      await deleteIdentities(this.env.DB, userId);
      // Written only now: if this object stops before, the operator repeats the request.
      this.#write(() => this.#storage.putIssued(id, { kind: 'identity', isReleased: true }));
      return accepted(true);
    });
  }

  /**
   * Creates a session for the user, whom an identity provider has authenticated. The first login
   * ends the enrolment. An unused credential that an operator issued is then withdrawn: the holder
   * of a service key could have kept it for later. Refuses `user-disabled`.
   */
  logIn(session: NewSession): Promise<Result<number, Refusal>> {
    return this.#issuing(async () => {
      if (!this.#storage.isEnrolled()) {
        const earlier = this.#storage.issued('enrolment');
        if (earlier !== null) await this.#credentials.withdraw(earlier);
        this.ctx.storage.transactionSync(() => this.#storage.endEnrolment());
      }
      return this.#credentials.createSession(session);
    });
  }

  /**
   * Carries out an act of an operator on the access of the user. Idempotent. Throws when the object
   * of a credential did not answer; the alarm then completes the act.
   *
   * @param serviceKey the first eight hex digits of the hash of the operator's service key
   */
  actOnAccess(userId: UserId, act: RequestedAct, serviceKey: string): Promise<UserAccess> {
    return this.#inTurn(() => this.#access.act(userId, act, serviceKey));
  }

  isDisabled(): boolean {
    return this.#access.isDisabled;
  }

  /**
   * Reports the state of the enrolment. An issued credential can be issued again as long as it is
   * unused.
   */
  enrolment(): 'open' | 'issued' | 'over' {
    if (this.#storage.isEnrolled()) return 'over';
    return this.#storage.issued('enrolment') === null ? 'open' : 'issued';
  }

  /** Returns the newest resets first. */
  resets(): readonly CredentialReset[] {
    return this.#storage.resets.newest(SHOWN_RESETS);
  }

  /**
   * Requests a reset. While one is open, it returns that one unchanged: a second request neither
   * restarts nor shortens the delay. Refuses `too-many-credential-resets`.
   */
  async requestReset(
    request: Pick<CredentialReset, 'id' | 'userId' | 'userName'>,
  ): Promise<Result<{ readonly reset: CredentialReset; readonly isNew: boolean }, Refusal>> {
    const nowMs = Date.now();
    this.#expire(nowMs);
    const [newest] = this.#storage.resets.newest(1);
    const open = newest !== undefined && isOpen(newest, nowMs) ? newest : null;
    if (open === null) {
      if (this.#storage.resets.requestedSince(nowMs - DAY_MS) >= MAX_RESETS_A_DAY) {
        return refused({ code: 'too-many-credential-resets', limit: MAX_RESETS_A_DAY });
      }
      const reset = newReset({ ...request, delayMs: resetDelayMs(this.env.CREDENTIAL_RESET_DELAY_SECONDS) }, nowMs);
      this.#write(() => this.#storage.resets.put(reset));
    }
    await this.#announcements.run(this.env);
    const reset = this.#storage.resets.read(open?.id ?? request.id);
    if (reset === null) throw new Error('a reset that was just stored cannot be read');
    return accepted({ reset, isNew: open === null });
  }

  /**
   * Cancels a reset. Idempotent. Refuses, in order: `credential-reset-not-found`,
   * `credential-reset-not-pending`, `reset-cancellation-used`.
   */
  async cancelReset(
    id: CredentialResetId,
    { isProven, ...cancellation }: RequestedCancellation,
  ): Promise<Result<CredentialReset, Refusal>> {
    const nowMs = Date.now();
    this.#expire(nowMs);
    const reset = this.#storage.resets.read(id);
    if (reset === null) return refused({ code: 'credential-reset-not-found' });
    if (reset.state === 'CANCELLED') return accepted(reset);
    if (!isOpen(reset, nowMs)) {
      return refused({ code: 'credential-reset-not-pending', state: resetStateAt(reset, nowMs) });
    }
    const lastCancelledAtMs = this.#storage.resets.lastCancelledAtMs(reset.userId, cancellation.userId);
    const refusal = cancellationRefusal(reset, { ...cancellation, isProven }, { lastCancelledAtMs, nowMs });
    if (refusal !== null) return refused(refusal);
    const cancelled = ended(reset, { state: 'CANCELLED', cancellation }, nowMs);
    this.#write(() => this.#storage.resets.put(cancelled));
    await this.#announcements.run(this.env);
    return accepted(cancelled);
  }

  /**
   * Counts a creation, and binds its Idempotency-Key to the vault. Refuses one that the bytes of
   * the day do not allow, and a key that is bound to another vault. A repeated request counts once.
   */
  admitCreation({ key, credential, bytes }: RequestedCreation): CreationAdmission {
    const nowMs = Date.now();
    const bound = key === null ? null : this.#storage.creationKeys.vaultOf(key.key, nowMs);
    if (key !== null && bound !== null) {
      return bound === key.vaultId ? { outcome: 'admitted' } : { outcome: 'key-of-another-vault' };
    }
    const full = this.#budgets.addBytes(credential, bytes, nowMs);
    if (full !== null) return full;
    if (key !== null) {
      this.ctx.storage.transactionSync(() => {
        this.#storage.createTables();
        this.#storage.creationKeys.bind(key, nowMs);
      });
    }
    return { outcome: 'admitted' };
  }

  /** Frees the key of a creation that the vault refused. Idempotent. */
  releaseCreationKey(key: CreationKey): void {
    this.ctx.storage.transactionSync(() => this.#storage.creationKeys.release(key));
  }

  /** Leases requests of the budget of the user to one credential. */
  leaseRequests(request: LeaseRequest): Lease {
    return this.#budgets.lease(request, Date.now());
  }

  /** Reports whether a stream of events may open, and counts it. */
  openStream(stream: { readonly streamId: string; readonly sessionId: TokenId }): boolean {
    return this.#streams.take(stream, Date.now());
  }

  /** Idempotent. */
  closeStream(streamId: string): void {
    this.#streams.free(streamId, Date.now());
  }

  override async alarm(): Promise<void> {
    let isDone = true;
    // One that fails delays no other.
    for (const part of [() => this.#progressResets(), () => this.#completeActs()]) {
      try {
        isDone = (await part()) && isDone;
      } catch (error) {
        isDone = false;
        console.error(JSON.stringify({ event: 'person-alarm-failed', error: errorText(error) }));
      }
    }
    if (!isDone) await this.ctx.storage.setAlarm(Date.now() + ANNOUNCEMENT_RETRY_MS);
  }

  async #progressResets(): Promise<boolean> {
    this.#expire(Date.now());
    return this.#announcements.run(this.env);
  }

  async #completeActs(): Promise<boolean> {
    return (await this.#inTurn(() => this.#access.complete())).length === 0;
  }

  /**
   * Issues a credential under a grant.
   *
   * @param make creates the credential in its own object
   */
  async #issue<T>(
    grant: Grant,
    credential: IssuedCredential,
    make: () => Promise<Result<T, Refusal>>,
  ): Promise<Result<T, Refusal>> {
    return this.#issuing(async () => {
      // A vault that the user has joined since must know, and its members get the whole delay.
      const isAnnounced = grant === 'enrolment' || (await this.#announcements.run(this.env));
      if (!isAnnounced) return refused({ code: 'credential-reset-not-ready', effectiveAtMs: null });
      const fault = grantFault(this.#storage, grant, Date.now());
      if (fault !== null) return refused(fault);
      const earlier = this.#storage.issued(grant);
      if (earlier !== null && (await this.#credentials.withdraw(earlier)) === 'used')
        return refused(this.#usedUp(grant));
      // Withdrawing awaits, so a cancellation can land meanwhile: the grant is checked again before
      // it is written.
      const late = grantFault(this.#storage, grant, Date.now());
      if (late !== null) return refused(late);
      this.#write(() => this.#take(grant, credential));
      const made = await make();
      await this.#announcements.run(this.env);
      return made;
    });
  }

  /**
   * Returns the refusal of a grant whose credential the user has used: it can issue nothing more.
   */
  #usedUp(grant: Grant): Refusal {
    if (grant !== 'enrolment') return { code: 'credential-reset-not-pending', state: 'COMPLETED' };
    this.ctx.storage.transactionSync(() => this.#storage.endEnrolment());
    return { code: 'credential-reset-required' };
  }

  /**
   * Records the credential before its creation: a credential without a record could never be
   * withdrawn.
   */
  #take(grant: Grant, credential: IssuedCredential): void {
    this.#storage.putIssued(grant, credential);
    const reset = grant === 'enrolment' ? null : this.#storage.resets.read(grant);
    if (reset !== null) this.#storage.resets.put(ended(reset, { state: 'COMPLETED' }, Date.now()));
  }

  /** Ends a reset that was not collected in time. */
  #expire(nowMs: number): void {
    const [newest] = this.#storage.resets.newest(1);
    if (newest?.state !== 'PENDING' || resetStateAt(newest, nowMs) !== 'EXPIRED') return;
    this.#write(() => this.#storage.resets.put(ended(newest, { state: 'EXPIRED' }, nowMs)));
  }

  /**
   * Runs one storage transaction, and sets the alarm that informs the vaults if this object stops
   * here.
   */
  #write(writes: () => void): void {
    this.ctx.storage.transactionSync(() => {
      this.#storage.createTables();
      writes();
      void this.ctx.storage.setAlarm(Date.now() + ANNOUNCEMENT_RETRY_MS);
    });
  }

  /** Creates a credential in turn. Refuses `user-disabled`, whatever the way to a credential. */
  #issuing<T>(create: () => Promise<Result<T, Refusal>>): Promise<Result<T, Refusal>> {
    return this.#inTurn(async () => (this.#access.isDisabled ? refused({ code: 'user-disabled' }) : create()));
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => {});
    return done;
  }
}
