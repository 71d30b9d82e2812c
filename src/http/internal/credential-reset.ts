import type { HttpContext } from '#http/encode/context.ts';
import { randomBytes } from '@noble/hashes/utils.js';
import * as z from 'zod';
import { newCredentialResetId } from '#domain/id.ts';
import type { OperatorInput } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { credentialResetRecord, credentialResetSchema } from '#http/encode/credential-reset.ts';
import { issuedSessionSchema, issueSession } from '#http/internal/session.ts';
import { withReset, withUser } from '#http/internal/user-path.ts';
import { callObject } from '#http/edge/object-call.ts';
import { issueGranted } from '#http/personal-access-token/issue.ts';
import { newTokenBody } from '#http/personal-access-token/token-body.ts';
import { issuedTokenSchema } from '#http/personal-access-token/record.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import { personStub } from '#objects/person/stub.ts';

const COLLECTION_REFUSALS = [
  'user-not-found',
  'user-disabled',
  'credential-reset-not-found',
  'credential-reset-not-pending',
  'credential-reset-not-ready',
] as const;

/**
 * POST /internal/user/{userId}/credential-reset: requests another credential for a user on behalf
 * of the operator. Every member of every vault of the user is notified, and no credential is issued
 * before the delay has passed. Responds with 201, or with 200 and the reset that is already open: a
 * second request neither restarts nor shortens the delay.
 */
export const requestCredentialReset = route({
  method: 'POST',
  path: '/internal/user/:userId/credential-reset',
  access: 'service',
  scope: 'people',
  summary: 'Request a credential reset, which takes effect after a delay',
  answer: { status: 201, schema: credentialResetSchema },
  refuses: ['user-not-found', 'too-many-credential-resets'],
  handle: (context: HttpContext, { params }: OperatorInput<{ params: 'userId' }>) =>
    withUser(context, params.userId, async (user) => {
      const id = newCredentialResetId(Date.now(), randomBytes(10));
      const requested = await callObject(
        () => personStub(context.env, user.id),
        (person) => person.requestReset({ id, userId: user.id, userName: user.name }),
      );
      if (!requested.ok) return refusalProblem(context, requested.refusal);
      const { reset, isNew } = requested.value;
      return context.json(credentialResetRecord(reset), isNew ? 201 : 200);
    }),
});

const credentialsSchema = z
  .strictObject({
    enrolment: z.enum(['open', 'issued', 'over']).meta({
      description:
        'open: no credential was issued. issued: the first credential can be issued again until the user uses it. ' +
        'over: another credential requires a credential reset.',
    }),
    data: z.array(credentialResetSchema),
    nextCursor: z
      .null()
      .meta({ description: 'Only the newest resets are listed; the history of each vault contains the others' }),
  })
  .meta({ id: 'Credentials' });

/** GET /internal/user/{userId}/credential-reset: returns how the user can get a credential now. */
export const readCredentialResets = route({
  method: 'GET',
  path: '/internal/user/:userId/credential-reset',
  access: 'service',
  scope: 'people',
  summary: 'Read the enrolment and the credential resets of a user',
  answer: { status: 200, schema: credentialsSchema },
  refuses: ['user-not-found'],
  handle: (context: HttpContext, { params }: OperatorInput<{ params: 'userId' }>) =>
    withUser(context, params.userId, async (user) => {
      const person = () => personStub(context.env, user.id);
      const enrolment = await callObject(person, (stub) => stub.enrolment());
      const resets = await callObject(person, (stub) => stub.resets());
      return context.json({ enrolment, data: resets.map(credentialResetRecord), nextCursor: null });
    }),
});

/** The parameters in the path of a credential reset. */
type ResetPath = 'userId' | 'resetId';

/**
 * POST /internal/user/{userId}/credential-reset/{resetId}/access-token: issues an access token to
 * the user after the delay. When the response is lost, repeat the request: until the user has used
 * the token, another one replaces it.
 */
export const issueResetToken = route({
  method: 'POST',
  path: '/internal/user/:userId/credential-reset/:resetId/access-token',
  access: 'service',
  scope: 'people',
  summary: 'Issue a token to a user after the delay of a credential reset',
  body: newTokenBody,
  answer: { status: 201, schema: issuedTokenSchema },
  refuses: [...COLLECTION_REFUSALS, 'too-many-access-tokens'],
  handle: (context: HttpContext, { params, body }: OperatorInput<{ params: ResetPath; body: typeof newTokenBody }>) =>
    withReset(context, params, (user, grant) => issueGranted(context, { user, grant }, body)),
});

/**
 * POST /internal/user/{userId}/credential-reset/{resetId}/session: issues a session to the user
 * after the delay, by the rules of the access token.
 */
export const issueResetSession = route({
  method: 'POST',
  path: '/internal/user/:userId/credential-reset/:resetId/session',
  access: 'service',
  scope: 'people',
  summary: 'Issue a session to a user after the delay of a credential reset',
  answer: { status: 201, schema: issuedSessionSchema },
  refuses: COLLECTION_REFUSALS,
  handle: (context: HttpContext, { params }: OperatorInput<{ params: ResetPath }>) =>
    withReset(context, params, (user, grant) => issueSession(context, { user, grant })),
});

/**
 * POST /internal/user/{userId}/credential-reset/{resetId}/identity: lets the user log in with
 * another identity after the delay, by the verified e-mail address. It serves a user who has lost
 * the account at the identity provider or has a new one.
 */
export const releaseIdentity = route({
  method: 'POST',
  path: '/internal/user/:userId/credential-reset/:resetId/identity',
  access: 'service',
  scope: 'people',
  summary: 'Allow a user to log in with another identity after the delay of a credential reset',
  answer: { status: 204, schema: null },
  refuses: COLLECTION_REFUSALS,
  handle: (context: HttpContext, { params }: OperatorInput<{ params: ResetPath }>) =>
    withReset(context, params, async (user, id) => {
      const released = await callObject(
        () => personStub(context.env, user.id),
        (person) => person.releaseIdentity(id, user.id),
      );
      return released.ok ? context.body(null, 204) : refusalProblem(context, released.refusal);
    }),
});
