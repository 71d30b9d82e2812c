import * as z from 'zod';
import type { LimitedCredential, RateLimitPolicy } from '#domain/access/rate-limit.ts';
import { RATE_LIMIT_POLICIES } from '#domain/access/rate-limit.ts';
import type { Burst } from '#domain/access/sliding-window.ts';
import { SlidingWindow } from '#domain/access/sliding-window.ts';
import type { UserId } from '#domain/id.ts';
import type { CredentialEnv } from '#objects/token/credential-environment.ts';
import type { LimitState, Quotas } from '#objects/token/quotas.ts';
import { quotasFrom } from '#objects/token/quotas.ts';
import { UserBudget } from '#objects/token/user-budget.ts';
import { exactly, logUnreadable } from '#store/document.ts';
import { UnreadableState } from '#store/object-schema.ts';

/** Who sent a request. */
export interface Client {
  /** IPv4 or IPv6; null when the platform reports none. */
  readonly address: string | null;
  /** The name that the client gives itself, in printable ASCII; null without one. */
  readonly agent: string | null;
}

/** A request that the limit of its credential, or the budget of the user, refuses. */
export interface Limited {
  readonly outcome: 'limited';
  readonly of: 'credential' | 'user';
  readonly limit: LimitState;
}

/** Keys in the object's storage. */
const WINDOWS = 'windows';
const LAST_USED = 'lastUsedAtMs';
const LAST_CLIENT = 'lastClient';

const burst = z.tuple([z.int(), z.int().positive()]);

/** A window as the storage has it. */
export const storedWindow = z.array(burst);

/** Release 0.2.0 stored a window as its start and the number of its requests. */
const fixedWindow = z
  .strictObject({ startedAtMs: z.int(), used: z.int().nonnegative() })
  .transform(({ startedAtMs, used }): Burst[] => (used === 0 ? [] : [[startedAtMs, used]]));

const storedWindows = z.partialRecord(z.enum(RATE_LIMIT_POLICIES), z.union([storedWindow, fixedWindow]));

const storedClient = exactly<Client>()({ address: z.string().nullable(), agent: z.string().nullable() });

/** Under load the windows are stored this often. A single request is stored at once. */
const STORE_EVERY_MS = 250;

/**
 * The rate-limit windows of one credential (spec part 8), and the time of its last use.
 *
 * The windows are stored, because memory is lost after ten idle seconds and a client could then
 * pass a limit of 3 a minute by waiting eleven. No answer waits for the storage: the count in
 * memory decides, and the storage follows within a quarter of a second. Only a crash of the machine
 * in that moment forgets requests. Waiting for the disk each time would take half of the time of a
 * read.
 */
export class RateLimiter {
  readonly #ctx: DurableObjectState;
  readonly #quotas: Quotas;
  readonly #budget: UserBudget;
  readonly #windows = new Map<RateLimitPolicy, SlidingWindow>();
  #lastUsedAtMs: number | null = null;
  #lastClient: Client | null = null;
  /** Whether the windows are being stored, and whether they have changed since. */
  #storing = false;
  #dirty = false;

  /** Throws for an invalid RATE_LIMITS setting. */
  constructor(ctx: DurableObjectState, credential: LimitedCredential, env: CredentialEnv) {
    this.#ctx = ctx;
    this.#quotas = quotasFrom(credential, env.RATE_LIMITS);
    this.#budget = new UserBudget(env, credential, this.#quotas);
  }

  get lastUsedAtMs(): number | null {
    return this.#lastUsedAtMs;
  }

  /** Null before the first request, and for a last request before release 0.3.0. */
  get lastClient(): Client | null {
    return this.#lastClient;
  }

  /**
   * Takes a request of the budget of the user, before `count`. Returns null, or the state of a
   * budget that is used.
   */
  takeBudget(userId: UserId, policy: RateLimitPolicy): Promise<LimitState | null> {
    const room = () => this.#windows.get(policy)?.room(this.#quotas[policy], Date.now()) ?? this.#quotas[policy];
    return this.#budget.take(userId, policy, room);
  }

  /** Counts a request, unless its limit is exhausted. */
  count(
    policy: RateLimitPolicy,
    nowMs: number,
    client: Client,
  ): { readonly admitted: boolean; readonly limit: LimitState } {
    const quota = this.#quotas[policy];
    const window = this.#windows.get(policy) ?? new SlidingWindow();
    const { admitted, remaining, resetSeconds } = window.admit(quota, nowMs);
    const limit = { policy, quota, remaining, resetSeconds };
    if (!admitted) return { admitted, limit };
    this.#windows.set(policy, window);
    this.#lastUsedAtMs = nowMs;
    this.#lastClient = client;
    this.#dirty = true;
    if (!this.#storing) this.#ctx.waitUntil(this.#store());
    return { admitted, limit };
  }

  /**
   * Loads the stored windows, in the constructor of an existing object. Unreadable ones count as
   * empty: the next request overwrites them, so the holder of the token, who cannot damage them,
   * gets one further quota. If they counted as full, no request would be admitted and overwrite
   * them, and a client that lets the object sleep between its requests would never get in again.
   */
  async load(): Promise<void> {
    const windows = await this.#read(WINDOWS, storedWindows);
    this.#lastUsedAtMs = await this.#read(LAST_USED, z.int());
    this.#lastClient = await this.#read(LAST_CLIENT, storedClient);
    for (const policy of RATE_LIMIT_POLICIES) {
      const bursts = windows?.[policy];
      if (bursts !== undefined) this.#windows.set(policy, new SlidingWindow(bursts));
    }
  }

  async #read<T>(key: string, schema: z.ZodType<T>): Promise<T | null> {
    const read = schema.nullable().safeParse((await this.#ctx.storage.get(key)) ?? null);
    if (read.success) return read.data;
    const error = new UnreadableState(`the stored ${key} of a credential is damaged`);
    logUnreadable(error, { credential: this.#ctx.id.name ?? this.#ctx.id.toString() });
    return null;
  }

  /**
   * Stores the windows. Changes during the pause after a write are stored by the next one, however
   * many requests there were.
   */
  async #store(): Promise<void> {
    this.#storing = true;
    try {
      while (this.#dirty) {
        this.#dirty = false;
        const usage = {
          [WINDOWS]: Object.fromEntries([...this.#windows].map(([policy, window]) => [policy, window.stored()])),
          [LAST_USED]: this.#lastUsedAtMs,
          [LAST_CLIENT]: this.#lastClient,
        };
        await this.#ctx.storage.put(usage, { allowUnconfirmed: true });
        await scheduler.wait(STORE_EVERY_MS);
      }
    } finally {
      this.#storing = false;
    }
  }
}
