import type { HttpContext } from '#http/edge/context.ts';
import { route } from '#http/edge/context.ts';
import { withUser } from '#http/internal/user-path.ts';
import { issueGranted, newTokenBody } from '#http/personal-access-token/issue.ts';
import { issuedTokenSchema } from '#http/personal-access-token/record.ts';

/**
 * POST /internal/user/{userId}/access-token (ours): issues the person's first credential as a token. Its value is in this answer
 * and nowhere else; when the answer is lost, ask again: until the person has used the token, another one takes its place. Every
 * later credential takes a credential reset, because a credential of each signer is a quorum where tokens approve.
 *
 * Refuses, in order: the service key, the body, `user-not-found`, `too-many-access-tokens`, `credential-reset-required`.
 */
export const createAccessToken = route({
  method: 'POST',
  path: '/internal/user/:userId/access-token',
  access: 'service',
  summary: 'Issue the first token of a user',
  body: newTokenBody,
  answer: { status: 201, schema: issuedTokenSchema },
  refuses: ['user-not-found', 'too-many-access-tokens', 'credential-reset-required'],
  handle: issue,
});

async function issue(context: HttpContext): Promise<Response> {
  const body = newTokenBody.parse(await context.req.json());
  return withUser(context, (user) => issueGranted(context, { user, grant: 'enrolment' }, body));
}
