import * as z from 'zod';
import { parseJsonSetting } from '#domain/json-setting.ts';
import { alchemy } from '#monitors/alchemy.ts';
import { helius } from '#monitors/helius.ts';
import type { Delivery, Monitor } from '#monitors/monitor.ts';
import { moralis } from '#monitors/moralis.ts';
import { quicknode } from '#monitors/quicknode.ts';
import { standardWebhooks } from '#monitors/standard-webhooks.ts';

const MONITORS: Readonly<Record<string, Monitor>> = {
  alchemy,
  helius,
  moralis,
  quicknode,
  'standard-webhooks': standardWebhooks,
};

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
  return Object.hasOwn(MONITORS, provider) ? (MONITORS[provider] ?? null) : null;
}

/**
 * Reports whether a delivery is from the monitor of this endpoint. Returns false without a setting,
 * for another provider, and for an unknown endpoint, so that a sender cannot distinguish them.
 * Throws for an invalid setting.
 *
 * @param setting JSON of `endpointsSetting`; empty for none
 */
export function verifyDelivery(
  setting: string | undefined,
  address: { readonly provider: string; readonly endpointId: string },
  delivery: Delivery,
  nowMs: number,
): boolean {
  const endpoints = new Map(
    Object.entries(setting ? endpointsSetting.parse(parseJsonSetting('WEBHOOK_ENDPOINTS', setting)) : {}),
  );
  const endpoint = endpoints.get(address.endpointId);
  const monitor = monitorOf(address.provider);
  if (endpoint === undefined || monitor === null || endpoint.provider !== address.provider) return false;
  // Every secret is tried, so the time does not reveal which one matched.
  return endpoint.secrets.filter((secret) => monitor.isAuthentic(delivery, secret, nowMs)).length > 0;
}
