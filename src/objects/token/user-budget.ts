import type { LimitedCredential, RateLimitPolicy } from '#domain/access/rate-limit.ts';
import type { UserId } from '#domain/id.ts';
import type { CredentialEnv } from '#objects/token/credential-environment.ts';
import type { LimitState, Quotas } from '#objects/token/quotas.ts';
import { errorText } from '#store/error-text.ts';

/** Requests that a credential may admit at the expense of its user's budget. */
export interface Lease {
  /** Zero when the budget is used. */
  readonly units: number;
  /** The state of the budget. */
  readonly limit: LimitState;
}

export interface LeaseRequest {
  readonly credential: LimitedCredential;
  readonly policy: RateLimitPolicy;
  readonly units: number;
}

/** The object of a user, as the credentials of the user see it. */
interface BudgetHolder {
  leaseRequests(request: LeaseRequest): Promise<Lease>;
}

/** Returns the name of the object of a user. Only this function constructs it. */
export function userObjectName(id: UserId): string {
  return `person:${id}`;
}

/** A lease that is not used ends after this time. */
const LEASE_MS = 2_000;
/** A lease is this part of a quota, so that a page of the dashboard costs one call. */
const LEASED_PART = 20;

/**
 * The part of a user's budget that one credential has leased. The budget limits all credentials of
 * a user together: fifty tokens are not fifty limits. Only a request within the limit of its own
 * credential uses the budget, so a stolen token at its limit does not use that of the others.
 */
export class UserBudget {
  readonly #env: CredentialEnv;
  readonly #credential: LimitedCredential;
  readonly #quotas: Quotas;
  readonly #leases = new Map<RateLimitPolicy, { units: number; readonly untilMs: number }>();
  readonly #renewals = new Map<RateLimitPolicy, Promise<Lease>>();
  readonly #waiting = new Map<RateLimitPolicy, number>();

  constructor(env: CredentialEnv, credential: LimitedCredential, quotas: Quotas) {
    this.#env = env;
    this.#credential = credential;
    this.#quotas = quotas;
  }

  /**
   * Takes one request of the budget. Returns null, or the state of a budget that is used. Without
   * room it takes nothing.
   *
   * @param room returns how many requests the credential itself would admit now
   */
  async take(userId: UserId, policy: RateLimitPolicy, room: () => number): Promise<LimitState | null> {
    while (room() > 0 && !this.#takeLeased(policy)) {
      this.#wait(policy, 1);
      const lease = await (this.#renewals.get(policy) ?? this.#renew(userId, policy, room()));
      this.#wait(policy, -1);
      if (lease.units === 0) return lease.limit;
    }
    return null;
  }

  #takeLeased(policy: RateLimitPolicy): boolean {
    const lease = this.#leases.get(policy);
    if (lease === undefined || lease.units === 0 || lease.untilMs <= Date.now()) return false;
    lease.units -= 1;
    return true;
  }

  /** Requests of the same moment share a call. */
  #renew(userId: UserId, policy: RateLimitPolicy, room: number): Promise<Lease> {
    const atOnce = Math.max(Math.floor(this.#quotas[policy] / LEASED_PART), this.#waiting.get(policy) ?? 0);
    const renewal = this.#lease(userId, policy, Math.min(room, atOnce)).finally(() => this.#renewals.delete(policy));
    this.#renewals.set(policy, renewal);
    return renewal;
  }

  async #lease(userId: UserId, policy: RateLimitPolicy, units: number): Promise<Lease> {
    const lease = await this.#leased(userId, { credential: this.#credential, policy, units });
    this.#leases.set(policy, { units: lease.units, untilMs: Date.now() + LEASE_MS });
    return lease;
  }

  /** A budget that cannot be read limits nothing: each credential still has its own limit. */
  async #leased(userId: UserId, request: LeaseRequest): Promise<Lease> {
    const { policy, units } = request;
    try {
      // The types of the platform lose those of a structural interface.
      const holder = this.#env.PERSON.getByName(userObjectName(userId)) as unknown as BudgetHolder;
      return await holder.leaseRequests(request);
    } catch (error) {
      console.error(JSON.stringify({ event: 'user-budget-unavailable', userId, error: errorText(error) }));
      return { units, limit: { policy, quota: this.#quotas[policy], remaining: 0, resetSeconds: 1 } };
    }
  }

  #wait(policy: RateLimitPolicy, change: 1 | -1): void {
    this.#waiting.set(policy, (this.#waiting.get(policy) ?? 0) + change);
  }
}
