import { newSecret } from '#http/edge/credential-value.ts';
import type { HttpContext } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { withOwnToken } from '#http/personal-access-token/own-token.ts';
import { accessTokenRecord, rotatedTokenSchema } from '#http/personal-access-token/record.ts';

/**
 * POST /personal-access-token/{id}/rotate: gives an access token a new value, which only this
 * response contains. The value before it works for five more minutes. A caller that loses this
 * response rotates again with that value.
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

function rotate(context: HttpContext, { params }: Input<{ params: 'id' }>): Promise<Response> {
  const secret = newSecret('access-token');
  return withOwnToken(
    context,
    params.id,
    async (stub, owner) => stub.rotate(owner, secret.hash),
    (token) => {
      const value = secret.valueFor(token.id, context.env.TOKEN_MAC_KEY);
      return context.json({ ...accessTokenRecord(token), token: value });
    },
  );
}
