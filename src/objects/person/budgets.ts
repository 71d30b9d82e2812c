import type { LimitedCredential } from '#domain/access/rate-limit.ts';
import { dailyBytes, QUOTAS_OF_USER } from '#domain/access/rate-limit.ts';
import type { WindowSpan } from '#domain/access/sliding-window.ts';
import { SlidingWindow } from '#domain/access/sliding-window.ts';
import type { CreationKey } from '#objects/person/creation-keys.ts';
import type { Quotas } from '#objects/token/quotas.ts';
import { quotasFrom } from '#objects/token/quotas.ts';
import { storedWindow } from '#objects/token/rate-limiter.ts';
import type { Lease, LeaseRequest } from '#objects/token/user-budget.ts';
import { logUnreadable } from '#store/document.ts';
import { UnreadableState } from '#store/object-schema.ts';

const HOUR_MS = 60 * 60 * 1000;

/** Ours: hours are precise enough for a day, and at most 25 numbers are stored. */
const DAY: WindowSpan = { windowMs: 24 * HOUR_MS, stepMs: HOUR_MS };

/** A creation, before a vault decides on it. */
export interface RequestedCreation {
  readonly key: CreationKey | null;
  readonly credential: LimitedCredential;
  /** See `bytesOfCreation`. */
  readonly bytes: number;
}

export type CreationAdmission =
  | { readonly outcome: 'admitted' }
  | { readonly outcome: 'key-of-another-vault' }
  | FullDay;

/** The answer to a creation that would pass the bytes of the day. */
interface FullDay {
  readonly outcome: 'full-day';
  readonly quota: number;
  /** Whole seconds, at least 1, after which some bytes are free again. */
  readonly resetSeconds: number;
}

/**
 * The budgets of one user: what all tokens together may send, and all sessions together. They are
 * stored, because the object loses its memory after ten idle seconds. A credential leases a part of
 * its quota at once, so there are few leases. Each lease, and each creation, is one write that no
 * answer waits for.
 */
export class PersonBudgets {
  readonly #ctx: DurableObjectState;
  readonly #setting: string | undefined;
  readonly #quotas = new Map<LimitedCredential, Quotas>();

  /** @param setting the RATE_LIMITS setting */
  constructor(ctx: DurableObjectState, setting: string | undefined) {
    this.#ctx = ctx;
    this.#setting = setting;
  }

  /** Leases as many of the requested units as the budget has. Throws for an invalid setting. */
  lease({ credential, policy, units }: LeaseRequest, nowMs: number): Lease {
    const quota = this.#quotasOf(credential)[policy] * QUOTAS_OF_USER;
    const key = `budget:${credential}:${policy}`;
    const window = this.#window(key);
    const { granted, remaining, resetSeconds } = window.grant(quota, nowMs, units);
    if (granted > 0) this.#store(key, window);
    return { units: granted, limit: { policy, quota, remaining, resetSeconds } };
  }

  /** Counts the bytes of a creation. Returns null when they fit. Throws for an invalid setting. */
  addBytes(credential: LimitedCredential, bytes: number, nowMs: number): FullDay | null {
    const quota = dailyBytes(this.#quotasOf(credential).write);
    const key = `created:${credential}`;
    const window = this.#window(key, DAY);
    const fits = window.room(quota, nowMs) >= bytes;
    const { resetSeconds } = window.grant(quota, nowMs, fits ? bytes : 0);
    // A stored time can be that of the next full hour.
    if (!fits) return { outcome: 'full-day', quota, resetSeconds: resetSeconds + HOUR_MS / 1000 };
    this.#store(key, window);
    return null;
  }

  /** Read at the first use: an invalid setting must not stop the acts of operators. */
  #quotasOf(credential: LimitedCredential): Quotas {
    const quotas = this.#quotas.get(credential) ?? quotasFrom(credential, this.#setting);
    this.#quotas.set(credential, quotas);
    return quotas;
  }

  #store(key: string, window: SlidingWindow): void {
    const { storage } = this.#ctx;
    this.#ctx.waitUntil(storage.put(key, window.stored(), { allowUnconfirmed: true }));
  }

  /** An unreadable budget counts as unused, as an unreadable window of a credential does. */
  #window(key: string, span?: WindowSpan): SlidingWindow {
    const read = storedWindow.safeParse(this.#ctx.storage.kv.get(key) ?? []);
    if (read.success) return new SlidingWindow(read.data, span);
    logUnreadable(new UnreadableState('a stored budget of a person is damaged'), { key });
    return new SlidingWindow([], span);
  }
}
