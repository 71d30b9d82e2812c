import * as z from 'zod';
import type { UserProfile } from '#domain/access/access-token.ts';
import type { HttpContext } from '#http/encode/context.ts';
import type { OperatorInput } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { withUser } from '#http/internal/user-path.ts';
import { callObject } from '#http/edge/object-call.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import { newSession, sessionEndsAtMs } from '#http/session/begin.ts';
import { rfc3339 } from '#http/encode/rfc3339.ts';
import { personStub } from '#objects/person/stub.ts';
import type { Grant } from '#objects/person/storage.ts';

export const issuedSessionSchema = z
  .strictObject({
    id: z.string(),
    userId: z.string(),
    cookie: z.string().meta({ description: 'Value of the Set-Cookie header, for the service that logs the user in' }),
    createdAt: z.iso.datetime(),
    endsAt: z.iso
      .datetime()
      .meta({ description: 'Latest end of the session; two hours without a request end it earlier' }),
  })
  .meta({ id: 'IssuedSession' });

/**
 * POST /internal/user/{userId}/session: issues the user's first credential as a session, for an
 * internal service that enrols users. Only this response contains its cookie. When the response is
 * lost, repeat the request: until the user has used the session, another one replaces it.
 */
export const createSession = route({
  method: 'POST',
  path: '/internal/user/:userId/session',
  access: 'service',
  scope: 'people',
  summary: 'Issue the first session of a user',
  answer: { status: 201, schema: issuedSessionSchema },
  refuses: ['user-not-found', 'user-disabled', 'credential-reset-required'],
  handle: (context: HttpContext, { params: { userId } }: OperatorInput<{ params: 'userId' }>) =>
    withUser(context, userId, (user) => issueSession(context, { user, grant: 'enrolment' })),
});

/**
 * Issues a session under a grant of the object of the user. Refuses what
 * `PersonObject.issueSession` refuses.
 */
export async function issueSession(
  context: HttpContext,
  { user, grant }: { readonly user: UserProfile; readonly grant: Grant },
): Promise<Response> {
  const { id, secretHash, cookie } = newSession(context);
  const answer = await callObject(
    () => personStub(context.env, user.id),
    (person) => person.issueSession(grant, { id, user, secretHash }),
  );
  if (!answer.ok) return refusalProblem(context, answer.refusal);
  const [createdAt, endsAt] = [rfc3339(answer.value), rfc3339(sessionEndsAtMs(answer.value))];
  return context.json({ id, userId: user.id, cookie, createdAt, endsAt }, 201);
}
