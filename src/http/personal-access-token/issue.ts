import type * as z from 'zod';
import type { UserProfile } from '#domain/access/access-token.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { newSecret, newTokenId } from '#http/edge/credential-value.ts';
import { callObject } from '#http/edge/object-call.ts';
import { tokenObject } from '#http/personal-access-token/own-token.ts';
import { accessTokenRecord } from '#http/personal-access-token/record.ts';
import type { newTokenBody } from '#http/personal-access-token/token-body.ts';
import { expiryFault, grantOf } from '#http/personal-access-token/token-body.ts';
import { invalidRequest } from '#http/edge/request-check.ts';
import { problem, refusalProblem } from '#http/encode/problem.ts';
import type { NewAccessToken, TokenView } from '#objects/token/access-token.ts';
import { personStub } from '#objects/person/stub.ts';
import type { Grant } from '#objects/person/storage.ts';
import { insertAccessToken, markDeleted, MAX_ACCESS_TOKENS, tokenCount } from '#store/access-tokens.ts';

/**
 * Issues an access token to a user. Only this response contains its value. Refuses, in order:
 * `invalid-request` for an expiry that `expiryFault` refuses, `too-many-access-tokens`.
 */
export async function issueToken(
  context: HttpContext,
  user: UserProfile,
  body: z.infer<typeof newTokenBody>,
): Promise<Response> {
  const refusal = await refusalOf(context, user, body);
  if (refusal !== null) return refusal;
  const { token, value } = newToken(context, user, body);
  const made = await callObject(
    () => tokenObject(context, token.id),
    (stub) => stub.create(token),
  );
  if (made === null) throw new Error('a new token is not created, because it was withdrawn');
  return listed(context, user, { made, value });
}

/**
 * Issues an access token to a user on behalf of the operator: the first one, or one under a
 * credential reset. Refuses, in order: `invalid-request` as `issueToken` does,
 * `too-many-access-tokens`, what `PersonObject.issueToken` refuses.
 */
export async function issueGranted(
  context: HttpContext,
  { user, grant }: { readonly user: UserProfile; readonly grant: Grant },
  body: z.infer<typeof newTokenBody>,
): Promise<Response> {
  const refusal = await refusalOf(context, user, body);
  if (refusal !== null) return refusal;
  const { token, value } = newToken(context, user, body);
  const answer = await callObject(
    () => personStub(context.env, user.id),
    (person) => person.issueToken(grant, token),
  );
  if (!answer.ok) return refusalProblem(context, answer.refusal);
  const { made, withdrawn } = answer.value;
  if (withdrawn !== null) await markDeleted(context.env.DB, withdrawn, made.createdAtMs);
  return listed(context, user, { made, value });
}

async function refusalOf(
  context: HttpContext,
  user: UserProfile,
  { expiresAt = null }: z.infer<typeof newTokenBody>,
): Promise<Response | null> {
  const fault = expiryFault(context, expiresAt);
  if (fault !== null) return invalidRequest(context, [fault]);
  return (await tokenCount(context.env.DB, user.id)) < MAX_ACCESS_TOKENS ? null : tooMany(context);
}

function tooMany(context: HttpContext): Response {
  const detail = `A user can have at most ${MAX_ACCESS_TOKENS} tokens. Delete some first.`;
  return problem(context, 'too-many-access-tokens', { detail });
}

function newToken(context: HttpContext, user: UserProfile, body: z.infer<typeof newTokenBody>) {
  const { name, expiresAt = null } = body;
  const [id, secret] = [newTokenId(), newSecret('access-token')];
  const token: NewAccessToken = { id, user, name, expiresAt, secretHash: secret.hash, ...grantOf(body) };
  return { token, value: secret.valueFor(id, context.env.TOKEN_MAC_KEY) };
}

/**
 * Enters a new token in the directory and responds with its value. The directory counts the tokens
 * of the user in the same statement. A token that is one too many was never shown, and is
 * withdrawn.
 */
async function listed(
  context: HttpContext,
  user: UserProfile,
  { made, value }: { readonly made: TokenView; readonly value: string },
): Promise<Response> {
  const { id, createdAtMs } = made;
  if (await insertAccessToken(context.env.DB, { id, userId: user.id, createdAtMs })) {
    return issued(context, user, { ...accessTokenRecord(made), value });
  }
  await callObject(
    () => tokenObject(context, id),
    (stub) => stub.withdrawUnused(),
  );
  return tooMany(context);
}

function issued(
  context: HttpContext,
  user: UserProfile,
  { value, ...record }: ReturnType<typeof accessTokenRecord> & { readonly value: string },
): Response {
  return context.json({ ...record, userId: user.id, token: value }, 201, { 'cache-control': 'no-store' });
}
