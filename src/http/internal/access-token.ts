import * as z from 'zod';
import { newSecret, newTokenId } from '#http/credential-value.ts';
import type { HttpContext } from '#http/context.ts';
import { route } from '#http/context.ts';
import { askObject } from '#http/object-call.ts';
import { tokenObject } from '#http/personal-access-token/own-token.ts';
import { accessTokenRecord, issuedTokenSchema } from '#http/personal-access-token/record.ts';
import { tokenExpiry, tokenName } from '#http/personal-access-token/token-body.ts';
import { problem } from '#http/problem.ts';
import { enterAccessToken, tokenCount } from '#store/access-tokens.ts';
import { findUser } from '#store/users.ts';

const tokenBody = z.strictObject({ name: tokenName, expiresAt: tokenExpiry.nullish() });

/** A list asks the object of each, and nobody oversees more. */
const MOST_TOKENS = 50;

/**
 * POST /internal/user/{userId}/access-token (ours): issues a token. Its value is in this answer and nowhere else; when the
 * answer is lost, issue another one and delete this one.
 *
 * Refuses, in order: the service key, the body, `user-not-found`, `too-many-access-tokens`.
 */
export const createAccessToken = route({
  method: 'POST',
  path: '/internal/user/:userId/access-token',
  access: 'service',
  summary: 'issues a token',
  body: tokenBody,
  answer: { status: 201, schema: issuedTokenSchema },
  refuses: ['user-not-found', 'too-many-access-tokens'],
  handle: issue,
});

async function issue(context: HttpContext): Promise<Response> {
  const { name, expiresAt } = tokenBody.parse(await context.req.json());
  const user = await findUser(context.env.DB, context.req.param('userId') ?? '');
  if (user === null) return problem(context, 'user-not-found', { detail: 'There is no user with this id.' });
  if ((await tokenCount(context.env.DB, user.id)) >= MOST_TOKENS) {
    const detail = `A person has at most ${MOST_TOKENS} tokens. Delete some first.`;
    return problem(context, 'too-many-access-tokens', { detail });
  }
  const [id, secret] = [newTokenId(), newSecret('access-token')];
  const token = await askObject(
    () => tokenObject(context, id),
    (stub) => stub.create({ id, user, name, expiresAt: expiresAt ?? null, secretHash: secret.hash }),
  );
  await enterAccessToken(context.env.DB, { id, userId: user.id, createdAtMs: token.createdAtMs });
  const value = secret.valueFor(id, context.env.TOKEN_MAC_KEY);
  return context.json({ ...accessTokenRecord(token), userId: user.id, token: value }, 201);
}
