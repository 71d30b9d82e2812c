import { withOwnToken } from '#http/personal-access-token/own-token.ts';
import { route } from '#http/edge/context.ts';
import { accessTokenRecord, accessTokenSchema } from '#http/personal-access-token/record.ts';

/**
 * GET /personal-access-token/{id}: returns the name, the dates and the status of an access token.
 *
 * Refuses, in order: the credential, `invalid-request`, `access-token-not-found`.
 */
export const readAccessToken = route({
  method: 'GET',
  path: '/personal-access-token/:id',
  access: 'token-read',
  summary: 'Read an access token',
  answer: { status: 200, schema: accessTokenSchema },
  refuses: ['access-token-not-found'],
  handle: (context) =>
    withOwnToken(
      context,
      async (stub, { userId }) => stub.read(userId),
      (token) => context.json(accessTokenRecord(token)),
    ),
});
