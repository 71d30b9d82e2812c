import { randomBytes } from '@noble/hashes/utils.js';
import { route } from '#http/context.ts';
import * as z from 'zod';
import { newUserId } from '#domain/id.ts';
import { userSchema } from '#http/user/profile.ts';
import { plainText } from '#http/plain-text.ts';
import { problem } from '#http/problem.ts';
import { forgetIdentities } from '#store/identities.ts';
import { enterUser, findUser } from '#store/users.ts';

const userBody = z.strictObject({
  name: plainText(100).refine((name) => name.trim() !== '', 'is not empty'),
  email: z.email().max(254),
});

/**
 * DELETE /internal/user/{userId}/identity (ours): the person logs in with another identity next time, by the verified e-mail address. For
 * whoever has lost an account at the issuer, or got a new one. Again it changes nothing.
 *
 * Refuses, in order: the service key, `user-not-found`.
 */
export const unlinkIdentity = route({
  method: 'DELETE',
  path: '/internal/user/:userId/identity',
  access: 'service',
  summary: 'lets a person log in with another identity',
  answer: { status: 204, schema: null },
  refuses: ['user-not-found'],
  handle: async (context) => {
    const user = await findUser(context.env.DB, context.req.param('userId') ?? '');
    if (user === null) return problem(context, 'user-not-found', { detail: 'There is no user with this id.' });
    await forgetIdentities(context.env.DB, user.id);
    return context.body(null, 204);
  },
});

/** POST /internal/user (ours): enters a person. 201, or 200 with the person who has this e-mail address already. */
export const createUser = route({
  method: 'POST',
  path: '/internal/user',
  access: 'service',
  summary: 'enters a person',
  body: userBody,
  answer: { status: 201, schema: userSchema },
  refuses: [],
  handle: async (context) => {
    const { name, email } = userBody.parse(await context.req.json());
    const nowMs = Date.now();
    const id = newUserId(nowMs, randomBytes(10));
    const { user, created } = await enterUser(context.env.DB, {
      id,
      name,
      email: email.toLowerCase(),
      createdAtMs: nowMs,
    });
    return context.json(user, created ? 201 : 200);
  },
});
