import * as z from 'zod';
import { newTokenValue } from '#http/access-token-value.ts';
import type { HttpContext, Route } from '#http/context.ts';
import { askObject } from '#http/object-call.ts';
import { plainText } from '#http/plain-text.ts';
import { problem } from '#http/problem.ts';
import { check, jsonBody } from '#http/request-check.ts';
import { enterAccessToken } from '#store/access-tokens.ts';
import { findUser } from '#store/users.ts';

const tokenBody = z.strictObject({
  name: plainText(100).refine((name) => name.trim() !== '', 'is not empty'),
  expiresAt: z.int().positive().nullish(),
});

/**
 * POST /internal/user/{userId}/access-token (ours): issues a token. Its value is in this answer and nowhere else; when the
 * answer is lost, issue another one and delete this one.
 */
export const createAccessToken: Route = {
  method: 'POST',
  path: '/internal/user/:userId/access-token',
  access: 'service',
  checks: [...jsonBody, check('json', tokenBody)],
  handle: issue,
};

async function issue(context: HttpContext): Promise<Response> {
  const { name, expiresAt: expiry } = tokenBody.parse(await context.req.json());
  const user = await findUser(context.env.DB, context.req.param('userId') ?? '');
  if (user === null) return problem(context, 'user-not-found', { detail: 'There is no user with this id.' });
  const { id, secretHash, value } = newTokenValue(context.env.TOKEN_MAC_KEY);
  const expiresAt = expiry ?? null;
  const token = await askObject(
    () => context.env.ACCESS_TOKEN.getByName(`token:${id}`),
    (object) => object.create({ id, user, name, expiresAt, secretHash }),
  );
  const { enabled, createdAtMs } = token;
  await enterAccessToken(context.env.DB, { id, userId: user.id, name, expiresAt, enabled, createdAtMs });
  return context.json({ id, userId: user.id, name, expiresAt, enabled, token: value }, 201);
}
