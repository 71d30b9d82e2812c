import { newSecret } from '#http/edge/credential-value.ts';
import type { HttpContext } from '#http/edge/context.ts';
import { route } from '#http/edge/context.ts';
import { withOwnToken } from '#http/personal-access-token/own-token.ts';
import { accessTokenRecord, rotatedTokenSchema } from '#http/personal-access-token/record.ts';

/**
 * POST /personal-access-token/{id}/rotate (spec part 4): a new value, shown in this answer and nowhere else. The one before
 * works for five more minutes; whoever loses this answer rotates again with it.
 *
 * Refuses, in order: the credential, `invalid-request`, `access-token-not-found`, `access-token-inactive`.
 */
export const rotateAccessToken = route({
  method: 'POST',
  path: '/personal-access-token/:id/rotate',
  access: 'token-secret',
  summary: 'Rotate a token; the old value is accepted for five more minutes',
  answer: { status: 200, schema: rotatedTokenSchema },
  refuses: ['access-token-not-found', 'access-token-inactive'],
  handle: rotate,
});

function rotate(context: HttpContext): Promise<Response> {
  const secret = newSecret('access-token');
  return withOwnToken(
    context,
    async (stub, owner) => stub.rotate(owner, secret.hash),
    (token) => {
      const value = secret.valueFor(token.id, context.env.TOKEN_MAC_KEY);
      return context.json({ ...accessTokenRecord(token), token: value });
    },
  );
}
