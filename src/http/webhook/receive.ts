import { bytesToHex } from '@noble/hashes/utils.js';
import * as z from 'zod';
import { canonicalBytes } from '#domain/canonical/bytes.ts';
import { limitByAddress } from '#http/edge/address-limit.ts';
import type { HttpContext } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { ObjectUnavailable } from '#http/edge/object-call.ts';
import { utf8TextOf } from '#http/edge/body/utf8-text.ts';
import { problem } from '#http/encode/problem.ts';
import { MAX_DELIVERY_BYTES, rawBody } from '#http/webhook/raw-body.ts';
import { checkHeaders, monitorOf, readDelivery } from '#monitors/endpoint.ts';
import type { HeaderOf } from '#monitors/monitor.ts';
import { delaySecondsTo, insertDelivery } from '#store/deliveries.ts';

const receivedSchema = z.strictObject({ received: z.literal(true) }).meta({ id: 'Received' });

/**
 * POST /webhook/{provider}/{endpointId}: receives activity that a monitor reports. The signature of
 * the raw bytes is verified before they are parsed. The hints in the delivery are counted. It is
 * then stored, queued and acknowledged. Its content is processed afterwards, so an event of an
 * unknown kind, an unknown address and a repetition also give 200.
 *
 * Refuses, in order: `webhook-refused` before the body is read (an unknown endpoint or provider,
 * and headers without a possible signature of now), `body-too-large` (also for a body that cannot
 * be decompressed), `webhook-refused` for a wrong signature, `invalid-request` for a signed body
 * that is not UTF-8, `quota-exceeded` for a long delivery of an endpoint with too many open parts,
 * `unavailable` when the delivery could not be stored. Nothing of a refused delivery is stored, and
 * monitors deliver again after an answer other than 2xx. All refusals without a valid signature
 * count against the address, which gets `quota-exceeded` in their place when it has too many.
 *
 * A valid delivery is never limited by its address, and a short one is never refused: above the
 * budget of its endpoint it is stored and read later. An address that was refused too often is
 * therefore not refused before its body is read: monitors share addresses with all customers of
 * their provider, so any of these customers could cut off the monitor for as long as it likes, and
 * no repetition would help.
 * What a refused body costs is bounded in its place.
 */
export const receiveWebhook = route({
  method: 'POST',
  path: '/webhook/:provider/:endpointId',
  access: 'monitor',
  summary: 'Receive activity from a monitor',
  answer: { status: 200, schema: receivedSchema },
  refuses: ['body-too-large', 'webhook-refused', 'invalid-request'],
  handle: receive,
});

async function receive(
  context: HttpContext,
  { params: endpoint }: Input<{ params: 'provider' | 'endpointId' }>,
): Promise<Response> {
  const header: HeaderOf = (name) => context.req.header(name) ?? null;
  const nowMs = Date.now();
  const isAuthentic = checkHeaders(context.env.WEBHOOK_ENDPOINTS, endpoint, header, nowMs);
  if (isAuthentic === null) return refuse(context, 'webhook-refused');
  const body = await rawBody(context.req.raw);
  if (body === null) return refuse(context, 'body-too-large');
  if (!(await isAuthentic(body))) return refuse(context, 'webhook-refused');
  const text = utf8TextOf(body);
  if (text === null) return problem(context, 'invalid-request', { detail: 'A delivery must be UTF-8.' });
  const id = await deliveryIdOf(endpoint, header, body);
  try {
    const { hints } = readDelivery(endpoint.provider, text);
    const delivery = { id, ...endpoint, body: text, receivedAtMs: nowMs, hints: hints.length };
    const stored = await insertDelivery(context.env.DB, delivery);
    if (stored.state === 'refused') {
      const headers = { 'retry-after': String(PARTS_RETRY_SECONDS) };
      return problem(context, 'quota-exceeded', { detail: TOO_MANY_PARTS, headers });
    }
    if (stored.state === 'open') {
      const delaySeconds = delaySecondsTo(stored.dueAtMs, nowMs);
      await context.env.ACTIVITY_QUEUE.send({ deliveryId: id, dueAtMs: stored.dueAtMs }, { delaySeconds });
    }
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
async function deliveryIdOf(
  { provider, endpointId }: { readonly provider: string; readonly endpointId: string },
  header: HeaderOf,
  body: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const nameHeader = monitorOf(provider)?.idHeader;
  const bytes = canonicalBytes('conclave/delivery/v1', [
    ['provider', provider],
    ['endpointId', endpointId],
    ['name', nameHeader === undefined ? null : header(nameHeader)],
    ['body', await sha256HexOf(body)],
  ]);
  return sha256HexOf(Uint8Array.from(bytes));
}

async function sha256HexOf(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return bytesToHex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}

/** Ours. Five minutes later the endpoint has room for 120 more parts. */
const PARTS_RETRY_SECONDS = 300;
const TOO_MANY_PARTS = 'Too many reported transactions of this endpoint wait to be read. Deliver again later.';

const REFUSALS = {
  'webhook-refused': 'The delivery was not accepted. Check the endpoint and its signature.',
  'body-too-large': `A delivery can have at most ${MAX_DELIVERY_BYTES} bytes, compressed and decompressed.`,
} as const;

/**
 * Refuses a delivery without a valid signature. It counts against the address, because guessing
 * must not be free.
 */
async function refuse(context: HttpContext, code: keyof typeof REFUSALS): Promise<Response> {
  return (await limitByAddress(context)) ?? problem(context, code, { detail: REFUSALS[code] });
}
