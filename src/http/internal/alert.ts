import * as z from 'zod';
import type { HttpContext } from '#http/encode/context.ts';
import { problem } from '#http/encode/problem.ts';
import { rfc3339, rfc3339OrNull } from '#http/encode/rfc3339.ts';
import type { OperatorInput } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { acknowledgeAlert } from '#store/operations/alerts.ts';

const acknowledgementBody = z.strictObject({ id: z.string().min(1).max(400) });

const alertSchema = z
  .strictObject({
    id: z.string(),
    code: z.string(),
    detail: z.string(),
    since: z.iso.datetime(),
    acknowledgedAt: z.iso.datetime().nullable(),
  })
  .meta({ id: 'Alert' });

/**
 * POST /internal/alert/acknowledge: records that an operator takes an open alert over. The receiver
 * of alerts gets that once. A repeated request changes nothing.
 */
export const acknowledge = route({
  method: 'POST',
  path: '/internal/alert/acknowledge',
  access: 'service',
  scope: 'status',
  summary: 'Acknowledge an open alert',
  body: acknowledgementBody,
  answer: { status: 200, schema: alertSchema },
  refuses: ['alert-not-open'],
  handle: async (context: HttpContext, { body }: OperatorInput<{ body: typeof acknowledgementBody }>) => {
    const alert = await acknowledgeAlert(context.env.DB, body.id, Date.now());
    if (alert === null) return problem(context, 'alert-not-open');
    const { id, code, detail, openedAtMs, acknowledgedAtMs } = alert;
    return context.json({
      id,
      code,
      detail,
      since: rfc3339(openedAtMs),
      acknowledgedAt: rfc3339OrNull(acknowledgedAtMs),
    });
  },
});
