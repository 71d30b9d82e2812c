import { chainsFrom, findChain } from '#chains/families/registry.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { operatorOf } from '#http/encode/context.ts';
import type { OperatorInput } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { noSuchVault, vaultOf, vaultRecord, vaultSchema } from '#http/internal/vault.ts';
import { callObject } from '#http/edge/object-call.ts';
import { invalidRequest } from '#http/edge/request-check.ts';

/**
 * PUT /internal/vault/{vaultId}/wallet/{chain}: adds a wallet on another chain to the vault, with
 * its existing key. A repeated request changes nothing. Transactions of the new wallet need the
 * same approvals. Limits name a chain, so check the policy too.
 */
export const putWallet = route({
  method: 'PUT',
  path: '/internal/vault/:vaultId/wallet/:chain',
  access: 'service',
  scope: 'vaults',
  summary: 'Add a wallet on another chain to a vault',
  answer: { status: 200, schema: vaultSchema },
  refuses: ['vault-not-found'],
  handle: enable,
});

async function enable(
  context: HttpContext,
  { params }: OperatorInput<{ params: 'vaultId' | 'chain' }>,
): Promise<Response> {
  const chain = findChain(chainsFrom(context.env), params.chain);
  if (chain === null) {
    return invalidRequest(context, [{ pointer: 'chain', code: 'unknown-chain', detail: 'The chain is not known.' }]);
  }
  const object = vaultOf(context, params.vaultId);
  const vault =
    object === null
      ? null
      : await callObject(object, (stub) =>
          stub.execute(operatorOf(context), { type: 'enableChain', name: chain.name }),
        );
  return vault === null ? noSuchVault(context) : context.json(await vaultRecord(context, vault));
}
