import * as z from 'zod';
import type { UserProfile } from '#domain/access/access-token.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { newSecret, newTokenId } from '#http/edge/credential-value.ts';
import { callObject } from '#http/edge/object-call.ts';
import { tokenObject } from '#http/personal-access-token/own-token.ts';
import { accessTokenRecord } from '#http/personal-access-token/record.ts';
import { tokenExpiry, tokenName } from '#http/personal-access-token/token-body.ts';
import { problem, refusalProblem } from '#http/encode/problem.ts';
import type { NewAccessToken } from '#objects/token/access-token.ts';
import { personStub } from '#objects/person/stub.ts';
import type { Grant } from '#objects/person/storage.ts';
import { insertAccessToken, markDeleted, tokenCount } from '#store/access-tokens.ts';

/** The body of a new access token: a name and an optional expiry. */
export const newTokenBody = z.strictObject({ name: tokenName, expiresAt: tokenExpiry.nullish() });

/** A list reads the object of each token, and no user can manage more. */
const MAX_TOKENS = 50;

/**
 * Issues an access token to a user. Only this response contains its value. Refuses
 * `too-many-access-tokens`.
 */
export async function issueToken(
  context: HttpContext,
  user: UserProfile,
  body: z.infer<typeof newTokenBody>,
): Promise<Response> {
  const full = await tooMany(context, user);
  if (full !== null) return full;
  const { token, value } = newToken(context, user, body);
  const made = await callObject(
    () => tokenObject(context, token.id),
    (stub) => stub.create(token),
  );
  if (made === null) throw new Error('a new token is not created, because it was withdrawn');
  await insertAccessToken(context.env.DB, { id: token.id, userId: user.id, createdAtMs: made.createdAtMs });
  return issued(context, user, { ...accessTokenRecord(made), value });
}

/**
 * Issues an access token to a user on behalf of the operator: the first one, or one under a
 * credential reset. Refuses, in order: `too-many-access-tokens`, what `PersonObject.issueToken`
 * refuses.
 */
export async function issueGranted(
  context: HttpContext,
  { user, grant }: { readonly user: UserProfile; readonly grant: Grant },
  body: z.infer<typeof newTokenBody>,
): Promise<Response> {
  const full = await tooMany(context, user);
  if (full !== null) return full;
  const { token, value } = newToken(context, user, body);
  const answer = await callObject(
    () => personStub(context.env, user.id),
    (person) => person.issueToken(grant, token),
  );
  if (!answer.ok) return refusalProblem(context, answer.refusal);
  const { made, withdrawn } = answer.value;
  if (withdrawn !== null) await markDeleted(context.env.DB, withdrawn, made.createdAtMs);
  await insertAccessToken(context.env.DB, { id: token.id, userId: user.id, createdAtMs: made.createdAtMs });
  return issued(context, user, { ...accessTokenRecord(made), value });
}

async function tooMany(context: HttpContext, user: UserProfile): Promise<Response | null> {
  if ((await tokenCount(context.env.DB, user.id)) < MAX_TOKENS) return null;
  const detail = `A user can have at most ${MAX_TOKENS} tokens. Delete some first.`;
  return problem(context, 'too-many-access-tokens', { detail });
}

function newToken(context: HttpContext, user: UserProfile, { name, expiresAt }: z.infer<typeof newTokenBody>) {
  const [id, secret] = [newTokenId(), newSecret('access-token')];
  const token: NewAccessToken = { id, user, name, expiresAt: expiresAt ?? null, secretHash: secret.hash };
  return { token, value: secret.valueFor(id, context.env.TOKEN_MAC_KEY) };
}

function issued(
  context: HttpContext,
  user: UserProfile,
  { value, ...record }: ReturnType<typeof accessTokenRecord> & { readonly value: string },
): Response {
  return context.json({ ...record, userId: user.id, token: value }, 201, { 'cache-control': 'no-store' });
}
