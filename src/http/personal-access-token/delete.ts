import { withOwnToken } from '#http/personal-access-token/own-token.ts';
import { route } from '#http/edge/context.ts';
import { markDeleted } from '#store/access-tokens.ts';

/**
 * DELETE /personal-access-token/{id} (spec part 4): ends a token and all of its values for good. 204; again it is
 * `access-token-not-found`, as for one that never was.
 *
 * Refuses, in order: the credential, `invalid-request`, `access-token-not-found`.
 */
export const deleteAccessToken = route({
  method: 'DELETE',
  path: '/personal-access-token/:id',
  access: 'token-secret',
  summary: 'Delete a token',
  answer: { status: 204, schema: null },
  refuses: ['access-token-not-found'],
  handle: (context) =>
    withOwnToken(
      context,
      async (stub, owner) => stub.remove(owner),
      async (token) => {
        // The object has refused it from now on. Should this line not be reached, lists ask the object and leave it out.
        await markDeleted(context.env.DB, token.id, token.updatedAtMs);
        return context.body(null, 204);
      },
    ),
});
