import type { HttpContext } from '#http/encode/context.ts';
import { route } from '#http/edge/route.ts';
import { callObject } from '#http/edge/object-call.ts';
import { tokenObject } from '#http/personal-access-token/own-token.ts';
import { accessTokenListSchema, accessTokenRecord } from '#http/personal-access-token/record.ts';
import { tokensOf } from '#store/access-tokens.ts';

/**
 * GET /personal-access-token: returns every access token of the caller that is not deleted, newest
 * first. Disabled and expired tokens are included, so that the caller can see and update them. The
 * directory lists the ids, and the object of each token returns its current state.
 */
export const listAccessTokens = route({
  method: 'GET',
  path: '/personal-access-token',
  access: 'token-read',
  summary: 'List your tokens, newest first',
  answer: { status: 200, schema: accessTokenListSchema },
  refuses: [],
  handle: list,
});

async function list(context: HttpContext): Promise<Response> {
  const { user } = context.get('caller');
  const ids = await tokensOf(context.env.DB, user.id);
  const read = await Promise.all(
    ids.map((id) =>
      callObject(
        () => tokenObject(context, id),
        (stub) => stub.read(user.id),
      ),
    ),
  );
  const tokens = read.flatMap((token) => (token.ok ? [accessTokenRecord(token.value)] : []));
  return context.json({ tokens });
}
