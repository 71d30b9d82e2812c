import * as z from 'zod';
import { rfc3339 } from '#http/encode/rfc3339.ts';
import type { PushSubscriptionRow } from '#store/notifications/push-subscriptions.ts';

/**
 * The record omits the keys and the endpoint of a browser, because they let their holder send
 * messages to it.
 */
export const subscriptionSchema = z
  .strictObject({
    id: z.string(),
    service: z.string().meta({ description: 'Host of the push service' }),
    createdAt: z.iso.datetime(),
  })
  .meta({ id: 'PushSubscription' });

export function subscriptionRecord({ id, endpoint, createdAtMs }: PushSubscriptionRow) {
  return { id, service: new URL(endpoint).host, createdAt: rfc3339(createdAtMs) };
}
