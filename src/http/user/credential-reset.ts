import * as z from 'zod';
import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { credentialResetRecord, credentialResetSchema } from '#http/encode/credential-reset.ts';
import { callObject } from '#http/edge/object-call.ts';
import { byCredential, cancelled } from '#http/vault/credential-reset/cancel.ts';
import { personStub } from '#objects/person/stub.ts';

const listSchema = z
  .strictObject({
    data: z.array(credentialResetSchema),
    nextCursor: z
      .null()
      .meta({ description: 'Only the newest resets are listed; the history of each vault contains the others' }),
  })
  .meta({ id: 'CredentialResetList' });

/** GET /user/me/credential-reset: returns the credential resets of the caller, newest first. */
export const ownCredentialResets = route({
  method: 'GET',
  path: '/user/me/credential-reset',
  access: 'user-profile',
  summary: 'List your credential resets, newest first',
  answer: { status: 200, schema: listSchema },
  refuses: [],
  handle: async (context: HttpContext) => {
    const { user } = context.get('caller');
    const resets = await callObject(
      () => personStub(context.env, user.id),
      (person) => person.resets(),
    );
    return context.json({ data: resets.map(credentialResetRecord), nextCursor: null });
  },
});

/**
 * POST /user/me/credential-reset/{resetId}/cancel: cancels a credential reset of the caller, who
 * still has a credential and needs no other one. A session cancels any number, and a token one
 * within 90 days. A repeated request gives 200 and changes nothing.
 */
export const cancelOwnCredentialReset = route({
  method: 'POST',
  path: '/user/me/credential-reset/:resetId/cancel',
  access: 'write',
  scope: 'approve',
  summary: 'Cancel one of your credential resets',
  answer: { status: 200, schema: credentialResetSchema },
  refuses: ['credential-reset-not-found', 'credential-reset-not-pending', 'reset-cancellation-used'],
  handle: async (context: HttpContext, { params: { resetId: id } }: Input<{ params: 'resetId' }>) => {
    const { userId } = actorOf(context);
    return cancelled(context, { id, userId }, byCredential(context));
  },
});
