import type { HttpContext } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { invalidRequest } from '#http/edge/request-check.ts';
import { issueToken, newTokenBody } from '#http/personal-access-token/issue.ts';
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
  refuses: ['too-many-access-tokens'],
  handle: async (context: HttpContext, { body }: Input<{ body: typeof newTokenBody }>) => {
    if (body.expiresAt != null && body.expiresAt * 1000 <= Date.now()) {
      return invalidRequest(context, [
        { pointer: '/expiresAt', code: 'in-the-past', detail: 'Must be in the future.' },
      ]);
    }
    return issueToken(context, context.get('caller').user, body);
  },
});
