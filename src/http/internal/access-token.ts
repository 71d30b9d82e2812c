import type { HttpContext } from '#http/encode/context.ts';
import type { OperatorInput } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { withUser } from '#http/internal/user-path.ts';
import { issueGranted } from '#http/personal-access-token/issue.ts';
import { newTokenBody } from '#http/personal-access-token/token-body.ts';
import { issuedTokenSchema } from '#http/personal-access-token/record.ts';

/**
 * POST /internal/user/{userId}/access-token: issues the user's first credential as an access token.
 * Only this response contains its value. When the response is lost, repeat the request: until the
 * user has used the token, another one replaces it. Every later credential requires a credential
 * reset, because credentials of enough signers form a quorum in token mode.
 */
export const createAccessToken = route({
  method: 'POST',
  path: '/internal/user/:userId/access-token',
  access: 'service',
  scope: 'people',
  summary: 'Issue the first token of a user',
  body: newTokenBody,
  answer: { status: 201, schema: issuedTokenSchema },
  refuses: ['user-not-found', 'user-disabled', 'credential-reset-required', 'too-many-access-tokens'],
  handle: issue,
});

async function issue(
  context: HttpContext,
  { params: { userId }, body }: OperatorInput<{ params: 'userId'; body: typeof newTokenBody }>,
): Promise<Response> {
  return withUser(context, userId, (user) => issueGranted(context, { user, grant: 'enrolment' }, body));
}
