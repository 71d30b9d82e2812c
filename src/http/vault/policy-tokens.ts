import * as z from 'zod';
import { chainClientFor } from '#chains/clients/client-for.ts';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import { listedToken } from '#domain/asset/chain.ts';
import type { PolicyToken } from '#domain/policy/optional-rules.ts';
import { MAX_DECIMALS } from '#domain/policy/optional-rules.ts';
import { MAX_RULES } from '#domain/policy/rules.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { plainText } from '#http/encode/plain-text.ts';
import { invalidRequest } from '#http/edge/request-check.ts';
import type { FieldFault } from '#domain/field-fault.ts';
import { problem } from '#http/encode/problem.ts';

/** The tokens that a policy names: their schema in a body, and the checks that need a chain. */

/** Ours: symbols of real tokens have at most 11 characters. */
const MAX_SYMBOL = 20;

/** Each new token costs three calls of an RPC node. */
const MAX_NEW_TOKENS = 20;

export const tokensBody = z
  .array(
    z.strictObject({
      chain: z.string().min(1).max(64),
      tokenAddress: z.string().min(1).max(128),
      symbol: plainText(MAX_SYMBOL).refine(
        (symbol) => symbol !== '' && symbol.trim() === symbol,
        'Must have no space at the beginning or the end, and must not be empty.',
      ),
      decimals: z.int().min(0).max(MAX_DECIMALS, `Must be at most ${MAX_DECIMALS}.`),
    }),
  )
  .max(MAX_RULES);

/**
 * Returns the problem of new tokens whose decimals are not those of their contract, or null. With
 * wrong decimals each limit and each amount that signers read would be wrong by powers of ten. So a
 * token of a chain that gives no answer is refused as well (503 `chain-unavailable`).
 *
 * @param known the tokens in force, which were compared before
 */
export async function newTokensProblem(
  context: HttpContext,
  tokens: readonly PolicyToken[],
  { known, pointer = '' }: { readonly known: readonly PolicyToken[]; readonly pointer?: string },
): Promise<Response | null> {
  const chains = chainsFrom(context.env);
  const added = tokens.filter((token) => {
    const chain = findChain(chains, token.chain);
    const isListed = chain !== null && listedToken(chain, token.tokenAddress) !== null;
    return !isListed && known.every((one) => !isSame(one, token));
  });
  if (added.length > MAX_NEW_TOKENS) {
    const detail = `At most ${MAX_NEW_TOKENS} tokens that the operator does not list can be added at once.`;
    return invalidRequest(context, [{ pointer: `${pointer}/tokens`, code: 'invalid', detail }]);
  }
  const faults: FieldFault[] = [];
  for (const token of added) {
    const chain = findChain(chains, token.chain);
    const client = chain === null ? null : chainClientFor(context.env, chain);
    const read = await client?.token(token.tokenAddress);
    if (read?.ok !== true) {
      const detail = `No RPC node of ${chain?.name ?? token.chain} shows the token ${token.tokenAddress} now.`;
      return problem(context, 'chain-unavailable', { detail });
    }
    const { decimals } = read.value;
    if (decimals === token.decimals) continue;
    const reported = decimals === null ? 'The address has no token with decimals.' : `The token has ${decimals}.`;
    const field = `${pointer}/tokens/${tokens.indexOf(token)}/decimals`;
    faults.push({ pointer: field, code: 'invalid', detail: reported });
  }
  return faults.length === 0 ? null : invalidRequest(context, faults);
}

function isSame(one: PolicyToken, other: PolicyToken): boolean {
  return one.chain === other.chain && one.tokenAddress === other.tokenAddress && one.decimals === other.decimals;
}
