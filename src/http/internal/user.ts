import type { HttpContext } from '#http/encode/context.ts';
import { randomBytes } from '@noble/hashes/utils.js';
import type { OperatorInput } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import * as z from 'zod';
import { newUserId } from '#domain/id.ts';
import { userSchema } from '#http/user/profile.ts';
import { plainText } from '#http/encode/plain-text.ts';
import { callObject } from '#http/edge/object-call.ts';
import { personStub } from '#objects/person/stub.ts';
import { insertUser, findUserByEmail } from '#store/users.ts';

const userBody = z.strictObject({
  name: plainText(100).refine((name) => name.trim() !== '', 'Must not be empty.'),
  email: z.email().max(254),
  isServiceAccount: z.boolean().optional(),
});

/**
 * POST /internal/user: creates a user. Responds with 201, or with 200 and the user who already has
 * this e-mail address. An operator can add tokens to a service account later. `isServiceAccount`
 * of a user never changes.
 */
export const createUser = route({
  method: 'POST',
  path: '/internal/user',
  access: 'service',
  scope: 'people',
  summary: 'Create a user',
  body: userBody,
  answer: { status: 201, schema: userSchema },
  refuses: [],
  handle: async (context: HttpContext, { body }: OperatorInput<{ body: typeof userBody }>) => {
    const { name, email, isServiceAccount = false } = body;
    const nowMs = Date.now();
    const known = await findUserByEmail(context.env.DB, email.toLowerCase());
    if (known !== null) return context.json(known, 200);
    const id = newUserId(nowMs, randomBytes(10));
    // This precedes the entry in the directory: a user without an object counts as enrolled and
    // gets no first credential.
    await callObject(
      () => personStub(context.env, id),
      (person) => person.open({ isServiceAccount }),
    );
    const { user, created } = await insertUser(context.env.DB, {
      id,
      name,
      email: email.toLowerCase(),
      createdAtMs: nowMs,
    });
    return context.json(user, created ? 201 : 200);
  },
});
