import type { HttpContext } from '#http/context.ts';
import { route } from '#http/context.ts';
import { issueToken, newTokenBody } from '#http/personal-access-token/issue.ts';
import { issuedTokenSchema } from '#http/personal-access-token/record.ts';
import { problem } from '#http/problem.ts';
import { findUser } from '#store/users.ts';

/**
 * POST /internal/user/{userId}/access-token (ours): issues a token. Its value is in this answer and nowhere else; when the
 * answer is lost, issue another one and delete this one.
 *
 * Refuses, in order: the service key, the body, `user-not-found`, `too-many-access-tokens`.
 */
export const createAccessToken = route({
  method: 'POST',
  path: '/internal/user/:userId/access-token',
  access: 'service',
  summary: 'issues a token',
  body: newTokenBody,
  answer: { status: 201, schema: issuedTokenSchema },
  refuses: ['user-not-found', 'too-many-access-tokens'],
  handle: issue,
});

async function issue(context: HttpContext): Promise<Response> {
  const body = newTokenBody.parse(await context.req.json());
  const user = await findUser(context.env.DB, context.req.param('userId') ?? '');
  if (user === null) return problem(context, 'user-not-found', { detail: 'There is no user with this id.' });
  return issueToken(context, user, body);
}
