import type { UserProfile } from '#domain/access/access-token.ts';
import type { CredentialResetId } from '#domain/id.ts';
import type { HttpContext } from '#http/encode/context.ts';
import type { OperatorInput } from '#http/edge/route.ts';
import { problem, refusalProblem } from '#http/encode/problem.ts';
import { findUser } from '#store/users.ts';

/** Returns the response of `answer` for a user. Refuses `user-not-found`. */
export async function withUser(
  context: HttpContext,
  userId: string,
  answer: (user: UserProfile) => Promise<Response>,
): Promise<Response> {
  const user = await findUser(context.env.DB, userId);
  if (user === null) return problem(context, 'user-not-found');
  return answer(user);
}

/**
 * Returns the response of `answer` for a credential reset of a user. Refuses, in
 * order: `user-not-found`, `credential-reset-not-found`.
 */
export function withReset(
  context: HttpContext,
  { userId, resetId }: OperatorInput<{ params: 'userId' | 'resetId' }>['params'],
  answer: (user: UserProfile, id: CredentialResetId) => Promise<Response>,
): Promise<Response> {
  return withUser(context, userId, async (user) =>
    resetId === null ? refusalProblem(context, { code: 'credential-reset-not-found' }) : answer(user, resetId),
  );
}
