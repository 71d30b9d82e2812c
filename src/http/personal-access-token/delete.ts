import type { HttpContext } from '#http/encode/context.ts';
import { MANAGEMENT_REFUSALS, withOwnToken } from '#http/personal-access-token/own-token.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { markDeleted } from '#store/access-tokens.ts';

/**
 * DELETE /personal-access-token/{id}: permanently deletes an access token with all of its values.
 * Responds with 204. A repeated request gives `access-token-not-found`, as for a token that never
 * existed.
 */
export const deleteAccessToken = route({
  method: 'DELETE',
  path: '/personal-access-token/:id',
  access: 'token-secret',
  scope: 'own',
  summary: 'Delete a token',
  answer: { status: 204, schema: null },
  refuses: MANAGEMENT_REFUSALS,
  handle: (context: HttpContext, { params }: Input<{ params: 'id' }>) =>
    withOwnToken(
      context,
      params.id,
      async (stub, owner) => stub.remove(owner),
      async (token) => {
        // The object already refuses the token. If this line is not reached, lists read the object
        // and omit the token.
        await markDeleted(context.env.DB, token.id, token.updatedAtMs);
        return context.body(null, 204);
      },
    ),
});
