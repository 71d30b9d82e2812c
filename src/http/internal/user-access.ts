import * as z from 'zod';
import type { UserProfile } from '#domain/access/access-token.ts';
import type { HttpContext } from '#http/encode/context.ts';
import type { OperatorInput } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { callObject } from '#http/edge/object-call.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import { withUser } from '#http/internal/user-path.ts';
import { credentialOf, credentialSchema, credentialsOf } from '#http/session/credentials.ts';
import type { RequestedAct } from '#objects/person/access-storage.ts';
import { personStub } from '#objects/person/stub.ts';

/**
 * What an operator does when a credential is stolen or a person leaves. These commands only take
 * access, and give back what they took, so they need no quorum.
 */

const credentialListSchema = z
  .strictObject({
    disabled: z.boolean().meta({ description: 'True while no credential of the user is accepted' }),
    data: z.array(credentialSchema),
    nextCursor: z.null().meta({ description: 'A user has at most 50 tokens and 50 sessions' }),
  })
  .meta({ id: 'CredentialList' });

const userAccessSchema = z
  .strictObject({
    userId: z.string(),
    disabled: z.boolean(),
    pendingVaultIds: z.array(z.int()).meta({
      description: 'Vaults that have not recorded it yet, because they do not respond; they are informed later',
    }),
  })
  .meta({ id: 'UserAccess' });

type UserPath = OperatorInput<{ params: 'userId' }>;

/** GET /internal/user/{userId}/credential: returns the tokens and open sessions of a user. */
export const listCredentials = route({
  method: 'GET',
  path: '/internal/user/:userId/credential',
  access: 'service',
  scope: 'people',
  summary: 'List the tokens and sessions of a user, newest first',
  answer: { status: 200, schema: credentialListSchema },
  refuses: ['user-not-found'],
  handle: (context: HttpContext, { params: { userId } }: UserPath) =>
    withUser(context, userId, async (user) => {
      const disabled = await callObject(
        () => personStub(context.env, user.id),
        (person) => person.isDisabled(),
      );
      return context.json({ disabled, data: await credentialsOf(context, user.id, null), nextCursor: null });
    }),
});

/**
 * DELETE /internal/user/{userId}/credential/{id}: ends a token or a session of a user permanently.
 * The approvals that it carried without a device signature stop counting on what is undecided.
 */
export const endCredential = route({
  method: 'DELETE',
  path: '/internal/user/:userId/credential/:id',
  access: 'service',
  scope: 'people',
  summary: 'End a token or a session of a user',
  answer: { status: 200, schema: userAccessSchema },
  refuses: ['user-not-found', 'credential-not-found'],
  handle: (context: HttpContext, { params: { userId, id } }: OperatorInput<{ params: 'userId' | 'id' }>) =>
    withUser(context, userId, async (user) => {
      const known = id === null ? null : await credentialOf(context, { userId: user.id, id }, null);
      if (id === null || known === null) return refusalProblem(context, { code: 'credential-not-found' });
      return acted(context, user, { kind: 'end-credential', tokenId: id });
    }),
});

/**
 * POST /internal/user/{userId}/disable: stops a user. When the response arrives, every session of
 * the user has ended and no token is accepted, and the approvals of the user on what is undecided
 * no longer count. A repeated request changes nothing.
 */
export const disableUser = route({
  method: 'POST',
  path: '/internal/user/:userId/disable',
  access: 'service',
  scope: 'people',
  summary: 'Disable a user',
  answer: { status: 200, schema: userAccessSchema },
  refuses: ['user-not-found'],
  handle: (context: HttpContext, { params: { userId } }: UserPath) =>
    withUser(context, userId, (user) => acted(context, user, { kind: 'disable-user' })),
});

/**
 * POST /internal/user/{userId}/enable: ends the disabling of a user. The tokens are accepted as
 * before. The sessions have ended, and approvals do not come back. A repeated request changes
 * nothing.
 */
export const enableUser = route({
  method: 'POST',
  path: '/internal/user/:userId/enable',
  access: 'service',
  scope: 'people',
  summary: 'Enable a disabled user',
  answer: { status: 200, schema: userAccessSchema },
  refuses: ['user-not-found'],
  handle: (context: HttpContext, { params: { userId } }: UserPath) =>
    withUser(context, userId, (user) => acted(context, user, { kind: 'enable-user' })),
});

async function acted(context: HttpContext, user: UserProfile, act: RequestedAct): Promise<Response> {
  const access = await callObject(
    () => personStub(context.env, user.id),
    (person) => person.actOnAccess(user.id, act, context.get('serviceKey')),
  );
  const { isDisabled: disabled, pendingVaultIds } = access;
  return context.json({ userId: user.id, disabled, pendingVaultIds });
}
