import * as z from 'zod';
import { chainsFrom, findChain } from '#chains/families/registry.ts';
import { rulesFor } from '#chains/families/rules-for.ts';
import { amountOf } from '#domain/asset/amount.ts';
import { hasPermission } from '#domain/access/member.ts';
import type { HttpContext } from '#http/encode/context.ts';
import { actorOf } from '#http/encode/context.ts';
import type { Input } from '#http/edge/route.ts';
import { route } from '#http/edge/route.ts';
import { callObject } from '#http/edge/object-call.ts';
import { problem, refusalProblem } from '#http/encode/problem.ts';
import { create, CREATION_REFUSALS, feeFields } from '#http/transaction/creation.ts';
import { transactionAnswer } from '#http/encode/transaction-schema.ts';
import { vaultStubOf } from '#http/transaction/transaction-path.ts';

const childBody = z.strictObject(feeFields).meta({ examples: [{ maxFee: '20000' }] });

/**
 * POST /transaction/{txId}/child-pays-for-parent: creates a transaction that spends what an unmined
 * incoming transaction pays the wallet. The whole amount returns to the wallet, minus a fee for
 * which miners include both. The transaction needs the same approvals as any other. Responds with
 * 201 and the record, whose `paysFor` is the hash of the parent. A transaction of the vault itself
 * is sped up instead.
 *
 * `transaction-not-broadcast`: the payment is in a block, dropped, or created by the vault.
 */
export const childPaysForParent = route({
  method: 'POST',
  path: '/transaction/:txId/child-pays-for-parent',
  access: 'write',
  scope: 'create',
  summary: 'Accelerate an incoming Bitcoin payment (CPFP)',
  optionalBody: childBody,
  answer: transactionAnswer(201),
  refuses: ['forbidden', 'transaction-not-found', 'transaction-not-broadcast', ...CREATION_REFUSALS],
  handle: propose,
});

async function propose(
  context: HttpContext,
  { params: { txId: id }, body }: Input<{ params: 'txId'; optionalBody: typeof childBody }>,
): Promise<Response> {
  const actor = actorOf(context);
  const found = await callObject(
    () => vaultStubOf(context, id),
    (vault) => vault.query(actor, { type: 'readRecord', id }),
  );
  if (!found.ok) return refusalProblem(context, found.refusal);
  if (!hasPermission(found.value.viewer, 'create')) return refusalProblem(context, { code: 'forbidden' });
  if (!('activity' in found.value)) {
    const { state } = found.value.transaction;
    return refusalProblem(context, { code: 'transaction-not-broadcast', state });
  }
  const { vaultId, chain: name, state, hash, wallet } = found.value.activity;
  if (state !== 'BROADCAST') return refusalProblem(context, { code: 'transaction-not-broadcast', state });
  const chain = findChain(chainsFrom(context.env), name);
  if (chain === null || rulesFor(chain).ordering.by !== 'utxos') {
    const detail = `Child pays for parent is not supported on ${name}.`;
    return problem(context, 'not-on-this-chain', { detail });
  }
  const action = { kind: 'transfer', to: wallet, tokenAddress: null, amount: amountOf(0n), paysFor: hash } as const;
  return create(context, { vaultId, chain: name, maxFee: body?.maxFee }, { kind: 'transfer', read: () => action });
}
