import type { HttpContext } from '#http/encode/context.ts';
import { withOwnToken } from '#http/personal-access-token/own-token.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { accessTokenRecord, accessTokenSchema } from '#http/personal-access-token/record.ts';

/**
 * GET /personal-access-token/{id}: returns the name, the dates and the status of an access token.
 */
export const readAccessToken = route({
  method: 'GET',
  path: '/personal-access-token/:id',
  access: 'token-read',
  summary: 'Read an access token',
  answer: { status: 200, schema: accessTokenSchema },
  refuses: ['access-token-not-found'],
  handle: (context: HttpContext, { params }: Input<{ params: 'id' }>) =>
    withOwnToken(
      context,
      params.id,
      async (stub, { userId }) => stub.read(userId),
      (token) => context.json(accessTokenRecord(token)),
    ),
});
