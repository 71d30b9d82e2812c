import { DurableObject } from 'cloudflare:workers';
import type { CredentialReset } from '#domain/access/credential-reset.ts';
import {
  announced,
  ended,
  isOpen,
  MAX_RESETS_A_DAY,
  newReset,
  resetDelayMs,
  resetStateAt,
} from '#domain/access/credential-reset.ts';
import type { RequestedCancellation } from '#domain/access/reset-cancellation.ts';
import { cancellationRefusal } from '#domain/access/reset-cancellation.ts';
import type { CredentialResetId, TokenId, UserId } from '#domain/id.ts';
import { parseCredentialResetId, parseVaultId } from '#domain/id.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import type { Result } from '#domain/result.ts';
import { accepted, refused } from '#domain/result.ts';
import { DAY_MS } from '#domain/policy/rules.ts';
import type { AccessTokenObject, NewAccessToken, TokenView } from '#objects/token/access-token.ts';
import type { CoordinatorConfig } from '#objects/configuration.ts';
import type { Grant, IssuedCredential } from '#objects/person/storage.ts';
import { PERSON_SCHEMA, PersonStorage } from '#objects/person/storage.ts';
import { StreamSlots } from '#objects/person/stream-slots.ts';
import { upgradeState } from '#store/object-schema.ts';
import type { NewSession, SessionObject } from '#objects/token/session.ts';
import { vaultStub } from '#objects/vault/doors/stub.ts';
import { errorText } from '#store/error-text.ts';
import { deleteIdentities } from '#store/identities.ts';
import { vaultIdsOf } from '#store/vaults.ts';

/** The delay before vaults that could not be informed are called again. */
const ANNOUNCEMENT_RETRY_MS = 5_000;
/** The number of newest resets that an operator sees. */
const SHOWN_RESETS = 20;

/** A credential that was issued. */
export interface Issued<T> {
  readonly made: T;
  /** The unused token that it replaces; null without one. */
  readonly withdrawn: TokenId | null;
}

/** The configuration with the objects that this one calls. */
interface PersonEnv extends CoordinatorConfig {
  readonly ACCESS_TOKEN: DurableObjectNamespace<AccessTokenObject>;
  readonly SESSION: DurableObjectNamespace<SessionObject>;
  readonly VAULT: DurableObjectNamespace;
}

/**
 * The object of one user: the source of truth for how many credentials an operator may issue. The
 * first credential comes by enrolment and can be issued again until the user has used it, because
 * an answer can be lost. A later one comes by a reset, after a delay in which members can cancel
 * it. Credentials that users create with their own credentials do not involve this object.
 */
export class PersonObject extends DurableObject<PersonEnv> {
  readonly #storage: PersonStorage;
  readonly #streams: StreamSlots;
  /** Credentials are issued one after the other: each waits for the objects of the previous one. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(ctx: DurableObjectState, env: PersonEnv) {
    super(ctx, env);
    upgradeState(ctx.storage, PERSON_SCHEMA);
    this.#storage = new PersonStorage(ctx.storage.sql);
    this.#streams = new StreamSlots(ctx.storage.kv);
  }

  /** Registers a new user, before the directory has the user. Idempotent. */
  open(): void {
    this.ctx.storage.transactionSync(() => this.#storage.open());
  }

  /**
   * Creates a token under a grant. Refuses, in order: `credential-reset-required` (for the
   * enrolment), what `#grantFault` refuses.
   */
  issueToken(grant: Grant, token: NewAccessToken): Promise<Result<Issued<TokenView>, Refusal>> {
    const stub = () => this.env.ACCESS_TOKEN.getByName(`token:${token.id}`);
    return this.#issue(grant, { kind: 'access-token', id: token.id }, () => stub().create(token));
  }

  /** Creates a session under a grant, and returns when it began. Refuses as `issueToken` does. */
  issueSession(grant: Grant, session: NewSession): Promise<Result<Issued<number>, Refusal>> {
    const stub = () => this.env.SESSION.getByName(`session:${session.id}`);
    return this.#issue(grant, { kind: 'session', id: session.id }, () => stub().create(session));
  }

  /**
   * Allows the user to log in with another identity, under a reset and once. Refuses as
   * `issueToken` does.
   */
  releaseIdentity(id: CredentialResetId, userId: UserId): Promise<Result<Issued<boolean>, Refusal>> {
    return this.#issue(id, { kind: 'identity', isReleased: false }, async () => {
      await deleteIdentities(this.env.DB, userId);
      // Written only now: if this object stops before, the operator repeats the request.
      this.#write(() => this.#storage.putIssued(id, { kind: 'identity', isReleased: true }));
      return true;
    });
  }

  /**
   * Ends the enrolment after the user's first login by an identity provider. An unused credential
   * that an operator issued is withdrawn: the holder of a service key could have kept it for later.
   */
  async recordLogin(): Promise<void> {
    if (this.#storage.isEnrolled()) return;
    await this.#inTurn(async () => {
      const earlier = this.#storage.issued('enrolment');
      if (earlier !== null) await this.#withdraw(earlier);
      this.ctx.storage.transactionSync(() => this.#storage.endEnrolment());
    });
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
    await this.#announce();
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
    await this.#announce();
    return accepted(cancelled);
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
    try {
      this.#expire(Date.now());
      await this.#announce();
    } catch (error) {
      console.error(JSON.stringify({ event: 'person-alarm-failed', error: errorText(error) }));
      await this.ctx.storage.setAlarm(Date.now() + ANNOUNCEMENT_RETRY_MS);
    }
  }

  /**
   * Issues a credential under a grant.
   *
   * @param make creates the credential in its own object; null when it was already withdrawn
   */
  async #issue<T>(
    grant: Grant,
    credential: IssuedCredential,
    make: () => Promise<T | null>,
  ): Promise<Result<Issued<T>, Refusal>> {
    return this.#inTurn(async () => {
      // A vault that the user has joined since must know, and its members get the whole delay.
      const isAnnounced = grant === 'enrolment' || (await this.#announce());
      if (!isAnnounced) return refused({ code: 'credential-reset-not-ready', effectiveAtMs: null });
      const fault = this.#grantFault(grant);
      if (fault !== null) return refused(fault);
      const earlier = this.#storage.issued(grant);
      if (earlier !== null && (await this.#withdraw(earlier)) === 'used') return refused(this.#usedUp(grant));
      // Withdrawing awaits, so a cancellation can land meanwhile: the grant is checked again before
      // it is written.
      const late = this.#grantFault(grant);
      if (late !== null) return refused(late);
      this.#write(() => this.#take(grant, credential));
      const made = await make();
      if (made === null) throw new Error('a new credential is not created, because it was withdrawn');
      await this.#announce();
      const withdrawn = earlier?.kind === 'access-token' ? earlier.id : null;
      return accepted({ made, withdrawn });
    });
  }

  /**
   * Returns why a grant issues nothing, or null. In order: `credential-reset-required` (for the
   * enrolment); `credential-reset-not-found`, `credential-reset-not-pending`,
   * `credential-reset-not-ready`.
   */
  #grantFault(grant: Grant): Refusal | null {
    if (grant === 'enrolment') return this.#storage.isEnrolled() ? { code: 'credential-reset-required' } : null;
    const [reset, nowMs] = [this.#storage.resets.read(grant), Date.now()];
    if (reset === null) return { code: 'credential-reset-not-found' };
    const state = resetStateAt(reset, nowMs);
    if (state === 'COMPLETED' && nowMs < reset.expiresAtMs) return null;
    if (state === 'PENDING') return { code: 'credential-reset-not-ready', effectiveAtMs: reset.effectiveAtMs };
    if (state !== 'READY') return { code: 'credential-reset-not-pending', state };
    const behind = this.#storage.vaultsBehind(reset.id, reset.version);
    return behind.length === 0 ? null : { code: 'credential-reset-not-ready', effectiveAtMs: null };
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

  async #withdraw(credential: IssuedCredential): Promise<'withdrawn' | 'used'> {
    if (credential.kind === 'identity') return credential.isReleased ? 'used' : 'withdrawn';
    const { id, kind } = credential;
    return kind === 'session'
      ? this.env.SESSION.getByName(`session:${id}`).withdrawUnused()
      : this.env.ACCESS_TOKEN.getByName(`token:${id}`).withdrawUnused();
  }

  /** Ends a reset that was not collected in time. */
  #expire(nowMs: number): void {
    const [newest] = this.#storage.resets.newest(1);
    if (newest?.state !== 'PENDING' || resetStateAt(newest, nowMs) !== 'EXPIRED') return;
    this.#write(() => this.#storage.resets.put(ended(newest, { state: 'EXPIRED' }, nowMs)));
  }

  /**
   * Informs each vault of the user of resets that it does not know, and sets the alarm for the
   * rest. Running it twice is harmless: a vault ignores a version that it knows. While a reset is
   * pending, the directory is read for vaults that the user has joined since. Reports whether the
   * directory and every vault answered.
   */
  async #announce(): Promise<boolean> {
    const [newest] = this.#storage.resets.newest(1);
    if (newest === undefined) return true;
    let isDone = true;
    try {
      if (newest.state === 'PENDING') await this.#addVaults(newest);
      for (const text of this.#storage.unannounced()) {
        const id = parseCredentialResetId(text);
        if (id !== null) await this.#informVaults(id);
      }
    } catch (error) {
      isDone = false;
      console.error(JSON.stringify({ event: 'announcement-failed', reset: newest.id, error: errorText(error) }));
    }
    await this.#arm(isDone);
    return isDone;
  }

  async #addVaults({ id, userId }: { readonly id: CredentialResetId; readonly userId: UserId }): Promise<void> {
    const vaultIds = (await vaultIdsOf(this.env.DB, userId)).flatMap((number) => parseVaultId(number) ?? []);
    this.ctx.storage.transactionSync(() => {
      for (const vaultId of vaultIds) this.#storage.addVault(id, vaultId);
    });
  }

  async #informVaults(id: CredentialResetId): Promise<void> {
    const reset = this.#storage.resets.read(id);
    if (reset === null) return;
    for (const vaultId of this.#storage.vaultsBehind(id, reset.version)) {
      const announcedAtMs = await vaultStub(this.env, vaultId).report({ type: 'recordCredentialReset', reset });
      this.ctx.storage.transactionSync(() => {
        if (announcedAtMs === null) return this.#storage.removeVault(id, vaultId);
        this.#storage.putAnnounced(id, vaultId, reset.version);
        const now = this.#storage.resets.read(id);
        if (now !== null) this.#storage.resets.put(announced(now, announcedAtMs));
      });
    }
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

  async #arm(isDone: boolean): Promise<void> {
    const [newest, nowMs] = [this.#storage.resets.newest(1)[0], Date.now()];
    if (!isDone) return this.ctx.storage.setAlarm(nowMs + ANNOUNCEMENT_RETRY_MS);
    if (newest?.state !== 'PENDING') return;
    const { effectiveAtMs, expiresAtMs } = newest;
    await this.ctx.storage.setAlarm(nowMs < effectiveAtMs ? effectiveAtMs : expiresAtMs);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => {});
    return done;
  }
}
