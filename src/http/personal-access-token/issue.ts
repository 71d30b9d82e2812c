import * as z from 'zod';
import type { UserProfile } from '#domain/access-token.ts';
import type { HttpContext } from '#http/context.ts';
import { newSecret, newTokenId } from '#http/credential-value.ts';
import { askObject } from '#http/object-call.ts';
import { tokenObject } from '#http/personal-access-token/own-token.ts';
import { accessTokenRecord } from '#http/personal-access-token/record.ts';
import { tokenExpiry, tokenName } from '#http/personal-access-token/token-body.ts';
import { problem } from '#http/problem.ts';
import { enterAccessToken, tokenCount } from '#store/access-tokens.ts';

/** Spec part 4: a name, and an expiry or none. */
export const newTokenBody = z.strictObject({ name: tokenName, expiresAt: tokenExpiry.nullish() });

/** A list asks the object of each, and nobody oversees more. */
const MOST_TOKENS = 50;

/** Issues a token to a person. Its value is in this answer and nowhere else. Refuses `too-many-access-tokens`. */
export async function issueToken(
  context: HttpContext,
  user: UserProfile,
  { name, expiresAt }: z.infer<typeof newTokenBody>,
): Promise<Response> {
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
  return context.json({ ...accessTokenRecord(token), userId: user.id, token: value }, 201, {
    'cache-control': 'no-store',
  });
}
