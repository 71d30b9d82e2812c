import type { TokenId } from '#domain/id.ts';
import type { Refusal } from '#domain/transaction/refusal.ts';
import type { Result } from '#domain/result.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { callObject } from '#http/edge/object-call.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import type { TokenOwner } from '#objects/token/access-token.ts';

/** What `managedToken` refuses, besides the scope. */
export const MANAGEMENT_REFUSALS = [
  'access-token-not-found',
  'access-token-superseded',
  'access-token-beyond-own',
] as const;

export type TokenStub = ReturnType<typeof tokenObject>;

export function tokenObject(context: HttpContext, id: TokenId) {
  return context.env.ACCESS_TOKEN.getByName(`token:${id}`);
}

/**
 * Calls the object of an access token as its owner, and returns the response that
 * `answer` makes of the result. A caller cannot find out whether another user's token exists: the
 * object is called in any case, and refuses both like a token that was never created.
 *
 * Refuses what `call` refuses.
 */
export async function withOwnToken<T>(
  context: HttpContext,
  id: TokenId,
  call: (stub: TokenStub, owner: TokenOwner) => Promise<Result<T, Refusal>>,
  answer: (answered: T) => Response | Promise<Response>,
): Promise<Response> {
  const { user, tokenId, token } = context.get('caller');
  const response = await callObject(
    () => tokenObject(context, id),
    (stub) => call(stub, { userId: user.id, tokenId, token }),
  );
  return response.ok ? answer(response.value) : refusalProblem(context, response.refusal);
}
