import * as z from 'zod';
import type { HttpContext } from '#http/encode/context.ts';
import { route } from '#http/edge/route.ts';
import { subscriptionRecord, subscriptionSchema } from '#http/push-subscription/record.ts';
import { pushSettings } from '#notifications/push/settings.ts';
import { subscriptionsOf } from '#store/notifications/push-subscriptions.ts';

const listSchema = z
  .strictObject({
    applicationServerKey: z
      .string()
      .nullable()
      .meta({ description: 'Key for PushManager.subscribe(); null when notifications are not configured' }),
    subscriptions: z.array(subscriptionSchema),
  })
  .meta({ id: 'PushSubscriptionList' });

/**
 * GET /push-subscription: returns the browsers in which the caller is notified, and the key that
 * another browser needs to subscribe.
 */
export const listPushSubscriptions = route({
  method: 'GET',
  path: '/push-subscription',
  access: 'read',
  summary: 'List your push subscriptions',
  answer: { status: 200, schema: listSchema },
  refuses: [],
  handle: list,
});

async function list(context: HttpContext): Promise<Response> {
  const { user } = context.get('caller');
  const subscriptions = await subscriptionsOf(context.env.DB, user.id);
  const applicationServerKey = pushSettings(context.env.WEB_PUSH)?.publicKey ?? null;
  return context.json({ applicationServerKey, subscriptions: subscriptions.map(subscriptionRecord) });
}
