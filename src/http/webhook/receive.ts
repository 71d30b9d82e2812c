import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import * as z from 'zod';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import type { HttpContext } from '#http/edge/context.ts';
import { route } from '#http/edge/context.ts';
import { ObjectUnavailable } from '#http/edge/object-call.ts';
import { problem } from '#http/encode/problem.ts';
import { MAX_DELIVERY_BYTES, rawBody } from '#http/webhook/raw-body.ts';
import { verifyDelivery, monitorOf } from '#monitors/endpoint.ts';
import type { Delivery } from '#monitors/monitor.ts';
import { insertDelivery } from '#store/deliveries.ts';

const receivedSchema = z.strictObject({ received: z.literal(true) }).meta({ id: 'Received' });

/**
 * POST /webhook/{provider}/{endpointId}: receives activity that a monitor reports. The signature of
 * the raw bytes is verified before they are parsed. The delivery is then stored, queued and
 * acknowledged. Its content is processed afterwards, so an event of an unknown kind, an unknown
 * address and a repetition also give 200.
 *
 * Refuses, in order: `body-too-large` (also for a body that cannot be decompressed),
 * `webhook-refused` (an unknown endpoint or provider, and a missing, wrong or expired signature get
 * the same response), `quota-exceeded` for an address that sends too many of these, `unavailable`
 * when the delivery could not be stored.
 */
export const receiveWebhook = route({
  method: 'POST',
  path: '/webhook/:provider/:endpointId',
  access: 'monitor',
  summary: 'Receive activity from a monitor',
  answer: { status: 200, schema: receivedSchema },
  refuses: ['body-too-large', 'webhook-refused'],
  handle: receive,
});

async function receive(context: HttpContext): Promise<Response> {
  const body = await rawBody(context.req.raw);
  if (body === null) {
    const detail = `A delivery can have at most ${MAX_DELIVERY_BYTES} bytes, compressed and decompressed.`;
    return problem(context, 'body-too-large', { detail });
  }
  const delivery: Delivery = { body, header: (name) => context.req.header(name) ?? null };
  const endpoint = { provider: context.req.param('provider') ?? '', endpointId: context.req.param('endpointId') ?? '' };
  const nowMs = Date.now();
  if (!verifyDelivery(context.env.WEBHOOK_ENDPOINTS, endpoint, delivery, nowMs)) return refuse(context);
  const id = deliveryIdOf(endpoint, delivery);
  try {
    const kept = { id, ...endpoint, body: new TextDecoder().decode(body), receivedAtMs: nowMs };
    const isOpen = await insertDelivery(context.env.DB, kept);
    if (isOpen) await context.env.ACTIVITY_QUEUE.send({ deliveryId: id });
  } catch (error) {
    // The monitor sends the delivery again. The periodic sweep also finds a delivery that was
    // stored.
    throw new ObjectUnavailable('a delivery could not be stored', { cause: error });
  }
  return context.json({ received: true });
}

/**
 * Returns the id of a delivery, which is the same for every repetition. It covers the monitor's own
 * name of the delivery and its bytes: activity must not be lost when a monitor uses a name twice,
 * nor when it sends the same bytes again because a block was replaced.
 */
function deliveryIdOf(
  { provider, endpointId }: { readonly provider: string; readonly endpointId: string },
  { body, header }: Delivery,
): string {
  const nameHeader = monitorOf(provider)?.idHeader;
  const bytes = canonicalBytes('conclave/delivery/v1', [
    ['provider', provider],
    ['endpointId', endpointId],
    ['name', nameHeader === undefined ? null : header(nameHeader)],
    ['body', bytesToHex(sha256(body))],
  ]);
  return bytesToHex(sha256(bytes));
}

/**
 * Refuses a delivery. Refusals count against the address, because guessing must not be free; valid
 * deliveries are never limited.
 */
async function refuse(context: HttpContext): Promise<Response> {
  const { success } = await context.env.SHIELD.limit({ key: context.req.header('cf-connecting-ip') ?? 'local' });
  if (success)
    return problem(context, 'webhook-refused', {
      detail: 'The delivery was not accepted. Check the endpoint and its signature.',
    });
  const headers = { 'retry-after': '60' };
  return problem(context, 'quota-exceeded', {
    detail: 'Too many deliveries were not accepted.',
    headers,
  });
}
