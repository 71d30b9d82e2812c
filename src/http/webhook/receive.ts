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
 * POST /webhook/{provider}/{endpointId} (spec part 6): a monitor reports activity. The raw bytes are verified before anything is read
 * in them; then they are stored and queued, and that is answered. What the delivery says is looked at afterwards, so an event of an
 * unknown kind, an address of nobody and a repetition are 200 like any other.
 *
 * Refuses, in order: `body-too-large` (also what can not be unpacked), `webhook-refused` (an unknown endpoint or provider, a signature
 * that is missing, wrong or out of its time: one answer for all), `quota-exceeded` for an address that tries that too often,
 * `unavailable` when it could not be stored.
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
    // The monitor sends it again; what was stored meanwhile is found by the sweep as well.
    throw new ObjectUnavailable('a delivery could not be stored', { cause: error });
  }
  return context.json({ received: true });
}

/**
 * The same for every repetition: by the monitor's own name for it and by its bytes. A name that was ever used twice must not lose
 * activity, and neither must the same words that are said again because a block was replaced.
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

/** Guessing must not be free; what is right is never held off. */
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
