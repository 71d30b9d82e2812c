import * as z from 'zod';
import type { HttpContext } from '#http/encode/context.ts';
import { route } from '#http/edge/route.ts';

/**
 * GET /health: reports that the Worker responds. It calls no other system, so it cannot be used to
 * cause load.
 */
export const health = route({
  method: 'GET',
  path: '/health',
  access: 'anyone',
  summary: 'Check that the service is available',
  answer: { status: 200, schema: z.strictObject({ status: z.literal('ok') }).meta({ id: 'Health' }) },
  refuses: [],
  handle: (context: HttpContext) => context.json({ status: 'ok' }),
});
