import * as z from 'zod';
import type { HttpContext } from '#http/encode/context.ts';
import { route } from '#http/edge/route.ts';
import { rfc3339 } from '#http/encode/rfc3339.ts';
import { listDeadLetters } from '#store/operations/dead-letters.ts';

const SHOWN = 100;

const deadLetterSchema = z
  .strictObject({
    deadLetters: z.array(z.strictObject({ id: z.string(), queue: z.string(), body: z.string(), at: z.iso.datetime() })),
  })
  .meta({ id: 'DeadLetters' });

/**
 * GET /internal/dead-letter: returns the messages that the queues have given up on, newest first.
 * The vaults keep the work as pending jobs.
 */
export const deadLetters = route({
  method: 'GET',
  path: '/internal/dead-letter',
  access: 'service',
  scope: 'status',
  summary: 'List dead letters',
  answer: { status: 200, schema: deadLetterSchema },
  refuses: [],
  handle: async (context: HttpContext) => {
    const letters = await listDeadLetters(context.env.DB, SHOWN);
    return context.json({ deadLetters: letters.map(({ atMs, ...letter }) => ({ ...letter, at: rfc3339(atMs) })) });
  },
});
