import * as z from 'zod';
import type { LimitedCredential, RateLimitPolicy, Window } from '#domain/access/rate-limit.ts';
import { admit, DEFAULT_QUOTAS, RATE_LIMIT_POLICIES, SESSION_QUOTAS } from '#domain/access/rate-limit.ts';
import { parseJsonSetting } from '#domain/json-setting.ts';
import { exactly, logUnreadable } from '#store/document.ts';
import { UnreadableState } from '#store/object-schema.ts';

/** The state of one limit after a request, for the RateLimit headers. */
export interface LimitState {
  readonly policy: RateLimitPolicy;
  readonly quota: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

/** Who sent a request. */
export interface Client {
  /** IPv4 or IPv6; null when the platform reports none. */
  readonly address: string | null;
  /** The name that the client gives itself, in printable ASCII; null without one. */
  readonly agent: string | null;
}

/** Keys in the object's storage. */
const WINDOWS = 'windows';
const LAST_USED = 'lastUsedAtMs';
const LAST_CLIENT = 'lastClient';

const storedWindows = z.partialRecord(
  z.enum(RATE_LIMIT_POLICIES),
  exactly<Window>()({ startedAtMs: z.int(), used: z.int().nonnegative() }),
);

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
  readonly #quotas: Readonly<Record<RateLimitPolicy, number>>;
  readonly #windows = new Map<RateLimitPolicy, Window>();
  #lastUsedAtMs: number | null = null;
  #lastClient: Client | null = null;
  /** Whether the windows are being stored, and whether they have changed since. */
  #storing = false;
  #dirty = false;

  /**
   * Throws for an invalid setting.
   *
   * @param setting the RATE_LIMITS setting
   */
  constructor(ctx: DurableObjectState, credential: LimitedCredential, setting: string | undefined) {
    this.#ctx = ctx;
    this.#quotas = quotasFrom(credential, setting);
  }

  get lastUsedAtMs(): number | null {
    return this.#lastUsedAtMs;
  }

  /** Null before the first request, and for a last request before release 0.3.0. */
  get lastClient(): Client | null {
    return this.#lastClient;
  }

  /** Counts a request, unless its limit is exhausted. */
  count(
    policy: RateLimitPolicy,
    nowMs: number,
    client: Client,
  ): { readonly admitted: boolean; readonly limit: LimitState } {
    const quota = this.#quotas[policy];
    const { admitted, window, remaining, resetSeconds } = admit(this.#windows.get(policy) ?? null, quota, nowMs);
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
      const window = windows?.[policy];
      if (window !== undefined) this.#windows.set(policy, window);
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
          [WINDOWS]: Object.fromEntries(this.#windows),
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

/** The prefix of session quotas in the setting: `session-read`. */
const SESSION_PREFIX = 'session-';

const quotasSetting = z.record(z.string(), z.unknown());

/**
 * Returns the quotas of a credential: the defaults, overridden by the setting. Throws for a setting
 * with an unknown name or a number that is not positive and whole.
 */
function quotasFrom(
  credential: LimitedCredential,
  setting: string | undefined,
): Readonly<Record<RateLimitPolicy, number>> {
  const overrides = quotasSetting.safeParse(setting ? parseJsonSetting('RATE_LIMITS', setting) : {});
  if (!overrides.success) throw new Error('RATE_LIMITS must be a JSON object.');
  const quotas: Record<RateLimitPolicy, number> = { ...(credential === 'token' ? DEFAULT_QUOTAS : SESSION_QUOTAS) };
  for (const [name, quota] of Object.entries(overrides.data)) {
    const isOfSession = name.startsWith(SESSION_PREFIX);
    const policyName = isOfSession ? name.slice(SESSION_PREFIX.length) : name;
    const policy = RATE_LIMIT_POLICIES.find((known) => known === policyName);
    if (policy === undefined || typeof quota !== 'number' || !Number.isInteger(quota) || quota < 1) {
      throw new Error(`RATE_LIMITS: '${name}' must be a known policy with a positive whole number.`);
    }
    if (isOfSession === (credential === 'session')) quotas[policy] = quota;
  }
  return quotas;
}
