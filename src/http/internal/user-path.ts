import type { UserProfile } from '#domain/access/access-token.ts';
import type { CredentialResetId } from '#domain/id.ts';
import { parseCredentialResetId } from '#domain/id.ts';
import type { HttpContext } from '#http/edge/context.ts';
import { problem, refusalProblem } from '#http/encode/problem.ts';
import { findUser } from '#store/users.ts';

/** Returns the response of `answer` for the user in the path. Refuses `user-not-found`. */
export async function withUser(
  context: HttpContext,
  answer: (user: UserProfile) => Promise<Response>,
): Promise<Response> {
  const user = await findUser(context.env.DB, context.req.param('userId') ?? '');
  if (user === null) return problem(context, 'user-not-found', { detail: 'There is no user with this id.' });
  return answer(user);
}

/**
 * Returns the response of `answer` for a credential reset of the user in the path. Refuses, in
 * order: `user-not-found`, `credential-reset-not-found`.
 */
export function withReset(
  context: HttpContext,
  answer: (user: UserProfile, id: CredentialResetId) => Promise<Response>,
): Promise<Response> {
  return withUser(context, async (user) => {
    const id = parseCredentialResetId(context.req.param('resetId') ?? '');
    return id === null ? refusalProblem(context, { code: 'credential-reset-not-found' }) : answer(user, id);
  });
}
