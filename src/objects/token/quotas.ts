import * as z from 'zod';
import type { LimitedCredential, RateLimitPolicy } from '#domain/access/rate-limit.ts';
import { DEFAULT_QUOTAS, RATE_LIMIT_POLICIES, SESSION_QUOTAS } from '#domain/access/rate-limit.ts';
import { parseJsonSetting } from '#domain/json/json-setting.ts';

/** Requests in each window of one credential. */
export type Quotas = Readonly<Record<RateLimitPolicy, number>>;

/** The state of one limit after a request, for the RateLimit headers. */
export interface LimitState {
  readonly policy: RateLimitPolicy;
  readonly quota: number;
  readonly remaining: number;
  readonly resetSeconds: number;
}

/** The prefix of session quotas in the setting: `session-read`. */
const SESSION_PREFIX = 'session-';

const quotasSetting = z.record(z.string(), z.unknown());

/**
 * Returns the quotas of a credential: the defaults, overridden by the setting. Throws for a setting
 * with an unknown name or a number that is not positive and whole.
 *
 * @param setting the RATE_LIMITS setting
 */
export function quotasFrom(credential: LimitedCredential, setting: string | undefined): Quotas {
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
