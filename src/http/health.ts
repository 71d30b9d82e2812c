import * as z from 'zod';
import { route } from '#http/edge/context.ts';

/** GET /health (ours): the Worker answers. It asks nothing behind it, so it is no way to make load. */
export const health = route({
  method: 'GET',
  path: '/health',
  access: 'anyone',
  summary: 'Check that the service is available',
  answer: { status: 200, schema: z.strictObject({ status: z.literal('ok') }).meta({ id: 'Health' }) },
  refuses: [],
  handle: (context) => context.json({ status: 'ok' }),
});
