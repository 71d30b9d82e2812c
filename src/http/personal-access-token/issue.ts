import type * as z from 'zod';
import type { UserProfile } from '#domain/access/access-token.ts';
import type { Result } from '#domain/result.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { newSecret, newTokenId } from '#http/edge/credential-value.ts';
import { callObject } from '#http/edge/object-call.ts';
import { accessTokenRecord } from '#http/personal-access-token/record.ts';
import type { newTokenBody } from '#http/personal-access-token/token-body.ts';
import { expiryFault, grantOf } from '#http/personal-access-token/token-body.ts';
import { invalidRequest } from '#http/edge/request-check.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import type { NewAccessToken, TokenView } from '#objects/token/access-token.ts';
import { personStub } from '#objects/person/stub.ts';
import type { Grant } from '#objects/person/storage.ts';

/**
 * Issues an access token to the caller, who has a session. Only this response contains its value.
 * Refuses, in order: `invalid-request` for an expiry that `expiryFault` refuses, what
 * `PersonObject.issueOwnToken` refuses.
 */
export async function issueToken(context: HttpContext, body: z.infer<typeof newTokenBody>): Promise<Response> {
  const { user, tokenId: madeIn } = context.get('caller');
  return issueBy(context, { user, madeIn }, body, (person, token) => person.issueOwnToken(token));
}

/**
 * Issues an access token to a user on behalf of the operator: the first one, or one under a
 * credential reset. Refuses, in order: `invalid-request` as `issueToken` does, what
 * `PersonObject.issueToken` refuses.
 */
export async function issueGranted(
  context: HttpContext,
  { user, grant }: { readonly user: UserProfile; readonly grant: Grant },
  body: z.infer<typeof newTokenBody>,
): Promise<Response> {
  return issueBy(context, { user, madeIn: null }, body, async (person, token) => {
    const issued = await person.issueToken(grant, token);
    const isOver = !issued.ok && issued.refusal.code === 'credential-reset-required';
    // After the enrolment, an operator adds tokens only to a service account.
    return isOver ? person.addServiceToken(token, context.get('serviceKey')) : issued;
  });
}

type PersonStub = ReturnType<typeof personStub>;

async function issueBy(
  context: HttpContext,
  owner: Pick<NewAccessToken, 'user' | 'madeIn'>,
  body: z.infer<typeof newTokenBody>,
  issue: (person: PersonStub, token: NewAccessToken) => Promise<Result<TokenView, Refusal>>,
): Promise<Response> {
  const { name, expiresAt = null } = body;
  const fault = expiryFault(context, expiresAt);
  if (fault !== null) return invalidRequest(context, [fault]);
  const [id, secret] = [newTokenId(), newSecret('access-token')];
  const token = { id, ...owner, name, expiresAt, secretHash: secret.hash, ...grantOf(body) };
  const made = await callObject(
    () => personStub(context.env, owner.user.id),
    (person) => issue(person, token),
  );
  if (!made.ok) return refusalProblem(context, made.refusal);
  const value = secret.valueFor(id, context.env.TOKEN_MAC_KEY);
  const issued = { ...accessTokenRecord(made.value), userId: owner.user.id, token: value };
  return context.json(issued, 201, { 'cache-control': 'no-store' });
}
