import type { HttpContext } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { problem } from '#http/encode/problem.ts';
import { removeSubscription } from '#store/notifications/push-subscriptions.ts';

/**
 * DELETE /push-subscription/{subscriptionId}: stops the notifications in this browser.
 *
 * The subscription of another user counts as not found.
 */
export const unsubscribe = route({
  method: 'DELETE',
  path: '/push-subscription/:subscriptionId',
  access: 'write',
  scope: 'create',
  summary: 'Remove a push subscription',
  answer: { status: 204, schema: null },
  refuses: ['push-subscription-not-found'],
  handle: remove,
});

async function remove(
  context: HttpContext,
  { params: { subscriptionId } }: Input<{ params: 'subscriptionId' }>,
): Promise<Response> {
  const { user } = context.get('caller');
  const removed = await removeSubscription(context.env.DB, user.id, subscriptionId);
  if (removed) return context.body(null, 204);
  return problem(context, 'push-subscription-not-found');
}
