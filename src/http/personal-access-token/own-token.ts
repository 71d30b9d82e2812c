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
 * Asks the token of the path as its owner, and answers what `answer` makes of it. Whether a token of somebody else exists is
 * not to be seen: its object is asked in any case, and says the same as one that was never made.
 *
 * Refuses, in order: `invalid-request`, then what was asked.
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
