import type { TokenId } from '#domain/id.ts';
import { parseTokenId } from '#domain/id.ts';
import type { Refusal } from '#domain/refusal.ts';
import type { Result } from '#domain/result.ts';
import type { HttpContext } from '#http/edge/context.ts';
import { callObject } from '#http/edge/object-call.ts';
import { refusalProblem } from '#http/encode/problem.ts';
import { invalidRequest } from '#http/edge/request-check.ts';
import type { TokenOwner, TokenView } from '#objects/token/access-token.ts';

export type TokenStub = ReturnType<typeof tokenObject>;

export function tokenObject(context: HttpContext, id: TokenId) {
  return context.env.ACCESS_TOKEN.getByName(`token:${id}`);
}

/**
 * Calls the object of the access token in the path as its owner, and returns the response that
 * `answer` makes of the result. A caller cannot find out whether another user's token exists: the
 * object is called in any case, and refuses both like a token that was never created.
 *
 * Refuses, in order: `invalid-request`, then what `call` refuses.
 */
export async function withOwnToken(
  context: HttpContext,
  call: (stub: TokenStub, owner: TokenOwner) => Promise<Result<TokenView, Refusal>>,
  answer: (token: TokenView) => Response | Promise<Response>,
): Promise<Response> {
  const id = parseTokenId(context.req.param('id') ?? '');
  if (id === null) {
    return invalidRequest(context, [{ pointer: 'id', code: 'invalid-id', detail: 'Must be the id of a token.' }]);
  }
  const { user, tokenId } = context.get('caller');
  const response = await callObject(
    () => tokenObject(context, id),
    (stub) => call(stub, { userId: user.id, tokenId }),
  );
  return response.ok ? answer(response.value) : refusalProblem(context, response.refusal);
}
