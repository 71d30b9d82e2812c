import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import * as z from 'zod';
import type { HttpContext } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { problem } from '#http/encode/problem.ts';
import { subscriptionRecord, subscriptionSchema } from '#http/push-subscription/record.ts';
import { invalidRequest } from '#http/edge/request-check.ts';
import { isPushService, pushSettings } from '#notifications/push/settings.ts';
import { upsertSubscription, subscriptionsOf } from '#store/notifications/push-subscriptions.ts';

/** The result of `PushSubscription.toJSON()` in a browser. */
const subscriptionBody = z
  .strictObject({
    endpoint: z.url().max(1024),
    expirationTime: z.number().nullish(),
    keys: z.strictObject({
      p256dh: z.string().regex(/^B[A-Za-z0-9_-]{86}=?$/, 'Must be an uncompressed P-256 point in base64url.'),
      auth: z.string().regex(/^[A-Za-z0-9_-]{22}(==)?$/, 'Must be 16 bytes in base64url.'),
    }),
  })
  .meta({
    examples: [
      {
        endpoint: 'https://fcm.googleapis.com/fcm/send/of-this-browser',
        expirationTime: null,
        keys: {
          p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
          auth: 'BTBZMqHH6r4Tts7J_aSIgg',
        },
      },
    ],
  });

/** No user needs notifications in more browsers. */
const MAX_SUBSCRIPTIONS = 10;

/**
 * POST /push-subscription: notifies the caller in one more browser. A repeated request of the same
 * browser gives the same subscription, which belongs to the user who subscribed last.
 *
 * The endpoint of an unknown push service is `invalid-request`.
 */
export const subscribe = route({
  method: 'POST',
  path: '/push-subscription',
  access: 'write',
  scope: 'create',
  summary: 'Add a push subscription',
  body: subscriptionBody,
  answer: { status: 201, schema: subscriptionSchema },
  refuses: ['push-not-configured', 'too-many-push-subscriptions'],
  handle: enter,
});

async function enter(
  context: HttpContext,
  { body: { endpoint, keys } }: Input<{ body: typeof subscriptionBody }>,
): Promise<Response> {
  const settings = pushSettings(context.env.WEB_PUSH);
  if (settings === null) {
    return problem(context, 'push-not-configured');
  }
  if (!isPushService(settings, endpoint)) {
    const detail = 'Must be an endpoint of a known push service.';
    return invalidRequest(context, [{ pointer: '/endpoint', code: 'invalid', detail }]);
  }
  const { user } = context.get('caller');
  const id = bytesToHex(sha256(utf8ToBytes(endpoint)));
  const own = await subscriptionsOf(context.env.DB, user.id);
  const before = own.find((one) => one.id === id);
  if (before === undefined && own.length >= MAX_SUBSCRIPTIONS) {
    const detail = `A user can have at most ${MAX_SUBSCRIPTIONS} push subscriptions. Remove one first.`;
    return problem(context, 'too-many-push-subscriptions', { detail });
  }
  const { p256dh, auth } = keys;
  const row = { id, userId: user.id, endpoint, p256dh, auth, createdAtMs: before?.createdAtMs ?? Date.now() };
  await upsertSubscription(context.env.DB, row);
  return context.json(subscriptionRecord(row), 201);
}
