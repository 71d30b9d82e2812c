import { rotationSeed, valueOf } from '#http/edge/credential-value.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { clientOf } from '#http/encode/context.ts';
import { idempotencyOf, malformedKey } from '#http/edge/idempotency.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { MANAGEMENT_REFUSALS, withOwnToken } from '#http/personal-access-token/own-token.ts';
import { accessTokenRecord, rotatedTokenSchema } from '#http/personal-access-token/record.ts';
import { invalidRequest } from '#http/edge/request-check.ts';

/** A key of a rotation is a secret: it gives the new value to a holder of the old one. */
const MIN_KEY_LENGTH = 20;

/**
 * POST /personal-access-token/{id}/rotate: gives an access token a new value, which only this
 * response contains. The value before it works for five more minutes and manages nothing. A caller
 * that loses this response repeats the request with the same Idempotency-Key in that time, also
 * with the value before it, and gets the same new value.
 */
export const rotateAccessToken = route({
  method: 'POST',
  path: '/personal-access-token/:id/rotate',
  access: 'token-secret',
  scope: 'own',
  summary: 'Rotate a token; the old value is accepted for five more minutes',
  answer: { status: 200, schema: rotatedTokenSchema },
  refuses: [...MANAGEMENT_REFUSALS, 'access-token-inactive'],
  handle: rotate,
});

async function rotate(context: HttpContext, { params: { id } }: Input<{ params: 'id' }>): Promise<Response> {
  const idempotency = idempotencyOf(context);
  if (idempotency === 'malformed') return malformedKey(context);
  if (idempotency !== null && idempotency.key.length < MIN_KEY_LENGTH) {
    const detail = `Must be random, with at least ${MIN_KEY_LENGTH} characters: it gives access to the new value.`;
    return invalidRequest(context, [{ pointer: 'Idempotency-Key', code: 'too-short', detail }]);
  }
  const seed = rotationSeed(id, idempotency?.key ?? null, context.env.TOKEN_MAC_KEY);
  return withOwnToken(
    context,
    id,
    async (stub, owner) => stub.rotate(owner, seed, clientOf(context).address),
    ({ view, secret }) => {
      const value = valueOf('access-token', { id, secret }, context.env.TOKEN_MAC_KEY);
      return context.json({ ...accessTokenRecord(view), token: value }, 200, { 'cache-control': 'no-store' });
    },
  );
}
