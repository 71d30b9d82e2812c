import * as z from 'zod';
import { parseJsonSetting } from '#domain/json/json-setting.ts';
import { jsonIn } from '#domain/json/untrusted-json.ts';
import { alchemy } from '#monitors/alchemy.ts';
import { helius } from '#monitors/helius.ts';
import type { BodyCheck, HeaderOf, Monitor, Report } from '#monitors/monitor.ts';
import { moralis } from '#monitors/moralis.ts';
import { quicknode } from '#monitors/quicknode.ts';
import { EMPTY_REPORT } from '#monitors/report.ts';
import { standardWebhooks } from '#monitors/standard-webhooks.ts';

/** The monitors by the name of their provider. */
export const MONITORS = {
  alchemy,
  helius: helius.solana,
  'helius-devnet': helius['solana-devnet'],
  moralis,
  quicknode,
  'standard-webhooks': standardWebhooks,
} as const satisfies Readonly<Record<string, Monitor>>;

/**
 * The monitors of a deployment: the id in the path, the provider, and every secret that is valid
 * now.
 */
const endpointsSetting = z.record(
  z.string().regex(/^[a-z0-9-]{1,64}$/),
  z.strictObject({ provider: z.string(), secrets: z.array(z.string().min(8)).min(1).max(10) }),
);

/** Returns the monitor, or null for an unknown provider. */
export function monitorOf(provider: string): Monitor | null {
  return Object.hasOwn(MONITORS, provider) ? MONITORS[provider as keyof typeof MONITORS] : null;
}

/** Returns what a delivery reports. The signature does not prove that its text is JSON. */
export function readDelivery(provider: string, body: string): Report {
  return monitorOf(provider)?.read(jsonIn(body) ?? null) ?? { ...EMPTY_REPORT, alarm: 'there is no such monitor' };
}

/** Returns the endpoints of the setting by their id. Throws for an invalid setting. */
export function endpointsFrom(
  setting: string | undefined,
): ReadonlyMap<string, { readonly provider: string; readonly secrets: readonly string[] }> {
  const parsed = endpointsSetting.safeParse(setting ? parseJsonSetting('WEBHOOK_ENDPOINTS', setting) : {});
  if (parsed.success) return new Map(Object.entries(parsed.data));
  throw new Error(`WEBHOOK_ENDPOINTS: The value of '${parsed.error.issues[0]?.path.join('.') ?? ''}' is not valid.`);
}

/** Reports whether any endpoint is configured. An invalid setting is meant to have one. */
export function hasEndpoints(setting: string | undefined): boolean {
  try {
    return endpointsFrom(setting).size > 0;
  } catch {
    return true;
  }
}

/**
 * Checks the headers of a delivery to an endpoint. Returns the check of its body. Returns null when
 * the headers cannot be of the monitor of this endpoint, without a setting, for another provider,
 * and for an unknown endpoint: all of these get the same response before the body is read. Only
 * headers that can be authentic cause more work. Its time reveals that an endpoint exists, so the
 * id of an endpoint is not a secret. Throws for an invalid setting.
 *
 * @param setting JSON of `endpointsSetting`; empty for none
 */
export function checkHeaders(
  setting: string | undefined,
  address: { readonly provider: string; readonly endpointId: string },
  header: HeaderOf,
  nowMs: number,
): BodyCheck | null {
  const endpoint = endpointsFrom(setting).get(address.endpointId);
  const monitor = monitorOf(address.provider);
  if (endpoint === undefined || monitor === null || endpoint.provider !== address.provider) return null;
  return monitor.checkHeaders(header, endpoint.secrets, nowMs);
}
