import type { HttpContext } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { issueToken } from '#http/personal-access-token/issue.ts';
import { newTokenBody } from '#http/personal-access-token/token-body.ts';
import { issuedTokenSchema } from '#http/personal-access-token/record.ts';

/**
 * POST /session/access-token: issues an access token to the logged-in user. The dashboard calls it;
 * an access token cannot create another one. Only this response contains the value. When the
 * response is lost, create another token and delete this one.
 */
export const createOwnToken = route({
  method: 'POST',
  path: '/session/access-token',
  access: 'token-secret',
  sessionOnly: true,
  summary: 'Issue a token',
  body: newTokenBody,
  answer: { status: 201, schema: issuedTokenSchema },
  refuses: ['user-disabled', 'too-many-access-tokens'],
  handle: (context: HttpContext, { body }: Input<{ body: typeof newTokenBody }>) => issueToken(context, body),
});
