import * as z from 'zod';
import type { TokenChange } from '#domain/access/access-token.ts';
import type { HttpContext } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { withOwnToken } from '#http/personal-access-token/own-token.ts';
import { accessTokenRecord, accessTokenSchema } from '#http/personal-access-token/record.ts';
import { expiryFault, tokenExpiry, tokenName } from '#http/personal-access-token/token-body.ts';
import { invalidRequest } from '#http/edge/request-check.ts';

const updateBody = z
  .strictObject({
    name: tokenName.optional(),
    expiresAt: tokenExpiry.nullable().optional(),
    enabled: z.boolean().optional(),
  })
  .meta({
    examples: [{ name: 'Payout script' }, { enabled: false }, { expiresAt: 1893456000, enabled: true }],
  });

/**
 * PATCH /personal-access-token/{id}: changes any of name, expiresAt (null for no expiry) and
 * enabled. The change applies to every request that begins after the response.
 *
 * A request without a change, and an expiry that `expiryFault` refuses, are `invalid-request`.
 */
export const updateAccessToken = route({
  method: 'PATCH',
  path: '/personal-access-token/:id',
  access: 'token-update',
  scope: 'own',
  summary: 'Update the name, expiry or status of a token',
  body: updateBody,
  answer: { status: 200, schema: accessTokenSchema },
  refuses: [
    'access-token-not-found',
    'access-token-superseded',
    'access-token-own-expiry',
    'access-token-beyond-own',
    'access-token-inactive',
  ],
  handle: update,
});

async function update(
  context: HttpContext,
  { params, body: { name, expiresAt, enabled } }: Input<{ params: 'id'; body: typeof updateBody }>,
): Promise<Response> {
  const change: TokenChange = {
    ...(name === undefined ? {} : { name }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(enabled === undefined ? {} : { enabled }),
  };
  if (Object.keys(change).length === 0) {
    const detail = 'Send at least one of name, expiresAt and enabled.';
    return invalidRequest(context, [{ pointer: '/', code: 'nothing-to-change', detail }]);
  }
  const fault = expiresAt === undefined ? null : expiryFault(context, expiresAt);
  if (fault !== null) return invalidRequest(context, [fault]);
  return withOwnToken(
    context,
    params.id,
    async (stub, owner) => stub.update(owner, change),
    (token) => context.json(accessTokenRecord(token)),
  );
}
